"""B65: what a program or a stage prints of a secret is in no log, however it is cut."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from poolboard.engine import logs, secrets
from poolboard.engine.command_calls import Command, CommandFailed, execute
from poolboard.engine.failure import describe
from poolboard.engine.logs import LogSink
from poolboard.engine.masking import Masking

SECRET = "S3CR-77-VALUE"


@pytest.fixture
def knows(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let this process know a secret, as a worker does."""
    monkeypatch.setattr(secrets, "_known", {"token": SECRET})
    yield


def command(text: str, *, stdout: Path | None = None, capture: bool = False, timeout_s: float | None = None) -> Command:
    return Command(text, None, {"TOKEN": SECRET}, (0,), capture, timeout_s, stdout=stdout)


async def run(told: Command, log: Path) -> str | None:
    """Run a program as a stage does, with its log; return what it captured."""
    sink = LogSink(lambda: log)
    mark = logs.current.set(sink)
    try:
        return (await execute(told)).stdout
    finally:
        logs.current.reset(mark)
        sink.close()


@pytest.mark.parametrize("size", range(1, 15))
def test_a_secret_is_found_in_pieces_of_any_size(size: int) -> None:
    text = b"abcab abcd aabcde abc"
    masking = Masking([b"abcd", b"abcde", b"bcab"])
    shown = b"".join(masking.take(text[at : at + size]) for at in range(0, len(text), size)) + masking.rest()
    assert shown == b"a*** *** a*** abc"


def test_what_cannot_be_a_secret_any_more_is_shown_at_once() -> None:
    masking = Masking([b"secret"])
    assert masking.take(b"a line\n> sec") == b"a line\n> "
    assert masking.take(b"ond") == b"second"
    assert (masking.take(b"secre"), masking.rest()) == (b"", b"secre")


def test_prints_that_cut_a_secret_in_two_show_nothing_of_it(knows: None, tmp_path: Path) -> None:
    sink = LogSink(lambda: tmp_path / "log")
    for piece in ("token ", SECRET[:5], SECRET[5:], "\nand S3"):
        sink.write(piece.encode())
    sink.close()
    assert (tmp_path / "log").read_text() == "token ***\nand S3"


async def test_what_a_program_prints_of_a_secret_is_masked_in_log_file_and_result(knows: None, tmp_path: Path) -> None:
    log, out = tmp_path / "log", tmp_path / "out"
    halves = 'printf "<%s" "${TOKEN%-*}"; printf "%s>" "-${TOKEN##*-}"'
    await run(command(f"{halves}; ({halves}) >&2"), log)
    assert log.read_text() == "<***><***>"
    await run(command(f"{halves}; echo aside >&2", stdout=out), log)
    assert (out.read_text(), log.read_text()) == ("<***>", "<***><***>aside\n")
    assert await run(command(halves, capture=True), log) == "<***>"


async def test_what_a_failed_program_said_last_is_told_without_the_secret(knows: None, tmp_path: Path) -> None:
    with pytest.raises(CommandFailed) as failed:
        await run(command('echo "no $TOKEN" >&2; exit 3'), tmp_path / "log")
    told = describe(failed.value)
    assert told["message"] == "exit code 3"
    assert told["traceback"].splitlines()[-2:] == ["its last lines:", "  no ***"]


@pytest.mark.parametrize("secretive", [False, True])
async def test_a_program_that_takes_too_long_is_told_by_its_time_and_its_last_lines(
    secretive: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if secretive:
        monkeypatch.setattr(secrets, "_known", {"token": SECRET})
    with pytest.raises(TimeoutError) as late:
        await run(command("echo so far >&2; exec sleep 60", timeout_s=0.3), tmp_path / "log")
    text = "took longer than 0.3 s"
    account = f"{text}\ncommand: echo so far >&2; exec sleep 60\nits last lines:\n  so far\n"
    assert (describe(late.value)["message"], describe(late.value)["traceback"]) == (text, account)


async def test_a_program_that_is_not_there_is_told_without_our_code(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as missing:
        await run(Command(["/no/such/program"], None, {}, (0,), False, None), tmp_path / "log")
    told = describe(missing.value)["traceback"]
    assert told == "cannot be started: No such file or directory: /no/such/program\ncommand: /no/such/program\n"


async def test_what_left_its_group_and_holds_the_pipe_holds_up_nobody(knows: None, tmp_path: Path) -> None:
    told = tmp_path / "pid"
    async with asyncio.timeout(50):
        await run(command(f"setsid sleep 60 & echo $! > {told}; echo done"), tmp_path / "log")
    assert (tmp_path / "log").read_text() == "done\n"
    os.kill(int(told.read_text()), signal.SIGKILL)

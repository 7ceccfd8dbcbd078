"""Every exit status of the table, by the installed program itself (B58: never 0 for what is not done)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from poolboard import exit_codes

if TYPE_CHECKING:
    from tests.conftest import Answer

Poolboard = Callable[..., "Answer"]

ENDINGS = """
import asyncio, os, sys
from pathlib import Path
from poolboard import Context, stage, workflow
from poolboard.engine.errors import Blocked

if "POOLBOARD_WORKER" in os.environ and os.environ.get("NO_WORKER_STARTS"):
    os._exit(9)

@stage
def bad() -> int:
    raise ValueError("no luck")

@stage(retries=2, backoff_s=0.01)
def second_time(seen: str) -> int:
    if not Path(seen).exists():
        Path(seen).touch()
        raise ValueError("not the first time")
    return 1

@stage
async def long() -> int:
    await asyncio.sleep(600)
    return 1

@workflow
async def child(ctx: Context) -> int:
    return await ctx.stage(bad)

@workflow
async def ending(ctx: Context, how: str, seen: str = "") -> int:
    if how == "collects":
        results = await ctx.map(child, [{}, {}], on_error="collect")
        return len(results)
    if how == "raises":
        return await ctx.child(child)
    if how == "second time":
        return await ctx.stage(second_time, seen)
    if how == "blocked":
        raise Blocked("a person has to look")
    if how == "exits":
        sys.exit(0)
    if how == "long":
        return await ctx.stage(long)
    return 1
"""


@pytest.fixture
def words(tmp_path: Path) -> Callable[[str], list[str]]:
    """Return the words that run a workflow that ends in some way."""
    (tmp_path / "endings.py").write_text(ENDINGS)
    target = f"{tmp_path / 'endings.py'}:ending"
    return lambda how: [
        "run",
        target,
        "--input",
        f"how={how}",
        "--input",
        f"seen={tmp_path / 'seen'}",
        "--workers",
        "1",
    ]


@pytest.mark.parametrize(
    ("how", "code", "status"),
    [
        ("well", exit_codes.COMPLETED, "completed"),
        pytest.param("collects", exit_codes.COMPLETED, "completed", marks=pytest.mark.slow),
        pytest.param("second time", exit_codes.COMPLETED, "completed", marks=pytest.mark.slow),
        ("raises", exit_codes.FAILED, "failed"),
        pytest.param("exits", exit_codes.FAILED, "failed", marks=pytest.mark.slow),
        ("blocked", exit_codes.BLOCKED, "blocked"),
    ],
)
def test_b58_a_run_ends_with_what_became_of_it_now_and_when_looked_at_later(
    poolboard: Poolboard, words: Callable[[str], list[str]], how: str, code: int, status: str
) -> None:
    answer = poolboard(*words(how), "--json")
    end = json.loads(answer.out.splitlines()[-1])
    assert (answer.code, end["status"]) == (code, status), answer.err
    again = poolboard("watch", end["run_id"], "--json")
    assert (again.code, json.loads(again.out.splitlines()[-1])["status"]) == (code, status)


@pytest.mark.slow
def test_b58_a_run_whose_workers_cannot_start_is_blocked_and_says_why(
    poolboard: Poolboard, words: Callable[[str], list[str]]
) -> None:
    answer = poolboard(*words("well"), env={"NO_WORKER_STARTS": "1"})
    assert answer.code == exit_codes.BLOCKED
    assert "workers cannot start (exit code 9)" in answer.out


def test_b58_a_stopped_run_and_a_crashed_one_end_with_three(
    poolboard: Poolboard, words: Callable[[str], list[str]]
) -> None:
    run_id = poolboard(*words("long"), "--detach").out.strip()
    pid = json.loads(poolboard("status", run_id, "--json").out)["coordinator"]["pid"]
    os.kill(pid, signal.SIGKILL)
    assert poolboard("watch", run_id).code == exit_codes.RESUMABLE
    assert poolboard("resume", run_id, "--detach").code == exit_codes.COMPLETED
    assert poolboard("stop", run_id, "--now").code == exit_codes.COMPLETED
    assert poolboard("watch", run_id).code == exit_codes.RESUMABLE


@pytest.mark.parametrize(
    ("number", "code"),
    [
        pytest.param(signal.SIGINT, 130, marks=pytest.mark.slow),
        (signal.SIGTERM, 143),
        pytest.param(signal.SIGHUP, 129, marks=pytest.mark.slow),
    ],
)
def test_a_signal_ends_the_command_with_its_own_status_and_leaves_the_run(
    poolboard: Poolboard, words: Callable[[str], list[str]], number: signal.Signals, code: int
) -> None:
    command = [sys.executable, "-m", "poolboard", *words("long"), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        run_id = json.loads(process.stdout.readline())["run_id"]
        process.send_signal(number)
        assert process.wait(timeout=60) == code
    assert json.loads(poolboard("status", run_id, "--json").out)["coordinator"]["alive"]
    poolboard("stop", run_id, "--now")


def test_bad_usage_input_and_settings_end_with_two_and_make_nothing(
    poolboard: Poolboard, words: Callable[[str], list[str]], own_folders: Path
) -> None:
    for given, env in (
        (["run"], {}),
        (["run", "missing.py"], {}),
        ([*words("well"), "--workers", "none"], {}),
        ([*words("well"), "--input", "other=1"], {}),
        (words("well"), {"POOLBOARD_SLOTS": "0"}),
    ):
        answer = poolboard(*given, env=env)
        assert (answer.code, answer.out, answer.err.count("\n")) == (exit_codes.MISTAKE, "", 1), answer.err
    assert not list(own_folders.rglob("*.sqlite"))


def test_a_damaged_journal_ends_with_five(poolboard: Poolboard, own_folders: Path) -> None:
    assert poolboard("each", "-q", "true", ":::", "a").code == exit_codes.COMPLETED
    journal = own_folders / "state_home" / "poolboard" / "journal.sqlite"
    data = bytearray(journal.read_bytes())
    data[4096 * 2 : 4096 * 6] = bytes(4096 * 4)
    journal.write_bytes(data)
    assert poolboard("journal", "check").code == exit_codes.STORAGE


@pytest.mark.parametrize(
    ("options", "code"),
    [
        pytest.param([], exit_codes.FAILED, marks=pytest.mark.slow),
        pytest.param(["--allow-failures", "1"], exit_codes.FAILED, marks=pytest.mark.slow),
        (["--allow-failures", "2"], exit_codes.COMPLETED),
        pytest.param(["--fail-fast"], exit_codes.FAILED, marks=pytest.mark.slow),
        (["--fail-fast", "--allow-failures", "2"], exit_codes.FAILED),
    ],
)
def test_each_ends_with_one_when_more_failed_than_were_allowed(
    poolboard: Poolboard, options: list[str], code: int
) -> None:
    answer = poolboard(
        "each", "-j1", "-q", *options, "echo {}; test {} != b && test {} != c", ":::", "a", "b", "c", "d"
    )
    assert answer.code == code, answer.err
    assert ("d" in answer.out.split()) == ("--fail-fast" not in options)


def test_fail_fast_and_halt_are_not_both_obeyed(poolboard: Poolboard) -> None:
    answer = poolboard("each", "--fail-fast", "--halt", "soon,fail=3", "true", ":::", "a")
    assert (answer.code, answer.err.count("\n")) == (exit_codes.MISTAKE, 1)

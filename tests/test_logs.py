"""``poolboard logs``: what a child wrote, safe for a terminal unless the bytes themselves are wanted."""

from __future__ import annotations

import json
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

TALKING = """
import os, time
from poolboard import Context, stage, workflow

@stage
def first() -> int:
    print("one\\x1b]0;PWN\\x07")
    print("two \\x9b2J \\u202e", end="")
    return 1

@stage(retries=1, backoff_s=0.01)
def second(gate: str) -> int:
    print("begun")
    while not os.path.exists(gate):
        time.sleep(0.02)
    print("ended")
    return 2

@workflow
async def talk(ctx: Context, gate: str) -> int:
    ctx.log("hello", n=ctx.n)
    return await ctx.stage(first) + await ctx.stage(second, gate)

@workflow
async def talks(ctx: Context, gate: str) -> list[int]:
    return await ctx.map(talk, [gate])
"""


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    return tmp_path / "gate"


@pytest.fixture
def talking(poolboard: Poolboard, tmp_path: Path, gate: Path) -> Callable[[], str]:
    """Return what starts a run with one talking child, and gives the run's id."""
    (tmp_path / "talking.py").write_text(TALKING)

    def start() -> str:
        words = ["run", str(tmp_path / "talking.py"), "--input", f"gate={gate}", "--workers", "1", "--detach"]
        return poolboard(*words).out.strip()

    return start


def test_a_childs_log_is_told_by_stage_and_drives_no_terminal(
    poolboard: Poolboard, talking: Callable[[], str], gate: Path
) -> None:
    """B64, of ``logs``."""
    gate.touch()
    run_id = talking()
    assert poolboard("watch", run_id).code == 0
    answer = poolboard("logs", run_id[:12], "1")
    assert answer.code == 0
    assert answer.out.splitlines() == [
        "==> run, attempt 1 <==",
        'hello {"n": 1}',
        "==> first, attempt 1 <==",
        "one^[]0;PWN^G",
        "two \\x9b2J <U+202E>",
        "==> second, attempt 1 <==",
        "begun",
        "ended",
    ]
    assert "\x1b" not in answer.out and "\x9b" not in answer.out

    one = poolboard("logs", run_id, "1", "first")
    assert one.out == "one^[]0;PWN^G\ntwo \\x9b2J <U+202E>\n"
    merged = poolboard("logs", run_id, "1", "first", "--merge")
    assert merged.out == "first.1 | one^[]0;PWN^G\nfirst.1 | two \\x9b2J <U+202E>\n"
    told = [json.loads(line) for line in poolboard("logs", run_id, "1", "second", "--json").out.splitlines()]
    assert told == [{"shape": 1, "stage": "second", "attempt": 1, "text": text} for text in ("begun", "ended")]

    raw = subprocess.run(
        [sys.executable, "-m", "poolboard", "logs", run_id, "1", "first", "--raw"], capture_output=True, timeout=60
    )
    assert raw.stdout == "one\x1b]0;PWN\x07\ntwo \x9b2J \u202e".encode()

    # What is not there is named, with what is.
    assert "no log of a stage 'third'; logs: run, first, second" in poolboard("logs", run_id, "1", "third").err
    missing = poolboard("logs", run_id, "2")
    assert (missing.code, "has no child 2; it has 1 to 1" in missing.err) == (exit_codes.MISTAKE, True)
    assert poolboard("logs", run_id, "1", "--raw", "--merge").code == exit_codes.MISTAKE


@pytest.mark.slow
def test_with_follow_lines_come_as_they_are_written_until_the_child_ends(
    poolboard: Poolboard, talking: Callable[[], str], gate: Path
) -> None:
    run_id = talking()
    command = [sys.executable, "-m", "poolboard", "logs", run_id, "1", "second", "-f"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        gate.touch()
        assert process.stdout.read() == "ended\n"
        assert process.wait(timeout=60) == 0


@pytest.mark.slow
def test_a_reader_that_wants_one_line_only_makes_no_noise(poolboard: Poolboard) -> None:
    run_id = poolboard("each", "-q", "--detach", "seq 100000 # {}", ":::", "a").out.strip()
    poolboard("watch", run_id)
    command = [sys.executable, "-m", "poolboard", "logs", run_id, "1", "stdout"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == "1\n"
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(timeout=60) == exit_codes.BROKEN_PIPE


@pytest.mark.slow
def test_a_disk_that_is_full_is_told_in_one_line(poolboard: Poolboard) -> None:
    run_id = poolboard("each", "-q", "--detach", "seq 100000 # {}", ":::", "a").out.strip()
    poolboard("watch", run_id)
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "poolboard", "logs", run_id, "1", "stdout"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == exit_codes.STORAGE
    assert done.stderr.startswith("poolboard: ") and done.stderr.count("\n") == 1

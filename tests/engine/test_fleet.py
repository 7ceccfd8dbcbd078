"""What keeps workers alive: how long they may take to start, their last words, which program they are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from poolboard.engine import spawn
from poolboard.engine.definitions import digest_of
from poolboard.engine.fleet import STDERR_TAIL_BYTES, LocalFleet, startup_deadline_s
from poolboard.engine.folder import RunFolder
from poolboard.engine.header import RunHeader, WorkerSettings
from tests.engine.rig import WORKFLOWS

SQUARES = WORKFLOWS / "squares.py"


@pytest.mark.parametrize(
    ("workers", "load1", "deadline_s"),
    [(1, 0.0, 30), (2, 1.9, 30), (8, 0.0, 30), (16, 0.0, 60), (8, 8.0, 120), (160, 0.0, 600), (160, 64.0, 600)],
)
def test_a_busy_machine_and_many_workers_get_longer_to_start(
    monkeypatch: pytest.MonkeyPatch, workers: int, load1: float, deadline_s: float
) -> None:
    """C5: 30 to 600 s, by the formula of DESIGN 4, here on two cores."""
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(os, "getloadavg", lambda: (load1, 9.0, 9.0))
    assert startup_deadline_s(workers) == deadline_s


def idle_fleet(folder: Path) -> tuple[LocalFleet, RunFolder]:
    """Return a fleet that starts nobody, and its folder."""
    place = RunFolder(folder)
    place.workers.mkdir(parents=True)
    told = LocalFleet(place, lambda worker: "", lambda worker, reason: None, lambda reason: None)
    return told, place


@pytest.mark.parametrize("shift", range(4))
def test_of_a_worker_that_prints_without_end_the_last_8_kib_are_told_in_whole_characters(
    tmp_path: Path, shift: int
) -> None:
    """C3, C6, C9: it prints to a file, so it never waits for a reader, however much that is."""
    told, place = idle_fleet(tmp_path)
    text = "…" * 400_000 + "x" * shift + "the end"
    (place.workers / "1.abc.log").write_text(text + "\n", encoding="utf-8")
    tail = told.tail("1.abc")
    assert "\ufffd" not in tail
    assert text.endswith(tail)
    assert STDERR_TAIL_BYTES - 4 <= len(tail.encode()) + 1 <= STDERR_TAIL_BYTES
    assert told.tail("2.never") == ""


def test_garbage_of_a_worker_is_told_with_marks(tmp_path: Path) -> None:
    """C6."""
    told, place = idle_fleet(tmp_path)
    (place.workers / "1.abc.log").write_bytes(b"\xff\x00ended\x9f\n")
    assert told.tail("1.abc") == "\ufffd\x00ended\ufffd"


def test_workers_are_this_python_with_this_copy_of_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """C11: a poolboard folder where the person stands, or named like ours on the path, is not taken."""
    stale = tmp_path / "poolboard" / "engine"
    stale.mkdir(parents=True)
    for package in (stale.parent, stale):
        (package / "__init__.py").write_text("raise SystemExit('the stale copy')")
    words = spawn.command("worker")
    assert words[:2] == [sys.executable, "-P"]
    monkeypatch.chdir(tmp_path)
    done = subprocess.run(
        [*words[:2], "-c", "import poolboard.engine.spawn as s; print(s.__file__)"],
        env=spawn.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(done.stdout.strip()).samefile(spawn.__file__)


def test_a_worker_whose_file_is_not_the_runs_any_more_never_asks_for_work(tmp_path: Path) -> None:
    """Q14: it goes away, naming file and remedy, before it says hello; there is no socket to say it to here."""
    header = RunHeader(
        workflow="many", path=str(SQUARES), digest="0" * 32, inputs={}, workers=1, slots=1, folder=str(tmp_path),
        max_depth=3, concurrency=1000,
    )  # fmt: skip
    settings = WorkerSettings(
        worker="1.abc", run_id="r", number=1, journal=str(tmp_path / "none.sqlite"), socket=str(tmp_path / "none"),
        cwd=str(tmp_path), epoch=1, digest="0" * 32, header=header,
    )  # fmt: skip
    assert digest_of(SQUARES.read_bytes()) != settings.digest
    done = subprocess.run(
        spawn.command("worker"),
        input=settings.to_json(),
        env=spawn.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == (f"poolboard: {SQUARES} changed while the run went on; resume with --accept-code to use it\n")


def test_a_worker_starts_no_thread_for_each_program_that_it_waits_for() -> None:
    program = """
import asyncio, threading
from poolboard.engine.threads import watch_children_without_threads

async def main():
    cats = [await asyncio.create_subprocess_exec("cat", stdin=asyncio.subprocess.PIPE) for _ in range(3)]
    print(threading.active_count())
    for cat in cats:
        cat.stdin.close()
    print([await cat.wait() for cat in cats])

watch_children_without_threads()
asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "1\n[0, 0, 0]\n"

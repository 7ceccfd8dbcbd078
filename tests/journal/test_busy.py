"""Another process holds the write lock: who waits, for how long, and what everybody is told."""

from __future__ import annotations

import asyncio
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from poolboard.journal.errors import JournalError, StaleLease, StorageUnavailable
from poolboard.journal.model import NewRun, RunRow
from poolboard.journal.sqlite import SqliteJournal
from poolboard.journal.writer import LONGEST_WAIT_S, SHORT_WAIT_S, longest_wait_s

#: Takes the write lock, says so, and gives it back after some seconds, or when told (0).
HOLDER = """
import sys, time
from pathlib import Path
from poolboard.journal.driver import connect
connection = connect(Path(sys.argv[1]), readonly=False)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
time.sleep(float(sys.argv[2])) if float(sys.argv[2]) else sys.stdin.readline()
connection.execute("ROLLBACK")
print("given back", flush=True)
"""

Hold = Callable[[float], "subprocess.Popen[str]"]


@pytest.fixture
def hold(path: Path) -> Iterator[Hold]:
    """Return ``hold(seconds)``, which has another process hold the journal's write lock."""
    started: list[subprocess.Popen[str]] = []

    def start(seconds: float) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(path), str(seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


async def turn_until(task: asyncio.Future[RunRow], enough: Callable[[], bool]) -> int:
    """Count the loop's turns until something holds or the task is done."""
    turns = 0
    while not task.done() and not enough():
        turns += 1
        await asyncio.sleep(0)
    return turns


def test_a_lock_that_is_busy_for_a_moment_is_asked_for_often_and_one_that_is_held_for_long_seldom() -> None:
    """B04: beside one that writes flat out, who lets go for 30 us at a time, each question is a chance."""
    assert [longest_wait_s(busy_s) for busy_s in (0, 0.01, 0.25)] == [SHORT_WAIT_S[1]] * 3
    waits = [longest_wait_s(busy_s / 10) for busy_s in range(300)]
    assert waits == sorted(waits) and waits[-1] == LONGEST_WAIT_S
    questions, busy_s = 0, 0.0
    while busy_s < 30:
        questions, busy_s = questions + 1, busy_s + (SHORT_WAIT_S[0] + longest_wait_s(busy_s)) / 2
    assert questions < 20_000, "each costs some 20 us: this is a hundredth of a core"


async def test_while_another_process_holds_the_lock_the_loop_turns_and_the_write_succeeds(
    journal: SqliteJournal, hold: Hold
) -> None:
    """Catalogue J1, with a lock that is given back when we say so: nothing here depends on how long it took."""
    holder = hold(0)
    write = asyncio.ensure_future(journal.create_run(NewRun("run-1", "n", "/", "{}")))
    await turn_until(write, lambda: journal.busy_s > 0)
    for _ in range(1_000):  # a blocked loop would not come through here before the lock is given back
        await asyncio.sleep(0)
    assert journal.busy_s > 0 and not write.done()
    assert await journal.list_runs() == []
    holder.communicate("now\n")
    assert (await write).run_id == "run-1"
    assert journal.busy_s == 0


async def test_a_lock_held_past_the_limit_fails_the_write_and_names_the_cause(path: Path, hold: Hold) -> None:
    """Catalogue J2, with the limit shrunk; many callers get the same reason, and none is written later."""
    journal = await SqliteJournal.open(path, busy_limit_s=0.05)
    holder = hold(0)
    writes = [journal.create_run(NewRun(f"run-{n}", "n", "/", "{}")) for n in range(20)]
    ends = await asyncio.gather(*writes, return_exceptions=True)
    assert {str(end) for end in ends} == {f"Storage unavailable: sqlite at {path}: database is locked (SQLite code 5)"}
    holder.communicate("now\n")
    await journal.create_run(NewRun("after", "n", "/", "{}"))
    assert [row.run_id for row in await journal.list_runs()] == ["after"]
    await journal.close()


@pytest.mark.parametrize(
    "error",
    [
        StorageUnavailable("sqlite", "/somewhere", "database is locked (SQLite code 5)"),
        StorageUnavailable("custom", "mine.py:make", "DriverError (code 08006)"),
        StaleLease("run-1", 1, 2),
    ],
)
def test_the_cause_survives_the_way_to_another_process(error: JournalError) -> None:
    """Catalogue J3."""
    program = "import pickle, sys; sys.stdout.buffer.write(pickle.dumps(pickle.load(sys.stdin.buffer)))"
    done = subprocess.run(
        [sys.executable, "-c", program], input=pickle.dumps(error), capture_output=True, timeout=60, check=True
    )
    back = pickle.loads(done.stdout)
    assert type(back) is type(error) and str(back) == str(error) and vars(back) == vars(error)


@pytest.mark.torture
@pytest.mark.parametrize(("seconds", "written"), [(6, True), (31.5, False)])
async def test_the_real_thing_six_seconds_are_waited_for_and_thirty_one_are_not(
    journal: SqliteJournal, hold: Hold, seconds: float, written: bool
) -> None:
    """Catalogue J1 and J2 as they stand there: the limit is 30 s."""
    holder = hold(seconds)
    write = asyncio.ensure_future(journal.create_run(NewRun("run-1", "n", "/", "{}")))
    assert await turn_until(write, lambda: False) > 1_000
    assert (write.exception() is None) is written
    assert written or "SQLite code 5" in str(write.exception())
    await asyncio.to_thread(holder.communicate)

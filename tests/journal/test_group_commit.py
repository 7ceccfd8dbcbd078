"""Members that share a commit: who fails, who stays, and when everybody is told."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from poolboard.journal import log, queue
from poolboard.journal.driver import Connection, connect
from poolboard.journal.errors import BadPayload, StorageUnavailable
from poolboard.journal.model import Event, NewRun, Receipt
from poolboard.journal.reader import Reader
from poolboard.journal.sqlite import SqliteJournal
from poolboard.journal.transaction import Transaction
from poolboard.journal.writer import MAX_MEMBERS

if TYPE_CHECKING:
    from tests.journal.conftest import StartedRun, Starter


class OfMyOwn(Exception):
    """What a member may raise."""


def create(run_id: str) -> Callable[[Transaction], int]:
    return lambda tx: log.create_run(tx, NewRun(run_id, "name", "/", "{}"))


def create_and_fail(run_id: str) -> Callable[[Transaction], int]:
    def member(tx: Transaction) -> int:
        log.create_run(tx, NewRun(run_id, "name", "/", "{}"))
        raise OfMyOwn(run_id)

    return member


async def names(journal: SqliteJournal) -> list[str]:
    return [row.run_id for row in reversed(await journal.list_runs())]


async def test_of_sixty_that_share_a_commit_only_the_one_that_raises_is_undone(journal: SqliteJournal) -> None:
    """Catalogue J4."""
    members = [create_and_fail(f"run-{n}") if n == 30 else create(f"run-{n}") for n in range(60)]
    outcomes = await asyncio.gather(*map(journal.transact, members), return_exceptions=True)
    assert isinstance(outcomes[30], OfMyOwn)
    assert [type(outcome) for n, outcome in enumerate(outcomes) if n != 30] == [int] * 59
    assert await names(journal) == [f"run-{n}" for n in range(60) if n != 30]


async def test_the_members_of_one_request_run_in_order_and_settle_together(journal: SqliteJournal) -> None:
    outcomes = await journal.submit([create("a"), create_and_fail("b"), create("c"), create("a")])
    assert [type(outcome).__name__ for outcome in outcomes] == ["int", "OfMyOwn", "int", "IdentityConflict"]
    assert await names(journal) == ["a", "c"]


async def test_a_member_that_fails_after_writing_leaves_no_number_used(run: StartedRun) -> None:
    """Catalogue Q13: what is kept in memory of a run is as if the failed write had not been."""

    def half(tx: Transaction) -> None:
        queue.enqueue(tx, run.lease, run.root, [run.child("lost")])
        queue.set_control(tx, run.lease, "pausing", "me", None)
        raise OfMyOwn

    def whole(key: str) -> Callable[[Transaction], object]:
        return lambda tx: queue.enqueue(tx, run.lease, run.root, [run.child(key)])

    first, failed, second = await run.journal.submit([whole("x"), half, whole("y")])
    assert isinstance(failed, OfMyOwn)
    assert [first[0].n, second[0].n] == [1, 2]  # type: ignore[index]
    row = await run.row()
    assert (row.ready, row.leased, row.control) == (2, 0, "running")
    assert [entry.seq for entry in await run.journal.reader.events(1, 0, 100)] == list(range(1, row.last_seq + 1))


async def test_a_lone_member_that_fails_leaves_nothing(journal: SqliteJournal) -> None:
    token = await journal.change_token()
    with pytest.raises(OfMyOwn):
        await journal.transact(create_and_fail("a"))
    assert await names(journal) == []
    assert await journal.change_token() == token


async def test_when_the_commit_fails_every_member_fails_and_nothing_is_seen(journal: SqliteJournal) -> None:
    """Catalogue J5."""

    def breaks_the_commit(tx: Transaction) -> None:
        # A row without its run, complained about only by COMMIT: a commit that really fails.
        tx.execute("PRAGMA defer_foreign_keys = ON")
        tx.execute("INSERT INTO leases (run, epoch, renewed_at) VALUES (99, 1, 1)")

    outcomes = await journal.submit([create("a"), breaks_the_commit, create("b"), create_and_fail("c")])
    assert [type(outcome) for outcome in outcomes] == [StorageUnavailable] * 4
    assert "FOREIGN KEY constraint failed (SQLite code 19)" in str(outcomes[0])
    assert await names(journal) == []
    await journal.transact(create("after"))
    assert await names(journal) == ["after"]


async def test_a_driver_error_of_a_member_is_translated_and_its_own(journal: SqliteJournal) -> None:
    outcomes = await journal.submit([create("a"), lambda tx: tx.execute("SELECT * FROM no_such_table")])
    assert isinstance(outcomes[0], int)
    assert isinstance(outcomes[1], StorageUnavailable)
    assert "no such table: no_such_table (SQLite code 1)" in str(outcomes[1])
    assert await names(journal) == ["a"]


async def test_nobody_is_told_before_the_commit_is_visible_to_others(path: Path) -> None:
    seen: list[int] = []

    def look(point: str) -> None:
        if point == "journal.committed":
            connection = connect(path, readonly=True)
            seen.append(connection.execute("SELECT count(*) FROM runs").fetchone()[0])
            connection.close()
            assert not future.done()

    journal = await SqliteJournal.open(path, fault=look)
    future = journal.submit([create("a"), create("b")])
    await future
    await journal.close()
    assert seen == [2]


async def test_writes_that_queue_while_a_commit_runs_share_the_next_one(path: Path) -> None:
    points: list[str] = []
    first_is_in, others_queued = threading.Event(), threading.Event()

    def hold_the_first(point: str) -> None:
        points.append(point)
        if len(points) == 1:
            first_is_in.set()
            others_queued.wait(30)

    journal = await SqliteJournal.open(path, fault=hold_the_first)
    writes = [journal.submit([create("first")])]
    await asyncio.to_thread(first_is_in.wait, 30)
    writes += [journal.submit([create(f"run-{n}")]) for n in range(100)]
    others_queued.set()
    await asyncio.gather(*writes)
    await journal.close()
    assert points == ["journal.begun", "journal.written", "journal.committed"] * 2


async def test_a_caller_that_gives_up_does_not_disturb_the_others(journal: SqliteJournal) -> None:
    leaving = asyncio.ensure_future(journal.transact(create("a")))
    staying = asyncio.ensure_future(journal.transact(create("b")))
    await asyncio.sleep(0)
    leaving.cancel()
    await staying
    assert "b" in await names(journal)


async def test_a_request_larger_than_a_transaction_is_refused_whole(journal: SqliteJournal) -> None:
    with pytest.raises(ValueError, match="at most 2,000"):
        journal.submit([create("a")] * (MAX_MEMBERS + 1))
    assert await names(journal) == []


async def test_what_was_queued_before_closing_is_written_and_what_comes_after_is_refused(path: Path) -> None:
    """Catalogue C7, C8: operations in flight are waited for; then the journal "is closed"."""
    journal = await SqliteJournal.open(path)
    writes = [journal.submit([create(f"run-{n}")]) for n in range(50)]
    await journal.close()
    assert await asyncio.gather(*writes) == [[n] for n in range(1, 51)]
    with pytest.raises(StorageUnavailable, match="the journal is closed"):
        await journal.transact(create("late"))
    with pytest.raises(StorageUnavailable):
        await journal.list_runs()
    reader = await Reader.open(path)
    assert len(await reader.runs()) == 50
    await reader.close()


async def test_a_closed_journal_leaves_one_file(path: Path) -> None:
    journal = await SqliteJournal.open(path)
    await journal.transact(create("a"))
    await journal.close()
    await journal.close()
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_program_that_forgets_to_close_still_ends(path: Path) -> None:
    program = (
        "import asyncio, sys; from pathlib import Path; from poolboard.journal.sqlite import SqliteJournal\n"
        "asyncio.run(SqliteJournal.open(Path(sys.argv[1])))"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], timeout=60, capture_output=True)
    assert done.returncode == 0


async def locked_by_another(path: Path) -> Connection:
    other = connect(path, readonly=False)
    other.execute("BEGIN IMMEDIATE")
    return other


async def test_a_writer_waits_for_anothers_lock_and_its_loop_does_not(journal: SqliteJournal, path: Path) -> None:
    """Catalogue J1, in one process; test_busy.py has the other."""
    other = await locked_by_another(path)
    write = asyncio.ensure_future(journal.transact(create("a")))
    turns = 0
    while journal.busy_s == 0:  # the loop turns on while the writer's thread waits
        turns += 1
        assert turns < 1_000_000
        await asyncio.sleep(0)
    assert not write.done()
    assert await names(journal) == []  # reading goes on as well
    other.execute("COMMIT")
    other.close()
    await write
    assert journal.busy_s == 0
    assert await names(journal) == ["a"]


async def test_a_lock_held_too_long_is_an_error_that_names_sqlites_reason(path: Path) -> None:
    """Catalogue J2."""
    journal = await SqliteJournal.open(path, busy_limit_s=0.01)
    other = await locked_by_another(path)
    with pytest.raises(StorageUnavailable) as error:
        await journal.transact(create("a"))
    assert str(error.value) == f"Storage unavailable: sqlite at {path}: database is locked (SQLite code 5)"
    other.execute("ROLLBACK")
    other.close()
    await journal.transact(create("b"))
    assert await names(journal) == ["b"]
    await journal.close()


async def test_another_kind_of_failure_does_not_wait(journal: SqliteJournal, path: Path) -> None:
    """Catalogue J2: every other kind fails at once."""
    other = connect(path, readonly=False)
    other.execute("DROP TABLE stamp")
    other.close()
    with pytest.raises(StorageUnavailable, match=r"no such table: stamp \(SQLite code 1\)"):
        await journal.transact(create("a"))


async def test_two_journals_on_one_file_write_in_turns(path: Path) -> None:
    one, other = await SqliteJournal.open(path), await SqliteJournal.open(path)
    writes = [(one, other)[n % 2].transact(create(f"run-{n:03}")) for n in range(100)]
    await asyncio.gather(*writes)
    assert sorted(await names(one)) == [f"run-{n:03}" for n in range(100)]
    await asyncio.gather(one.close(), other.close())


async def test_the_write_ahead_log_stays_bounded_while_writing(run: StartedRun, path: Path) -> None:
    payload = json.dumps({"text": "x" * 20_000})
    append = Event("Note", payload)
    sizes = set()
    for _ in range(60):
        await run.journal.submit([lambda tx: log.append(tx, run.lease, append)] * 50)
        sizes.add(Path(f"{path}-wal").stat().st_size)
    assert path.stat().st_size > 40_000_000
    assert max(sizes) < 20_000_000


async def test_a_child_process_may_not_use_the_journal_it_inherits(
    journal: SqliteJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Situation B22."""
    monkeypatch.setattr("os.getpid", lambda: -1)
    with pytest.raises(StorageUnavailable, match="opened by a parent process"):
        await journal.transact(create("a"))
    with pytest.raises(StorageUnavailable, match="opened by a parent process"):
        journal.submit([create("a")])


async def test_runs_in_one_commit_count_apart(journal: SqliteJournal, start: Starter) -> None:
    runs = [await start(journal, f"run-{n}") for n in range(3)]
    members = [lambda tx, r=r: queue.enqueue(tx, r.lease, r.root, [r.child("a"), r.child("b")]) for r in runs]
    await journal.submit(members)
    tokens = [await run.claim(1) for run in runs]
    receipts = await journal.submit(
        [lambda tx, r=r, t=t: queue.complete(tx, r.lease, t, "1") for r, t in zip(runs, tokens, strict=True)]  # type: ignore[misc]
    )
    assert [type(receipt) for receipt in receipts] == [Receipt] * 3
    assert [(row.ready, row.completed) for row in await journal.list_runs()] == [(1, 1)] * 3


async def test_a_refusal_costs_the_others_nothing(run: StartedRun) -> None:
    token = await run.claimed_child()
    good = lambda tx: queue.commit(tx, run.lease, token, run.checkpoint("good"))  # noqa: E731
    bad = lambda tx: queue.commit(tx, run.lease, token, run.checkpoint("bad", "[1]"))  # noqa: E731
    outcomes = await run.journal.submit([bad, good, bad])
    assert [type(outcome) for outcome in outcomes] == [BadPayload, Receipt, BadPayload]
    assert [stage.done for stage in await run.journal.reader.stages(1)] == [1]

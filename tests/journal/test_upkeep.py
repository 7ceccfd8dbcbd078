"""Looking after a journal: copies, forgetting old runs, giving the disk back."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from poolboard.journal import queue
from poolboard.journal.backup import backup
from poolboard.journal.check import check
from poolboard.journal.deleting import delete_run
from poolboard.journal.errors import JournalUnusable, LeaseHeld, RunNotFound
from poolboard.journal.lease import ROOT_LEASE_TTL_MS
from poolboard.journal.model import Event, NewRun
from poolboard.journal.pruning import OldRun, prune
from poolboard.journal.sqlite import SqliteJournal
from poolboard.journal.transaction import Transaction
from poolboard.journal.vacuum import vacuum
from tests.journal.filled import DAY_MS, end, fill, make, rows

if TYPE_CHECKING:
    from tests.journal.conftest import StartedRun, Starter


# --- backup -----------------------------------------------------------------------------------------------------------


async def test_a_copy_holds_what_the_journal_held_and_needs_nothing_beside_it(
    run: StartedRun, path: Path, tmp_path: Path
) -> None:
    await fill(run)
    made = await asyncio.to_thread(backup, path, tmp_path / "copy.sqlite")
    assert made.runs == 1
    assert sorted(file.name for file in tmp_path.iterdir() if file.name.startswith((".", "copy"))) == ["copy.sqlite"]
    assert stat.S_IMODE(made.path.stat().st_mode) == 0o600
    assert rows(made.path) == rows(path)
    assert check(made.path).findings == ()
    again = await SqliteJournal.open(made.path)
    assert [row.run_id for row in await again.list_runs()] == ["run-1"]
    await again.close()


async def test_a_copy_made_while_somebody_writes_is_the_journal_of_one_moment(
    run: StartedRun, path: Path, tmp_path: Path
) -> None:
    async def write() -> int:
        written = 0
        while not copied.done():
            outcomes = await run.journal.append_many(run.lease, [(Event("Note", "{}"), None)] * 50)
            written += len(outcomes)
        return written

    copied = asyncio.ensure_future(asyncio.to_thread(backup, path, tmp_path / "copy.sqlite"))
    assert await write() > 0
    await copied
    assert check(tmp_path / "copy.sqlite").findings == ()


def test_a_copy_never_overwrites(path: Path, tmp_path: Path) -> None:
    taken = tmp_path / "mine.txt"
    taken.write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    asyncio.run(make(path))
    for target in (taken, path, tmp_path / "link"):
        with pytest.raises(JournalUnusable, match="never overwrites"):
            backup(path, target)
    assert taken.read_text() == "mine"


def test_a_copy_into_a_folder_that_is_not_there_names_it(path: Path, tmp_path: Path) -> None:
    asyncio.run(make(path))
    with pytest.raises(JournalUnusable, match="no folder"):
        backup(path, tmp_path / "not" / "there")


async def test_a_damaged_journal_gives_no_copy_that_looks_whole(run: StartedRun, path: Path, tmp_path: Path) -> None:
    await fill(run)
    await run.journal.close()
    data = path.read_bytes()
    at = data.index(b"y" * 100) // 4096 * 4096
    path.write_bytes(data[:at] + b"\x55" * 64 + data[at + 64 :])
    with pytest.raises(JournalUnusable, match="damaged"):
        backup(path, tmp_path / "copy.sqlite")
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith((".", "copy"))] == []


# --- deleting and pruning ---------------------------------------------------------------------------------------------


async def test_a_deleted_run_leaves_nothing_and_its_neighbour_everything(
    journal: SqliteJournal, path: Path, start: Starter
) -> None:
    runs = [await start(journal, name) for name in ("run-1", "run-2", "run-3")]
    for run in runs:
        await fill(run)
    await end(runs[1])
    await journal.delete_run("run-2")
    assert [row.run_id for row in await journal.list_runs()] == ["run-3", "run-1"]
    assert check(path).findings == ()
    left = rows(path)
    assert {row[0] >> 40 for table in ("events", "work", "results") for row in left[table]} == {1, 3}
    assert {row[0] for table in ("operations", "stages", "workers", "leases", "control") for row in left[table]} == {
        1,
        3,
    }
    await runs[0].enqueue(runs[0].child("one more"))
    with pytest.raises(RunNotFound):
        await journal.delete_run("run-2")


async def test_a_run_that_somebody_holds_is_not_deleted(run: StartedRun) -> None:
    with pytest.raises(LeaseHeld, match="stop it first"):
        await run.journal.delete_run("run-1")
    await run.sql("UPDATE leases SET renewed_at = renewed_at - ?", ROOT_LEASE_TTL_MS + 1)
    await run.journal.delete_run("run-1")
    with pytest.raises(RunNotFound):
        await run.journal.append(run.lease, Event("Note", "{}"))


async def test_a_number_is_never_given_twice_so_an_old_lease_cannot_meet_a_new_run(run: StartedRun) -> None:
    await end(run)
    await run.journal.delete_run("run-1")
    again = await run.journal.create_run(NewRun("run-1", "survey", "/", "{}"))
    assert again.number == 2
    await run.journal.acquire_lease("run-1", run.lease.holder)
    with pytest.raises(RunNotFound):
        await run.journal.append(run.lease, Event("Note", "{}"))


async def test_a_failed_neighbour_in_the_same_commit_does_not_bring_a_deleted_run_back(run: StartedRun) -> None:
    def fails_after_writing(tx: Transaction) -> None:
        tx.execute("UPDATE runs SET name = 'x'")
        raise ValueError("no")

    await end(run)
    outcomes = await run.journal.submit([lambda tx: delete_run(tx, "run-1"), fails_after_writing])
    assert outcomes[0] is None and isinstance(outcomes[1], ValueError)
    assert await run.journal.list_runs() == []


async def test_only_old_ended_runs_beyond_the_newest_are_forgotten(
    journal: SqliteJournal, path: Path, start: Starter
) -> None:
    for age in (50, 40, 35, 31, 29, 2):
        await end(await start(journal, f"{age} days"), days_ago=age)
    await start(journal, "still running")
    beside: list[str] = []

    def forget(run: OldRun) -> None:
        beside.append(run.run_id)

    tried = await prune(journal, older_than_ms=30 * DAY_MS, keep=3, dry_run=True, forget=forget)
    assert [run.run_id for run in tried.forgotten] == ["50 days", "40 days", "35 days"]
    assert (beside, len(await journal.list_runs())) == ([], 7)
    done = await prune(journal, older_than_ms=30 * DAY_MS, keep=3, forget=forget)
    assert done == tried
    assert beside == ["50 days", "40 days", "35 days"]
    assert {row.run_id for row in await journal.list_runs()} == {"31 days", "29 days", "2 days", "still running"}
    assert (await prune(journal, older_than_ms=30 * DAY_MS, keep=3)).forgotten == ()
    assert check(path).findings == ()


async def test_an_old_run_that_is_still_held_is_kept_and_the_reason_told(run: StartedRun) -> None:
    await run.do(queue.finish_run, "failed", None, "it broke")
    done = await prune(run.journal, older_than_ms=0, keep=0)
    assert done.forgotten == ()
    [(kept, why)] = done.kept
    assert kept.run_id == "run-1" and "held by coordinator 1" in why


async def test_forgetting_a_large_run_keeps_the_log_small(run: StartedRun, path: Path) -> None:
    for part in range(20):
        await run.enqueue(*(run.child(f"{part}.{n}", json.dumps({"input": "x" * 1000})) for n in range(1000)))
    await end(run)
    await run.journal.close()
    size = path.stat().st_size
    journal = await SqliteJournal.open(path)
    await journal.delete_run("run-1")
    log = Path(f"{path}-wal").stat().st_size
    await journal.close()
    assert size > 24 * 1024 * 1024
    assert log < 16 * 1024 * 1024
    assert check(path).findings == ()


async def test_who_is_killed_while_forgetting_leaves_rows_that_the_next_prune_takes(
    journal: SqliteJournal, path: Path, start: Starter
) -> None:
    for name in ("run-1", "run-2"):
        run = await start(journal, name)
        await fill(run)
        await end(run)
    await journal.transact(lambda tx: delete_run(tx, "run-1"))
    report = check(path)
    assert (report.findings, report.runs) == ((), 1)
    assert report.notes == ("rows of 1 forgotten runs are still there: poolboard journal prune takes them away",)
    assert (await prune(journal, older_than_ms=DAY_MS, keep=0)).forgotten == ()
    left = rows(path)
    assert {row[0] >> 40 for table in ("events", "results") for row in left[table]} == {2}
    assert {row[0] for row in left["operations"]} == {2}
    report = check(path)
    assert (report.findings, report.notes) == ((), ())


# --- vacuum -----------------------------------------------------------------------------------------------------------


async def test_the_disk_gets_back_what_deleted_runs_took(journal: SqliteJournal, path: Path, start: Starter) -> None:
    for name in ("run-1", "run-2"):
        run = await start(journal, name)
        await fill(run, 400)
        await end(run)
    await journal.delete_run("run-1")
    left = rows(path)
    await journal.close()
    done = vacuum(path)
    assert done.after_bytes < done.before_bytes * 0.7
    assert path.stat().st_size == done.after_bytes
    assert rows(path) == left
    assert check(path).findings == ()


async def test_no_vacuum_while_a_run_is_worked_on(run: StartedRun, path: Path) -> None:
    with pytest.raises(LeaseHeld, match="run run-1 is worked on by coordinator 1"):
        await asyncio.to_thread(vacuum, path)


def test_no_vacuum_of_nothing(path: Path) -> None:
    with pytest.raises(JournalUnusable, match="no journal at"):
        vacuum(path)
    assert not path.exists()


def test_a_backup_is_private_whatever_the_umask(path: Path, tmp_path: Path) -> None:
    asyncio.run(make(path))
    before = os.umask(0)
    try:
        made = backup(path, tmp_path / "copy.sqlite")
    finally:
        os.umask(before)
    assert stat.S_IMODE(made.path.stat().st_mode) == 0o600

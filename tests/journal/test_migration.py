"""Catalogue J13: an older journal stays readable as it is, and is brought up to date by whoever writes to it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from poolboard.journal import file, queue
from poolboard.journal.check import check
from poolboard.journal.driver import connect, sqlite
from poolboard.journal.errors import JournalUnusable
from poolboard.journal.file import SCHEMA_VERSION, open_reader, open_writer
from poolboard.journal.model import Token
from poolboard.journal.reader import Reader
from poolboard.journal.sqlite import SqliteJournal

if TYPE_CHECKING:
    from tests.journal.conftest import StartedRun

#: What versions 2 to 5 brought, taken away again.
BACK_TO_1 = (
    "DROP TABLE receipts",
    "DROP TABLE messages",
    "DROP TABLE cuts",
    "DROP TABLE holds",
    "DROP TABLE usage",
    "ALTER TABLE leases DROP COLUMN host",
    "DELETE FROM journal_meta WHERE name = 'clock'",
    "UPDATE leases SET renewed_at = 0",
    "PRAGMA user_version = 1",
)


@pytest.fixture
async def old(run: StartedRun, path: Path) -> Path:
    """A journal of version 1, as a run left it that was killed after half of its work."""
    made = await run.enqueue(*(run.child(f"k{n}") for n in range(10)))
    for item in made[:5]:
        token = await run.claim(item.n)
        await run.do(queue.commit, token, run.checkpoint())
        await run.do(queue.complete, token, "1")
    await run.claim(6)
    await run.journal.close()
    with closing(connect(path, readonly=False)) as connection:
        for statement in BACK_TO_1:
            connection.execute(statement)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


def version(path: Path) -> int:
    with closing(connect(path, readonly=True)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


async def test_a_screen_reads_an_older_journal_and_leaves_it_as_it_is(old: Path) -> None:
    before = sha256(old.read_bytes()).hexdigest()
    reader = await Reader.open(old)
    row = await reader.run("run-1")
    assert (row.completed, row.ready, row.leased) == (5, 4, 1)
    assert [one.n for one in await reader.work_page(1, 0, 100)] == list(range(1, 11))
    assert await reader.holds(1) == []
    assert await reader.messages.page(1, 1 << 40, 10) == [] and await reader.messages.waiting(1) == []
    assert len(await reader.events(1, 0, 100)) == row.last_seq
    await reader.close()
    report = check(old)
    assert report.findings == ()
    assert "schema version 1 is an older one, which can be read as it is" in report.notes[0]
    assert f"journal vacuum) brings it to version {SCHEMA_VERSION}" in report.notes[0]
    assert sha256(old.read_bytes()).hexdigest() == before


async def test_a_run_in_an_older_journal_goes_on_where_it_was(old: Path) -> None:
    journal = await SqliteJournal.open(old)
    assert version(old) == SCHEMA_VERSION
    lease = await journal.acquire_lease("run-1", "heir")
    token = await journal.transact(lambda tx: queue.adopt(tx, lease, Token(6, 1, "w1", 1)))
    await journal.transact(lambda tx: queue.complete(tx, lease, token, "1"))
    for n in (7, 8, 9, 10):
        claimed = await journal.transact(lambda tx, n=n: queue.claim(tx, lease, n, "w1", 30_000))  # type: ignore[misc]
        await journal.transact(lambda tx, claimed=claimed: queue.complete(tx, lease, claimed.token, "1"))  # type: ignore[misc]
    assert (await journal.get_run("run-1")).completed == 10
    await journal.close()
    assert check(old).findings == ()


async def test_of_several_that_open_an_older_journal_one_brings_it_up_to_date(old: Path) -> None:
    journals = await asyncio.gather(*(SqliteJournal.open(old) for _ in range(4)))
    assert [(await journal.get_run("run-1")).completed for journal in journals] == [5] * 4
    for journal in journals:
        await journal.close()
    assert version(old) == SCHEMA_VERSION


async def test_a_migration_that_fails_leaves_the_older_journal_as_it_was(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = file._statements

    def breaks(number: int) -> Iterator[str]:
        yield from whole(number)
        if number == SCHEMA_VERSION:
            yield "CREATE TABLE runs (already INTEGER);"

    monkeypatch.setattr(file, "_statements", breaks)
    with pytest.raises(Exception, match="already exists"):
        open_writer(old, create=False, synchronous="FULL")
    monkeypatch.undo()
    assert version(old) == 1
    with closing(connect(old, readonly=True)) as connection, pytest.raises(sqlite.OperationalError):
        connection.execute("SELECT * FROM holds")
    await (await SqliteJournal.open(old)).close()
    assert version(old) == SCHEMA_VERSION


def test_a_version_that_no_program_wrote_is_told_as_damage_not_as_an_empty_file(old: Path) -> None:
    with closing(connect(old, readonly=False)) as connection:
        connection.execute("PRAGMA user_version = 0")
    for look in (open_reader, check, partial(open_writer, create=True, synchronous="FULL")):
        with pytest.raises(JournalUnusable, match="schema version 0, which no Poolboard has written"):
            look(old)
    assert version(old) == 0


async def test_below_an_older_program_that_works_nothing_is_changed(old: Path) -> None:
    with closing(connect(old, readonly=False)) as connection:
        connection.execute("UPDATE leases SET renewed_at = CAST(unixepoch('subsec') * 1000 AS INTEGER)")
    with pytest.raises(JournalUnusable, match=r"schema version 1, and an older Poolboard works on run run-1"):
        await SqliteJournal.open(old)
    assert version(old) == 1

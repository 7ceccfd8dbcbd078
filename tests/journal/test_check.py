"""Every kind of damage is found and named, a whole journal is told to be whole, and nothing is ever written."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from poolboard.journal import queue
from poolboard.journal.check import CheckReport, check
from poolboard.journal.driver import connect
from poolboard.journal.errors import JournalUnusable
from poolboard.journal.file import SCHEMA_VERSION
from poolboard.journal.finding import MOST_FINDINGS
from poolboard.journal.model import Event
from poolboard.journal.positions import SPAN
from poolboard.journal.sqlite import SqliteJournal

if TYPE_CHECKING:
    from tests.journal.conftest import StartedRun, Starter


async def fill(run: StartedRun, children: int = 40) -> None:
    """Give a run children in every state, with checkpoints, results and failures."""
    made = await run.enqueue(*(run.child(f"k{n}", json.dumps({"input": "x" * 300})) for n in range(children)))
    for item in made[: children // 2]:
        token = await run.claim(item.n)
        payload = json.dumps({"value": "y" * 300, "n": item.n})
        await run.do(queue.commit, token, run.checkpoint(payload=payload))
        await run.do(queue.commit, token, run.checkpoint("other", payload, stage="write", ok=item.n % 3 > 0))
        if item.n % 4:
            await run.do(queue.complete, token, json.dumps("z" * 300))
        elif item.n % 8:
            await run.do(queue.fail, token, "it broke", json.dumps({"message": "w" * 300}))
    await run.do(queue.commit, run.root, run.checkpoint("a map", stage=""))
    await run.journal.append(run.lease, Event("Note", '{"text": "hello"}'), "key of the run")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, start: Starter) -> bytes:
    """A journal of two runs, made once."""
    path = tmp_path_factory.mktemp("made") / "journal.sqlite"

    async def make() -> None:
        journal = await SqliteJournal.open(path)
        for run_id in ("run-1", "run-2"):
            await fill(await start(journal, run_id))
        await journal.close()

    asyncio.run(make())
    return path.read_bytes()


@pytest.fixture
def whole(made: bytes, path: Path) -> Path:
    """A copy of it, which nobody has open."""
    path.write_bytes(made)
    return path


def contents(folder: Path) -> dict[str, str]:
    return {file.name: sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()}


def said(report: CheckReport) -> str:
    return "\n".join(map(str, report.findings))


def looked_at(path: Path) -> CheckReport:
    """Check a journal and see that its folder is as it was."""
    before = contents(path.parent)
    report = check(path)
    assert contents(path.parent) == before
    return report


def sql(path: Path, statement: str, *values: object) -> None:
    """Change the file behind everybody's back."""
    with closing(connect(path, readonly=False)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute(statement, values)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


def test_a_whole_journal_has_nothing_wrong_and_is_not_touched(whole: Path) -> None:
    report = looked_at(whole)
    assert (report.findings, report.cut, report.notes) == ((), False, ())
    assert report.runs == 2
    assert report.events > 2 * 80
    assert report.size_bytes == whole.stat().st_size


async def test_a_journal_in_use_is_checked_without_stopping_anybody(run: StartedRun, path: Path) -> None:
    await fill(run)

    async def write() -> int:
        written = 0
        while not checked.done():
            await run.journal.append(run.lease, Event("Note", "{}"))
            written += 1
        return written

    checked = asyncio.ensure_future(asyncio.to_thread(check, path))
    assert await write() > 0
    assert (await checked).findings == ()


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        ("UPDATE runs SET completed = completed + 1", "run run-1: 16 children are kept as completed, there are 15"),
        ("UPDATE runs SET last_seq = last_seq + 3", "is the first missing"),
        (f"DELETE FROM events WHERE position = {SPAN} + 50", "number 50 is the first missing"),
        (f"DELETE FROM events WHERE position = {SPAN} + 1", "number 1 is the first missing"),
        (f"DELETE FROM events WHERE position = {SPAN} + 5", "boundary event, their input, is missing: 4"),
        (f"UPDATE work SET parent = 999 WHERE id = {SPAN} + 7", "without their parent, or a root with one: 7"),
        (f"DELETE FROM work WHERE id = {SPAN} + 9", "keys of children that are not there: 9"),
        (f"DELETE FROM results WHERE id = {SPAN} + 1", "completed work items without a result: 1"),
        (f"INSERT INTO results VALUES ({SPAN} + 30, '1')", "results of work items that are not completed: 30"),
        (f"INSERT INTO results VALUES (7 * {SPAN} + 3, '1')", "rows of results belong to run number 7"),
        (f"INSERT INTO events VALUES (9 * {SPAN} + 3, 1, 'x', NULL, 1, '1')", "events belong to run number 9"),
        ("INSERT INTO operations (run, work, key, seq) VALUES (5, 1, x'00', 1)", "operations belong to run number 5"),
        ("DELETE FROM runs WHERE number = 2", "rows of events belong to run number 2"),
        ("INSERT INTO leases VALUES (12, 'x', 1, 1, NULL)", "a row of leases (12) belongs to nothing in runs"),
        ("UPDATE stages SET done = done + 1 WHERE name = 'measure'", "count: run run-2: stage 'measure' ended"),
        ("UPDATE stages SET done = done - 1 WHERE name = 'write'", "stage 'write' is kept as ended 19 times"),
        ("UPDATE stages SET buckets = 'x'", "the durations of stage 'write' cannot be read"),
        ("UPDATE stamp SET value = 3", "the newest is 3"),
        ("UPDATE leases SET epoch = 0", "written under epoch 1, the lease is at 0"),
        ("UPDATE runs SET status = 'completed' WHERE number = 1", "it is completed, and has no end"),
        ("UPDATE runs SET status = 'weird'", "its status is 'weird', which there is not"),
        (f"UPDATE work SET state = 'odd' WHERE id = {SPAN} + 1", "work items are in state 'odd'"),
        (f"UPDATE results SET value = '1' WHERE id = {SPAN} + 1", "the result of work item 1 is not what was recorded"),
        ("UPDATE events SET payload = '{\"x\": 1}' WHERE type = 'CheckpointRecorded'", "CheckpointRecorded (event 42)"),
        ("UPDATE events SET payload = '{\"x\": 1}' WHERE type = 'WorkFailed'", "WorkFailed (event"),
        ("UPDATE events SET payload = '{\"x\": 1}' WHERE type = 'ChildEnqueued'", "ChildEnqueued (event 2) is not"),
        ("UPDATE events SET payload = '{' WHERE type = 'Note'", "is not JSON"),
        ("UPDATE events SET payload = CAST(x'7b2261223a22ff227d' AS TEXT) WHERE type = 'Note'", "is not JSON"),
        ("UPDATE runs SET header = 'x' WHERE number = 2", "run run-2: its header is not JSON"),
    ],
)  # fmt: skip
def test_a_row_that_is_not_as_it_should_be_is_named(whole: Path, damage: str, found: str) -> None:
    sql(whole, damage)
    assert found in said(looked_at(whole))


def test_thousands_of_findings_are_cut_and_the_cut_is_told(whole: Path) -> None:
    sql(whole, "DELETE FROM operations")
    sql(whole, "DELETE FROM runs")
    for number in range(50, 50 + MOST_FINDINGS):
        sql(whole, f"INSERT INTO results VALUES ({number} * {SPAN} + 3, '1')")
    report = looked_at(whole)
    assert len(report.findings) == MOST_FINDINGS
    assert report.cut


def page_of(path: Path, marker: bytes) -> int:
    """Return where the page that holds the marker begins."""
    return path.read_bytes().index(marker) // 4096 * 4096


def overwrite(path: Path, offset: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(data)


def test_a_page_of_zeros_is_found(whole: Path) -> None:
    overwrite(whole, page_of(whole, b"y" * 200), b"\0" * 4096)
    assert "file: " in said(looked_at(whole))


@pytest.mark.parametrize("byte", [b"\0", b"\xff"])
def test_whichever_page_is_wiped_is_found(whole: Path, byte: bytes) -> None:
    """B68: not one page of a journal, head and empty tables included, may go unmissed."""
    data = whole.read_bytes()
    missed = []
    for at in range(0, len(data), 4096):
        whole.write_bytes(data[:at] + byte * 4096 + data[at + 4096 :])
        if not check(whole).findings:
            missed.append(at // 4096 + 1)
    assert missed == []


def test_a_file_that_was_cut_is_found(whole: Path) -> None:
    data = whole.read_bytes()
    whole.write_bytes(data[: len(data) // 8192 * 4096])
    assert "file: " in said(looked_at(whole))


def test_bytes_that_flipped_in_the_head_of_a_page_are_found(whole: Path) -> None:
    overwrite(whole, page_of(whole, b"z" * 200), b"\x55" * 64)
    assert "file: " in said(looked_at(whole))


@pytest.mark.parametrize("letter", [b"x", b"y", b"z", b"w"])
def test_bytes_that_flipped_inside_a_recorded_value_are_found(whole: Path, letter: bytes) -> None:
    # Everywhere: a page may also hold an old copy of a row that was moved.
    whole.write_bytes(whole.read_bytes().replace(letter * 200, letter * 50 + b"q" * 64 + letter * 86))
    assert "is not what was recorded" in said(looked_at(whole))


@pytest.mark.parametrize("make", [lambda size: b"\0" * size, lambda size: b"SQLite formaT 3\0" + b"\0" * (size - 16)])
def test_a_file_without_a_beginning_is_found(whole: Path, make: Callable[[int], bytes]) -> None:
    whole.write_bytes(make(whole.stat().st_size))
    assert "not a journal, or its beginning is damaged" in said(looked_at(whole))


async def test_a_log_that_was_cut_is_told_and_is_no_damage(run: StartedRun, path: Path, tmp_path: Path) -> None:
    await fill(run)
    (tmp_path / "copy").mkdir()
    copy = tmp_path / "copy" / path.name
    copy.write_bytes(path.read_bytes())
    log = Path(f"{path}-wal").read_bytes()
    Path(f"{copy}-wal").write_bytes(log[: len(log) // 2 + 77])
    report = check(copy)
    assert report.findings == ()
    assert "ends in the middle of a page" in report.notes[0]


@pytest.mark.parametrize(
    ("prepare", "refused"),
    [
        (lambda path: None, "no journal at"),
        (lambda path: path.mkdir(), "is a folder"),
        (lambda path: path.touch(), "the file is empty"),
        (lambda path: sql(path, "CREATE TABLE theirs (x)") if path.touch() is None else None, "another program"),
    ],
)
def test_what_is_no_journal_is_refused_not_checked(path: Path, prepare: Callable[[Path], object], refused: str) -> None:
    prepare(path)
    with pytest.raises(JournalUnusable, match=refused):
        check(path)


def test_a_newer_journal_is_refused_with_both_versions(whole: Path) -> None:
    sql(whole, "PRAGMA user_version = 7")
    with pytest.raises(JournalUnusable, match=f"version 7.*up to {SCHEMA_VERSION}"):
        check(whole)

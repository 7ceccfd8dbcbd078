"""Disks that fill up, files that rot, readers that hold on: what was acknowledged stays, and the log stays bounded."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from poolboard.journal import file, queue
from poolboard.journal.backup import backup
from poolboard.journal.check import check
from poolboard.journal.checkpointer import LINGER_FROM_BYTES
from poolboard.journal.driver import Connection, connect
from poolboard.journal.errors import JournalUnusable, StorageUnavailable
from poolboard.journal.file import open_writer
from poolboard.journal.model import Event, Lease, NewRun
from poolboard.journal.sqlite import SqliteJournal

if TYPE_CHECKING:
    from tests.journal.conftest import StartedRun

MIB = 1024 * 1024
#: DESIGN, journal: what the log may grow to while a run goes on, and what is left of it afterwards.
WAL_LIMIT_BYTES, WAL_LEFT_BYTES = 64 * MIB, 4 * MIB
LARGE = Event("Note", json.dumps({"text": "x" * 60_000}))
#: More appends than any of the small disks here has room for.
MORE_THAN_FIT = 1_000


async def append_until_full(journal: SqliteJournal, lease: Lease) -> tuple[list[int], StorageUnavailable]:
    """Append until the disk is full; return the acknowledged numbers and the error."""
    acknowledged: list[int] = []
    for _ in range(MORE_THAN_FIT):
        try:
            acknowledged.append((await journal.append(lease, LARGE)).entry.seq)
        except StorageUnavailable as error:
            return acknowledged, error
    raise AssertionError("the disk never filled up")


# --- full disks -------------------------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MiB, for root; others fill up a file in the test below."""
    folder = tmp_path / "small"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
    if os.getuid() != 0 or subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("only root can mount a small file system")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def make_room(small_disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)


async def test_on_a_full_disk_nothing_acknowledged_is_lost_and_with_room_it_goes_on(small_disk: Path) -> None:
    """Situation B67: a small tmpfs."""
    path = small_disk / "journal.sqlite"
    journal = await SqliteJournal.open(path)
    await journal.create_run(NewRun("run-1", "n", "/", "{}"))
    lease = await journal.acquire_lease("run-1", "me")
    acknowledged, error = await append_until_full(journal, lease)
    assert "full (SQLite code 13)" in str(error) and str(path) in str(error)
    assert [entry.seq async for entry in journal.read("run-1")] == acknowledged
    with pytest.raises(StorageUnavailable):
        await journal.append(lease, LARGE)
    make_room(small_disk)
    assert (await journal.append(lease, LARGE)).entry.seq == len(acknowledged) + 1
    await journal.close()
    assert check(path).findings == ()


async def test_a_journal_closed_on_a_full_disk_is_whole_when_opened_again(small_disk: Path) -> None:
    path = small_disk / "journal.sqlite"
    journal = await SqliteJournal.open(path)
    await journal.create_run(NewRun("run-1", "n", "/", "{}"))
    lease = await journal.acquire_lease("run-1", "me")
    acknowledged, _ = await append_until_full(journal, lease)
    await journal.close()
    make_room(small_disk)
    again = await SqliteJournal.open(path)
    assert [entry.seq async for entry in again.read("run-1")] == acknowledged
    assert (await again.append(lease, LARGE)).entry.seq == len(acknowledged) + 1
    await again.close()
    assert check(path).findings == ()


async def test_a_backup_that_does_not_fit_leaves_nothing_behind(run: StartedRun, path: Path, small_disk: Path) -> None:
    await run.journal.append_many(run.lease, [(LARGE, None)] * 100)
    with pytest.raises(StorageUnavailable, match="full"):
        await asyncio.to_thread(backup, path, small_disk / "copy.sqlite")
    assert list(small_disk.iterdir()) == []


LIMITED = """
import asyncio, json, resource, sys
from pathlib import Path
from poolboard.journal.errors import StorageUnavailable
from poolboard.journal.model import Event, NewRun
from poolboard.journal.sqlite import SqliteJournal

async def main():
    journal = await SqliteJournal.open(Path(sys.argv[1]))
    await journal.create_run(NewRun("run-1", "n", "/", "{}"))
    lease = await journal.acquire_lease("run-1", "me")
    resource.setrlimit(resource.RLIMIT_FSIZE, (3_000_000, resource.RLIM_INFINITY))
    for limited in (True, False):
        for n in range(200):
            try:
                print((await journal.append(lease, Event("Note", json.dumps({"text": "x" * 60_000})))).entry.seq)
            except StorageUnavailable as error:
                print("refused", error, file=sys.stderr)
                break
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    await journal.close()

asyncio.run(main())
"""


def test_at_the_limit_for_files_nothing_acknowledged_is_lost_and_beyond_it_goes_on(path: Path) -> None:
    """Situation B67: RLIMIT_FSIZE."""
    done = subprocess.run([sys.executable, "-c", LIMITED, str(path)], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("refused Storage unavailable: sqlite at") == 1
    acknowledged = [int(line) for line in done.stdout.split()]
    assert len(acknowledged) > 200
    with closing(connect(path, readonly=True)) as connection:
        found = [row[0] for row in connection.execute("SELECT position & 0xffffff FROM events ORDER BY position")]
    assert found == acknowledged
    assert check(path).findings == ()


# --- files that rot ---------------------------------------------------------------------------------------------------


@pytest.fixture
async def halfway(run: StartedRun, tmp_path: Path, path: Path) -> Path:
    """A copy of a journal's files in the middle of a run, as a hard reset leaves them: no -shm."""
    made = await run.enqueue(*(run.child(f"k{n}", json.dumps({"input": "x" * 2000})) for n in range(100)))
    await run.journal.close()
    run.journal = await SqliteJournal.open(path)
    for item in made[:50]:
        token = await run.claim(item.n)
        await run.do(queue.complete, token, json.dumps("y" * 500))
    await run.sql("UPDATE leases SET renewed_at = 0")  # the machine took its time to start
    (tmp_path / "reset").mkdir()
    copy = tmp_path / "reset" / "journal.sqlite"
    for suffix in ("", "-wal"):
        Path(f"{copy}{suffix}").write_bytes(Path(f"{path}{suffix}").read_bytes())
    await run.journal.close()
    return copy


def contents(path: Path) -> dict[str, str]:
    """Return the digests of the files that hold something; -shm is made from -wal at any time."""
    return {
        file.name: sha256(file.read_bytes()).hexdigest()
        for file in path.parent.iterdir()
        if not file.name.endswith("-shm")
    }


def zeros(data: bytes) -> bytes:
    return b"\0" * len(data)


def half(data: bytes) -> bytes:
    return data[: len(data) // 2]


def flipped(data: bytes) -> bytes:
    """Flip 64 bytes at the beginning of the page in the middle."""
    at = len(data) // 8192 * 4096
    return data[:at] + bytes(byte ^ 0xFF for byte in data[at : at + 64]) + data[at + 64 :]


async def refusal(path: Path) -> str:
    """Open a journal for writing and read all of it; return what was said instead."""
    with pytest.raises(JournalUnusable) as refused:
        journal = await SqliteJournal.open(path)
        try:
            for row in await journal.list_runs():
                async for _ in journal.read(row.run_id):
                    pass
        finally:
            await journal.close()
    return str(refused.value)


@pytest.mark.parametrize("damage", [zeros, half, flipped])
@pytest.mark.parametrize("with_log", [True, False])
async def test_a_damaged_file_is_told_and_never_written_to(
    halfway: Path, damage: Callable[[bytes], bytes], with_log: bool
) -> None:
    """Situation B68."""
    if not with_log:
        await (await SqliteJournal.open(halfway)).close()
    halfway.write_bytes(damage(halfway.read_bytes()))
    before = contents(halfway)
    assert check(halfway).findings
    with pytest.raises(JournalUnusable, match="damaged"):
        backup(halfway, halfway.parent / "copy.sqlite")
    said = await refusal(halfway)
    assert str(halfway) in said and "damaged" in said and "\n" not in said
    assert contents(halfway) == before


async def test_beside_a_live_lease_a_successor_does_not_wait_for_a_look_at_every_page(
    run: StartedRun, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file, "connect", looked := Looked())
    (await asyncio.to_thread(open_writer, path, create=False, synchronous="FULL")).close()
    assert not any("quick_check" in statement for statement in looked.statements)
    await run.sql("UPDATE leases SET renewed_at = 0")
    (await asyncio.to_thread(open_writer, path, create=False, synchronous="FULL")).close()
    assert any("quick_check" in statement for statement in looked.statements)


class Looked:
    """Opens connections as ever, and keeps the statements that they run."""

    def __init__(self) -> None:
        self.statements: list[str] = []

    def __call__(self, path: Path, **settings: Any) -> Connection:
        connection = connect(path, **settings)
        connection.set_trace_callback(self.statements.append)
        return connection


async def test_without_its_shm_a_journal_has_everything(halfway: Path) -> None:
    again = await SqliteJournal.open(halfway)
    row = await again.get_run("run-1")
    await again.close()
    assert (row.completed, row.total) == (50, 100)
    assert check(halfway).findings == ()


@pytest.mark.parametrize("share", [0.25, 0.5, 0.99])
async def test_a_log_cut_anywhere_opens_at_its_last_whole_commit(halfway: Path, share: float) -> None:
    """Situation B68."""
    log = Path(f"{halfway}-wal")
    log.write_bytes(log.read_bytes()[: int(log.stat().st_size * share)])
    again = await SqliteJournal.open(halfway)
    row = await again.get_run("run-1")
    entries = [entry.seq async for entry in again.read("run-1")]
    await again.close()
    assert row.total == 100 and 0 < row.completed < 50
    assert entries == list(range(1, row.last_seq + 1))
    assert check(halfway).findings == ()


# --- readers that hold on ---------------------------------------------------------------------------------------------

HOLDS = """
import sys
from pathlib import Path
from poolboard.journal.driver import connect
connection = connect(Path(sys.argv[1]), readonly=True)
connection.execute("BEGIN")
connection.execute("SELECT count(*) FROM events").fetchone()
print("holding", flush=True)
sys.stdin.read()
"""
WATCHES = """
import asyncio, sys
from pathlib import Path
from poolboard.journal.reader import Reader

async def main():
    reader = await Reader.open(Path(sys.argv[1]))
    while True:
        since = 0
        for row in await reader.work_page(1, 0, 1000):
            since = max(since, row.changed)
        await reader.work_changed(1, (since, 0), 1000)
        print("looked", flush=True)
        if not sys.stdin.readline():
            return

asyncio.run(main())
"""


class Watcher:
    """A process that reads the journal, as a screen does."""

    def __init__(self, program: str, path: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", program, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.wait()

    def wait(self) -> None:
        """Wait until it has looked."""
        assert self._process.stdout is not None
        assert self._process.stdout.readline()

    def look_again(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        self.wait()

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def watch(path: Path) -> Iterator[Callable[[str], Watcher]]:
    """Return ``watch(program)``, which starts a process that reads the test's journal."""
    started: list[Watcher] = []

    def start(program: str) -> Watcher:
        started.append(Watcher(program, path))
        return started[-1]

    yield start
    for watcher in started:
        watcher.end()


async def work_off(
    run: StartedRun,
    after_each: Callable[[], object],
    children: int = 2000,
    first: int = 0,
    claims_together: bool = True,
) -> int:
    """Run children with results of 4 KB, a hundred in each commit; return how large the log became at most."""
    log = Path(f"{run.journal.reader.path}-wal")
    largest = 0
    for start in range(first, children, 100):
        made = await run.enqueue(*(run.child(f"k{n}") for n in range(start, start + 100)))
        if claims_together:
            tokens = await asyncio.gather(*(run.claim(item.n) for item in made))
        else:
            tokens = [await run.claim(item.n) for item in made]
        payload = json.dumps({"value": "x" * 4096})
        for verb, values in (
            (queue.commit, [(token, run.checkpoint(payload=payload)) for token in tokens]),
            (queue.complete, [(token, payload) for token in tokens]),
        ):
            await asyncio.gather(*(run.do(verb, *value) for value in values))
        largest = max(largest, log.stat().st_size)
        after_each()
    return largest


async def test_a_screen_that_looks_all_the_time_lets_the_log_be_reused(
    run: StartedRun, path: Path, watch: Callable[[str], Watcher]
) -> None:
    """Situation B07."""
    screen = watch(WATCHES)
    assert await work_off(run, screen.look_again) < WAL_LIMIT_BYTES / 2
    await run.journal.close()
    assert Path(f"{path}-wal").stat().st_size < WAL_LEFT_BYTES


async def test_a_reader_that_holds_an_old_state_makes_the_log_grow_within_bounds_and_is_not_waited_for(
    run: StartedRun, path: Path, watch: Callable[[str], Watcher]
) -> None:
    holder = watch(HOLDS)
    assert await work_off(run, lambda: None) < WAL_LIMIT_BYTES
    holder.end()
    await run.journal.append(run.lease, Event("Note", "{}"))
    await run.journal.close()
    assert not Path(f"{path}-wal").exists() or Path(f"{path}-wal").stat().st_size < WAL_LEFT_BYTES
    assert check(path).findings == ()


@pytest.mark.slow
async def test_a_lone_caller_below_a_held_state_is_told_of_and_not_held_up(
    run: StartedRun, path: Path, watch: Callable[[str], Watcher]
) -> None:
    """The worst that can be done to the log: nothing shares a commit, and no page of it may be used again.

    Then it grows by some 28 KB a commit, past its limit in the end: SQLite has no way to take the state from a reader.
    """
    assert run.journal.held_bytes == 0
    holder = watch(HOLDS)
    largest = await work_off(run, lambda: None, children=1200, claims_together=False)
    assert LINGER_FROM_BYTES < run.journal.held_bytes <= largest < WAL_LIMIT_BYTES
    holder.end()
    await work_off(run, lambda: None, children=2400, first=1200)
    assert run.journal.held_bytes == 0
    await run.journal.close()
    assert not Path(f"{path}-wal").exists() or Path(f"{path}-wal").stat().st_size < WAL_LEFT_BYTES


async def test_a_screen_stopped_in_its_tracks_holds_nothing_up(
    run: StartedRun, path: Path, watch: Callable[[str], Watcher]
) -> None:
    screen = watch(WATCHES)
    screen.signal(signal.SIGSTOP)
    assert await work_off(run, lambda: None) < WAL_LIMIT_BYTES / 2
    await run.journal.close()
    assert Path(f"{path}-wal").stat().st_size < WAL_LEFT_BYTES
    screen.signal(signal.SIGCONT)
    screen.look_again()

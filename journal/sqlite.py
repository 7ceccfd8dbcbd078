"""The journal in one SQLite file: the fifteen verbs, and transactions for the pool's own.

Writes go through the writer thread's group commit, reads through a second, read-only connection.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

from . import deleting, log
from . import lease as leases
from .clock import MachineClock
from .driver import ADAPTER, Synchronous
from .errors import StorageUnavailable
from .file import open_writer
from .model import (
    AppendOutcome,
    Event,
    JournalEntry,
    Lease,
    LeaseState,
    NewRun,
    RunRow,
    RunVersion,
    SnapshotTail,
)
from .place import Probe, file_system
from .reader import Reader
from .together import TOGETHER
from .transaction import Transaction
from .writer import BUSY_LIMIT_S, Fault, Writer, no_fault

T = TypeVar("T")
READ_PAGE: Final = 256


class SqliteJournal:
    """A journal file opened for writing; implements Journal and every optional part of it."""

    def __init__(self, path: Path, writer: Writer, reader: Reader) -> None:
        self._path, self._writer, self._reader = path, writer, reader
        self._process = os.getpid()

    @classmethod
    async def open(
        cls,
        path: Path,
        *,
        create: bool = True,
        synchronous: Synchronous = "FULL",
        fault: Fault | None = None,
        busy_limit_s: float = BUSY_LIMIT_S,
        probe: Probe = file_system,
        machine: MachineClock | None = None,
    ) -> SqliteJournal:
        """Open the file, making it if it is missing and ``create`` is given.

        ``NORMAL`` may lose the newest commits when the power fails, never when a process dies. ``fault`` is called on
        the writer's thread at ``journal.begun``, ``journal.written`` (before COMMIT) and ``journal.committed`` (after
        it, before anybody is told); it may end the process, and must not raise.
        Raises JournalUnusable, StorageUnavailable.
        """
        connection = await asyncio.to_thread(
            open_writer, path, create=create, synchronous=synchronous, probe=probe, machine=machine
        )
        try:
            reader = await Reader.open(path, machine)
        except BaseException:
            connection.close()
            raise
        writer = Writer(connection, str(path), fault=fault or no_fault, busy_limit_s=busy_limit_s, together=TOGETHER)
        return cls(path, writer, reader)

    @property
    def descriptor(self) -> str:
        """``sqlite at <path>``."""
        return f"{ADAPTER} at {self._path}"

    @property
    def reader(self) -> Reader:
        """The read-only side, which sees every settled write."""
        return self._reader

    @property
    def busy_s(self) -> float:
        """How long writes have been waiting for another process's lock, in seconds; 0 normally."""
        return self._writer.busy_s

    @property
    def held_bytes(self) -> int:
        """How large the log is while another program's old state keeps it from being reused; 0 normally."""
        return self._writer.held_bytes

    async def transact(self, member: Callable[[Transaction], T]) -> T:
        """Run a function in the next shared transaction and return its value once that is committed.

        Whatever it raises undoes its writes alone. It may be run a second time with the first run's writes undone, so
        it should do nothing but work on the transaction. Raises StorageUnavailable if the commit fails.
        """
        if os.getpid() != self._process:
            raise self._inherited()
        value: T = await self._writer.put((member,), True)
        return value

    def submit(self, members: Sequence[Callable[[Transaction], object]]) -> asyncio.Future[list[object]]:
        """Queue functions for one shared transaction, at most 2,000; the future gets a value or an exception for each.

        A failed commit makes every element the exception. The call itself raises only if nothing was queued.
        """
        if os.getpid() != self._process:
            raise self._inherited()
        return self._writer.put(members, False)

    def _inherited(self) -> StorageUnavailable:
        # The writer's thread did not come along, and SQLite handles must not cross a fork.
        return StorageUnavailable(ADAPTER, str(self._path), "opened by a parent process: open it again in this one")

    async def create_run(self, new: NewRun) -> RunRow:
        """Record a new run, ``pending`` and unleased; raises IdentityConflict if its id exists."""
        number = await self.transact(lambda tx: log.create_run(tx, new))
        return await self._reader.run_by_number(number)

    async def get_run(self, run_id: str) -> RunRow:
        """Return the run; raises RunNotFound."""
        return await self._reader.run(run_id)

    async def list_runs(self) -> list[RunRow]:
        """Return every root run, newest first, without headers and results."""
        return await self._reader.runs()

    async def append(self, lease: Lease, event: Event, key: str | None = None) -> AppendOutcome:
        """Append one event under the lease; a key seen before gives the stored entry. Raises StaleLease, BadPayload."""
        return await self.transact(lambda tx: log.append(tx, lease, event, key))

    async def append_many(
        self, lease: Lease, appends: Sequence[tuple[Event, str | None]]
    ) -> list[AppendOutcome | Exception]:
        """Settle each append on its own, in order; a lease or storage failure raises and writes nothing."""
        return await self.transact(lambda tx: log.append_many(tx, lease, appends))

    async def read(self, run_id: str, from_seq: int = 1) -> AsyncIterator[JournalEntry]:
        """Yield entries with seq >= from_seq in order, read in pages of 256."""
        run = await self._reader.run(run_id)
        after = from_seq - 1
        while True:
            page = await self._reader.events(run.number, after, READ_PAGE)
            for entry in page:
                yield entry
            if len(page) < READ_PAGE:
                return
            after = page[-1].seq

    async def read_key(self, run_id: str, key: str) -> JournalEntry | None:
        """Return the entry that ``append`` recorded under the key."""
        run = await self._reader.run(run_id)
        return await self._reader.entry_of_key(run.number, key)

    async def acquire_lease(self, run_id: str, holder: str, *, if_epoch: int | None = None) -> Lease:
        """Take the run with epoch + 1, if it is free, or from ``if_epoch``'s holder; raises LeaseHeld, RunNotFound."""
        return await self.transact(lambda tx: leases.acquire(tx, run_id, holder, if_epoch))

    async def renew_lease(self, lease: Lease) -> None:
        """Set renewed_at to now; raises StaleLease. Writes no event."""
        await self.transact(lambda tx: leases.renew(tx, lease))

    async def release_lease(self, lease: Lease) -> None:
        """Give the run back; the epoch stays. Raises StaleLease."""
        await self.transact(lambda tx: leases.release(tx, lease))

    async def lease_state(self, run_id: str) -> LeaseState:
        """Return holder, epoch and age by the store's clock."""
        run = await self._reader.run(run_id)
        return LeaseState(run.lease_holder, run.lease_epoch, run.lease_age_ms)

    async def change_token(self) -> str:
        """Return text that moves whenever any connection of any process commits."""
        # The reader is never the one who writes, so data_version alone sees this process's commits too.
        return str(await self._reader.data_version())

    async def run_versions(self) -> Mapping[str, RunVersion]:
        """Return every run's newest event; (0, 0) for a run without events."""
        return await self._reader.run_versions()

    async def snapshot_tail(self, run_id: str) -> SnapshotTail | None:
        """Return the run's end without reading its history."""
        run = await self._reader.run(run_id)
        return await self._reader.snapshot_tail(run)

    async def delete_run(self, run_id: str) -> None:
        """Delete the run with everything recorded for it; raises LeaseHeld while its lease is live, RunNotFound."""
        await self.transact(lambda tx: deleting.delete_run(tx, run_id))
        await self.sweep()

    async def sweep(self) -> None:
        """Delete what is left of runs that have vanished, in small transactions."""
        while await self.transact(deleting.sweep):
            pass

    async def close(self) -> None:
        """Wait for writes under way, then close both connections."""
        # The reader first: the last connection out truncates the WAL, and must be the one that may write.
        await self._reader.close()
        await self._writer.close()

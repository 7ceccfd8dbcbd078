"""The journal's contract: fifteen verbs, five of them optional (``optional.py`` makes up for those that are missing).

The pool's verbs (queue.py) are not part of it: they are functions of an open transaction of an SQL journal.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Protocol, runtime_checkable

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


class Journal(Protocol):
    """An append-only event log per run plus one lease per run: the only durable truth."""

    @property
    def descriptor(self) -> str:
        """``<adapter> at <where>``, for messages; holds no secrets."""

    async def create_run(self, new: NewRun) -> RunRow:
        """Record a new run, ``pending`` and unleased; raises IdentityConflict if its id exists."""

    async def get_run(self, run_id: str) -> RunRow:
        """Return the run; raises RunNotFound."""

    async def list_runs(self) -> list[RunRow]:
        """Return every root run, newest first. Headers and results may be left out: they are for ``get_run``."""

    async def append(self, lease: Lease, event: Event, key: str | None = None) -> AppendOutcome:
        """Append one event under the lease. With a key seen before, write nothing and return the stored entry;
        comparing values is the caller's business. Raises StaleLease, BadPayload."""

    def read(self, run_id: str, from_seq: int = 1) -> AsyncIterator[JournalEntry]:
        """Yield entries with seq >= from_seq in order, read in pages of 256."""

    async def read_key(self, run_id: str, key: str) -> JournalEntry | None:
        """Return the entry recorded under the key."""

    async def acquire_lease(self, run_id: str, holder: str, *, if_epoch: int | None = None) -> Lease:
        """Take the run with epoch + 1. Without ``if_epoch`` only a released, never held or expired lease can be taken
        (LeaseHeld otherwise); with it, the lease is taken over from that epoch's holder, whom the caller has seen dead
        (LeaseHeld if the epoch moved meanwhile): of two racers exactly one wins."""

    async def renew_lease(self, lease: Lease) -> None:
        """Set renewed_at to now; raises StaleLease. Writes no event."""

    async def release_lease(self, lease: Lease) -> None:
        """Give the run back; the epoch stays. Raises StaleLease."""

    async def lease_state(self, run_id: str) -> LeaseState:
        """Return holder, epoch and age by the store's clock."""

    async def close(self) -> None:
        """Wait for writes under way, then close."""


@runtime_checkable
class BatchAppends(Protocol):
    """Optional: many appends to one run in one transaction."""

    async def append_many(
        self, lease: Lease, appends: Sequence[tuple[Event, str | None]]
    ) -> list[AppendOutcome | Exception]:
        """Settle each append on its own, in order; a lease or storage failure raises and writes nothing."""


@runtime_checkable
class ChangeTracking(Protocol):
    """Optional, all three or none: know that something changed without reading histories."""

    async def change_token(self) -> str:
        """Return text that moves whenever any connection of any process commits."""

    async def run_versions(self) -> Mapping[str, RunVersion]:
        """Return every run's newest event; (0, 0) for a run without events."""

    async def snapshot_tail(self, run_id: str) -> SnapshotTail | None:
        """Return the run's end without reading its history."""


@runtime_checkable
class RunDeletion(Protocol):
    """Optional: forget a run. The one verb that takes something away, and it has two reasons: a journal that only
    grows fills the disk, and a run that comes back from an export must first be gone."""

    async def delete_run(self, run_id: str) -> None:
        """Delete the run with everything recorded for it, at once; its number is never given to another.
        Raises LeaseHeld while somebody holds a live lease, RunNotFound."""

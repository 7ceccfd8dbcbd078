"""The optional verbs for any journal: its own where it has them, else the same answers from the required verbs.

What is made up for is slower, and a batch is no longer one transaction; nothing else differs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .errors import BadPayload, IdentityConflict, RunNotFound
from .event_types import CHECKPOINT_RECORDED, NOT_SNAPSHOTS
from .model import AppendOutcome, Event, JournalEntry, Lease, RunVersion, SnapshotTail
from .protocol import BatchAppends, ChangeTracking, Journal

#: Refusals of one append that say nothing against the next.
OF_ONE_APPEND = (BadPayload, IdentityConflict)


async def append_many(
    journal: Journal, lease: Lease, appends: Sequence[tuple[Event, str | None]]
) -> list[AppendOutcome | Exception]:
    """Settle each append on its own, in order; a lease or storage failure raises.

    In one transaction if the journal can; else one by one, so that what came before such a failure stays written.
    """
    if isinstance(journal, BatchAppends):
        return await journal.append_many(lease, appends)
    outcomes: list[AppendOutcome | Exception] = []
    for event, key in appends:
        try:
            outcomes.append(await journal.append(lease, event, key))
        except OF_ONE_APPEND as error:
            outcomes.append(error)
    return outcomes


async def run_versions(journal: Journal) -> Mapping[str, RunVersion]:
    """Return every run's newest event, (0, 0) for a run without events; else by reading each run's last one."""
    if isinstance(journal, ChangeTracking):
        return await journal.run_versions()
    found: dict[str, RunVersion] = {}
    for row in await journal.list_runs():
        found[row.run_id] = RunVersion(0, 0)
        try:
            async for entry in journal.read(row.run_id, max(row.last_seq, 1)):
                found[row.run_id] = RunVersion(entry.seq, entry.at)
        except RunNotFound:  # deleted since it was listed
            del found[row.run_id]
    return found


async def snapshot_tail(journal: Journal, run_id: str) -> SnapshotTail | None:
    """Return the run's end; else by reading its whole history."""
    if isinstance(journal, ChangeTracking):
        return await journal.snapshot_tail(run_id)
    last: JournalEntry | None = None
    snapshot: JournalEntry | None = None
    checkpoints, checkpoint_at = 0, None
    async for entry in journal.read(run_id):
        last = entry
        if entry.event.type == CHECKPOINT_RECORDED:
            checkpoints, checkpoint_at = checkpoints + 1, entry.at
        elif entry.event.work is None and entry.event.type not in NOT_SNAPSHOTS:
            snapshot, checkpoints, checkpoint_at = entry, 0, None
    if last is None or snapshot is None:
        return None
    return SnapshotTail(RunVersion(last.seq, last.at), snapshot, checkpoints, checkpoint_at)

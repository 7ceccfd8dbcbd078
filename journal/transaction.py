"""An open write transaction, shared by the members of a group commit.

It reads each run's row and lease once, hands out sequence numbers and the stamp from memory, and writes the kept
counters once. It neither begins nor commits itself, and knows nothing of threads: writer.py does.
"""

from __future__ import annotations

from typing import Final

from .clock import NOW_MS
from .counters import write_run
from .driver import Connection
from .errors import BadPayload, RunNotFound, StaleLease
from .model import Lease
from .open_run import Mark, OpenRun
from .positions import SPAN

SELECT_NOW = f"SELECT {NOW_MS}, value FROM stamp"
SELECT_RUN = """
SELECT r.number, r.run_id, r.status, r.last_seq, r.last_n, l.holder, coalesce(l.epoch, 0), l.renewed_at,
  coalesce(c.state, 'running')
FROM runs r LEFT JOIN leases l ON l.run = r.number LEFT JOIN control c ON c.run = r.number WHERE r.number = ?
"""
SELECT_NUMBER = "SELECT number FROM runs WHERE run_id = ?"
INSERT_EVENT = "INSERT INTO events (position, epoch, type, work, at, payload) VALUES (?, ?, ?, ?, ?, ?)"

TransactionMark = tuple[bool, list[tuple[OpenRun, Mark]]]

#: A commit renews its run's lease if that is older: one page less to write in most of a thousand commits a second.
SIGN_OF_LIFE_MS: Final = 100
RENEW = "UPDATE leases SET renewed_at = ? WHERE run = ? AND holder IS NOT NULL"


class Transaction:
    """What the pool's verbs work on. ``execute`` and ``executemany`` share one cursor: fetch before the next call.

    ``now`` is the store's clock, read once. A member that wants to change a run gets it by ``authority``.
    """

    __slots__ = ("_runs", "_stamp_before", "_stamped", "execute", "executemany", "now")

    def __init__(self, connection: Connection) -> None:
        cursor = connection.cursor()
        self.execute = cursor.execute
        self.executemany = cursor.executemany
        now, stamp = self.execute(SELECT_NOW).fetchone()
        self.now: int = now
        self._stamp_before: int = stamp
        self._stamped = False
        self._runs: dict[int, OpenRun] = {}

    def stamp(self) -> int:
        """Return the stamp that every row changed in this transaction carries; it is written once, by ``flush``."""
        self._stamped = True
        return self._stamp_before + 1

    def authority(self, lease: Lease) -> OpenRun:
        """Return the lease's run; raises RunNotFound, and StaleLease if holder or epoch are not its lease's.

        Age does not count (SPEC 1.8): only a taken or released lease refuses a write.
        """
        run = self._runs.get(lease.number)
        if run is None:
            run = self._read(lease.number)
        if run is None or run.run_id != lease.run_id:
            raise RunNotFound(f"no run {lease.run_id} in this journal")
        if run.epoch != lease.epoch or run.holder != lease.holder:
            raise StaleLease(lease.run_id, lease.epoch, run.epoch)
        return run

    def find(self, run_id: str) -> OpenRun:
        """Return a run by its id, whoever holds it; raises RunNotFound."""
        row = self.execute(SELECT_NUMBER, (run_id,)).fetchone()
        run = None if row is None else self._runs.get(row[0]) or self._read(row[0])
        if run is None:
            raise RunNotFound(f"no run {run_id} in this journal")
        return run

    def _read(self, number: int) -> OpenRun | None:
        row = self.execute(SELECT_RUN, (number,)).fetchone()
        if row is None:
            return None
        run = self._runs[number] = OpenRun(*row)
        return run

    def forget(self, run: OpenRun) -> None:
        """Let go of a run whose rows were deleted; whoever asks for it next finds none."""
        self._runs.pop(run.number, None)

    def append(self, run: OpenRun, type: str, payload: str, work: int | None) -> int:
        """Write one event and return its seq. The payload was checked by the caller."""
        seq = run.last_seq = run.last_seq + 1
        if seq >= SPAN:
            raise BadPayload(f"run {run.run_id} has {seq:,} events, which is all a run can have")
        run.dirty = True
        self.execute(INSERT_EVENT, (run.base + seq, run.epoch, type, work, self.now, payload))
        return seq

    def mark(self) -> TransactionMark:
        """Return where the cached values stand, before a member runs."""
        return self._stamped, [(run, run.mark()) for run in self._runs.values()]

    def restore(self, mark: TransactionMark) -> None:
        """Put the cached values back to a mark, after its member was rolled back."""
        self._stamped, runs = mark
        # A run first read by the failed member may have been made by it: forget it.
        self._runs = {run.number: run for run, _ in runs}
        for run, state in runs:
            run.restore(state)

    def flush(self) -> None:
        """Write the stamp, and one row per changed run and stage; called once, right before the commit."""
        for run in self._runs.values():
            if run.dirty:
                write_run(self.execute, run, self.stamp())
                if (
                    run.holder is not None
                    and run.renewed_at is not None
                    and self.now - run.renewed_at >= SIGN_OF_LIFE_MS
                ):
                    # Progress is a sign of life: who looks after a crash knows how long the run lived.
                    self.execute(RENEW, (self.now, run.number))
        if self._stamped:
            self.execute("UPDATE stamp SET value = ?", (self._stamp_before + 1,))

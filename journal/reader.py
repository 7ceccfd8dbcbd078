"""Reading a journal without ever writing to it: what screens, coordinators and workers ask.

``run`` is the run's number inside the file. Every read is one short statement, or a few; every list has a limit or
is read in pages.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .child_budget_reader import ChildBudgetReader
from .clock import MachineClock
from .control import setting_key
from .errors import RunNotFound
from .event_types import CHECKPOINT_RECORDED, NOT_SNAPSHOTS
from .model import (
    HoldRow,
    JournalEntry,
    LiveWork,
    RunRow,
    RunVersion,
    SnapshotTail,
    StageRow,
    WorkerRow,
    WorkRow,
)
from .payload import key_digest
from .positions import OF_THE_RUN, SPAN, base
from .prompts import FROM_OPEN, OPEN_FIRST, OPEN_LAST, Prompt, prompt_of_entry
from .reading import Reading
from .reopening import REOPENED_KEY
from .rows import (
    EVENT_COLUMNS,
    LIVE_COLUMNS,
    RUNS,
    RUNS_LISTED,
    WORK,
    entry,
    live_work,
    run_row,
    stage_row,
    work_row,
    worker_row,
)
from .settling import FAILED_KEY
from .states import WORK_STATES, WorkState

if TYPE_CHECKING:
    from .message_reader import MessageReader

#: The most runs that one list holds.
RUNS_LIMIT: Final = 10_000
#: Rows of one statement where a whole list is read in pages.
PAGE: Final = 2_000
STAGES_LIMIT: Final = 10_000


class Reader:
    """A journal opened for reading; any number of them, in any process."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._rows, self._row = reading.rows, reading.row

    @classmethod
    async def open(cls, path: Path, machine: MachineClock | None = None) -> Reader:
        """Open an existing journal; raises JournalUnusable ("no journal at …")."""
        return cls(await Reading.open(path, machine))

    @property
    def child_budgets(self) -> ChildBudgetReader:
        """What children may use."""
        return ChildBudgetReader(self._reading)

    @property
    def messages(self) -> MessageReader:
        """What the journal holds of messages."""
        from .message_reader import MessageReader  # late: it is a tenth of what a status loads

        return MessageReader(self._reading)

    @property
    def path(self) -> Path:
        """The journal's file."""
        return self._reading.path

    async def close(self) -> None:
        """Close the connection; again is fine."""
        await self._reading.close()

    async def data_version(self) -> int:
        """Return a number that moves when any other connection, of any process, commits. A hint: nothing may be new."""
        row = await self._row("PRAGMA data_version")
        return 0 if row is None else int(row[0])

    async def stamp(self) -> int:
        """Return the newest stamp: every change so far has ``changed`` <= it."""
        row = await self._row("SELECT value FROM stamp")
        return 0 if row is None else int(row[0])

    async def runs(self, limit: int = RUNS_LIMIT) -> list[RunRow]:
        """Return the root runs, newest first, from their rows alone; without headers and results."""
        return [run_row(row) for row in await self._rows(RUNS_LISTED + "ORDER BY r.number DESC LIMIT ?", (limit,))]

    async def runs_changed(self, since: int, limit: int = RUNS_LIMIT) -> list[RunRow]:
        """Return the runs whose rows changed after the stamp, oldest change first; without headers and results."""
        rows = await self._rows(RUNS_LISTED + "WHERE r.changed > ? ORDER BY r.changed LIMIT ?", (since, limit))
        return [run_row(row) for row in rows]

    async def run(self, run_id: str) -> RunRow:
        """Return a run by its id; raises RunNotFound."""
        row = await self._row(RUNS + "WHERE r.run_id = ?", (run_id,))
        if row is None:
            raise RunNotFound(f"no run {run_id} in {self.path}")
        return run_row(row)

    async def run_by_number(self, run: int) -> RunRow:
        """Return a run by its number; raises RunNotFound."""
        row = await self._row(RUNS + "WHERE r.number = ?", (run,))
        if row is None:
            raise RunNotFound(f"no run of number {run} in {self.path}")
        return run_row(row)

    async def find(self, prefix: str, limit: int = 20) -> list[RunRow]:
        """Return the runs whose id starts with the prefix, newest first; without headers and results."""
        # A range, not LIKE: % and _ in a prefix mean themselves.
        where = "WHERE r.run_id >= ? AND r.run_id < ? ORDER BY r.number DESC LIMIT ?"
        rows = await self._rows(RUNS_LISTED + where, (prefix, prefix + "\U0010ffff", limit))
        return [run_row(row) for row in rows]

    async def run_versions(self) -> dict[str, RunVersion]:
        """Return every run's newest event; (0, 0) for a run without events."""
        rows = await self._rows(
            "SELECT r.run_id, r.last_seq, coalesce(e.at, 0) FROM runs r "
            "LEFT JOIN events e ON e.position = r.number * ? + r.last_seq",
            (SPAN,),
        )
        return {run_id: RunVersion(seq, at) for run_id, seq, at in rows}

    async def snapshot_tail(self, run: RunRow) -> SnapshotTail | None:
        """Return a run's end: newest event, newest event that tells how the run stands, checkpoints after that."""
        start = base(run.number)
        last = await self._row(f"SELECT {EVENT_COLUMNS} FROM events e WHERE position = ?", (start + run.last_seq,))
        marks = ",".join("?" * len(NOT_SNAPSHOTS))
        snapshot = await self._row(
            f"SELECT {EVENT_COLUMNS} FROM events e WHERE position > ? AND position <= ? AND work IS NULL "
            f"AND type NOT IN ({marks}) ORDER BY position DESC LIMIT 1",
            (start, start + run.last_seq, *NOT_SNAPSHOTS),
        )
        if last is None or snapshot is None:
            return None
        later = await self._row(
            "SELECT count(*), max(at) FROM events WHERE position > ? AND position <= ? AND type = ?",
            (snapshot[0], start + run.last_seq, CHECKPOINT_RECORDED),
        )
        count, at = later or (0, None)
        return SnapshotTail(RunVersion(run.last_seq, entry(last).at), entry(snapshot), count, at)

    async def work_page(self, run: int, after_n: int, limit: int) -> list[WorkRow]:
        """Return work items with n > after_n in order; after_n = 0 leaves the root out, -1 takes it in."""
        start = base(run)
        where = "WHERE id > ? AND id < ? ORDER BY id LIMIT ?"
        rows = await self._rows(WORK + where, (start + max(after_n, -1), start + SPAN, limit))
        return [work_row(row) for row in rows]

    async def work_changed(self, run: int, since: tuple[int, int], limit: int) -> list[WorkRow]:
        """Return children with (changed, n) > since, in that order. The root is not among them."""
        stamp, n = since
        start = base(run)
        where = "WHERE run = ? AND (changed, id) > (?, ?) AND id <> ? ORDER BY changed, id LIMIT ?"
        rows = await self._rows(WORK + where, (run, stamp, start + n, start, limit))
        return [work_row(row) for row in rows]

    async def work(self, run: int, n: int) -> WorkRow:
        """Return one work item; raises RunNotFound if there is none."""
        row = await self._row(WORK + "WHERE id = ?", (base(run) + n,))
        if row is None:
            raise RunNotFound(f"no work item {n} in run number {run} of {self.path}")
        return work_row(row)

    async def children_of(self, run: int, parent: int, after_n: int, limit: int) -> list[WorkRow]:
        """Return a work item's own children with n > after_n, in order."""
        where = "WHERE run = ? AND parent = ? AND id > ? ORDER BY id LIMIT ?"
        rows = await self._rows(WORK + where, (run, parent, base(run) + after_n, limit))
        return [work_row(row) for row in rows]

    async def child_counts(self, run: int, parent: int) -> dict[WorkState, int]:
        """Return how many children of a work item are in each state; every state is there."""
        counts: dict[WorkState, int] = dict.fromkeys(WORK_STATES, 0)
        statement = "SELECT state, count(*) FROM work WHERE run = ? AND parent = ? GROUP BY state"
        counts.update(await self._rows(statement, (run, parent)))
        return counts

    async def boundary(self, run: int, n: int) -> JournalEntry:
        """Return the event that holds a work item's input; raises RunNotFound if there is no such item."""
        row = await self._row(
            f"SELECT {EVENT_COLUMNS} FROM work w JOIN events e ON e.position = ? + w.boundary WHERE w.id = ?",
            (base(run), base(run) + n),
        )
        if row is None:
            raise RunNotFound(f"no work item {n} in run number {run} of {self.path}")
        return entry(row)

    async def checkpoints(self, run: int, n: int) -> list[JournalEntry]:
        """Return everything a work item has recorded, by seq.

        Whole, because replay must know every checkpoint; read in pages, so that no snapshot is held for long.
        """
        found: list[JournalEntry] = []
        key = b""
        while True:
            # By key, which is the order they lie in: by seq, every page would read them all again.
            rows = await self._rows(
                f"SELECT {EVENT_COLUMNS}, o.key FROM operations o CROSS JOIN events e ON e.position = ? + o.seq "
                "WHERE o.run = ? AND o.work = ? AND o.key > ? AND o.child IS NULL AND e.type = ? "
                "ORDER BY o.key LIMIT ?",
                (base(run), run, n, key, CHECKPOINT_RECORDED, PAGE),
            )
            found.extend(entry(row[:-1]) for row in rows)
            if len(rows) < PAGE:
                return sorted(found, key=lambda recorded: recorded.seq)
            key = rows[-1][-1]

    async def failure(self, run: int, n: int) -> JournalEntry | None:
        """Return the newest WorkFailed event of a work item."""
        return await self._by_key(run, n, FAILED_KEY)

    async def reopened_seq(self, run: int, n: int) -> int:
        """Return the seq of the event that took an ended work item up again last, 0 if none did."""
        found = await self._by_key(run, n, REOPENED_KEY)
        return 0 if found is None else found.seq

    async def setting(self, run: int, name: str) -> str | None:
        """Return the newest value (JSON text) of a setting, None if it was never changed."""
        found = await self._by_key(run, OF_THE_RUN, setting_key(name))
        return None if found is None else json.dumps(json.loads(found.event.payload)["value"])

    async def failed(self, run: int) -> dict[int, int | None]:
        """Return every work item that has failed, with its parent; whole, in pages."""
        found: dict[int, int | None] = {}
        after = base(run) - 1
        while True:
            rows = await self._rows(
                "SELECT id, parent FROM work WHERE run = ? AND state = 'failed' AND id > ? ORDER BY id LIMIT ?",
                (run, after, PAGE),
            )
            found.update((id_ % SPAN, parent) for id_, parent in rows)
            if len(rows) < PAGE:
                return found
            after = rows[-1][0]

    async def ready_below(self, run: int, parents: Sequence[int]) -> list[LiveWork]:
        """Return what is ready below these work items, level by level."""
        found: list[LiveWork] = []
        level = list(parents)
        while level:  # bounded: workflows nest a few levels deep
            rows = await self._rows(
                f"SELECT {LIVE_COLUMNS} FROM work WHERE run = ? AND state = 'ready' "
                "AND parent IN (SELECT value FROM json_each(?))",
                (run, json.dumps(level)),
            )
            below = [live_work(row) for row in rows]
            found += below
            level = [work.n for work in below]
        return found

    async def holds(self, run: int) -> list[HoldRow]:
        """Return what is held back in the run; whole, a coordinator needs them all."""
        rows = await self._rows(
            "SELECT scope, name, who, why, at, cuts.run FROM holds LEFT JOIN cuts USING (run, scope, name) "
            "WHERE holds.run = ? ORDER BY scope, at",
            (run,),
        )
        return [HoldRow(scope, name, who, why, at, cut is not None) for scope, name, who, why, at, cut in rows]

    async def usage(self, run: int, n: int = 0) -> dict[str, int | float]:
        """Return what a work item and everything below it have used; the root's is the run's."""
        return dict(
            await self._rows("SELECT name, amount FROM usage WHERE run = ? AND work = ? ORDER BY name", (run, n))
        )

    async def entry_of_key(self, run: int, key: str) -> JournalEntry | None:
        """Return the event that the run recorded under a key of its own."""
        return await self._by_key(run, OF_THE_RUN, key_digest(key))

    async def _by_key(self, run: int, work: int, key: bytes) -> JournalEntry | None:
        row = await self._row(
            f"SELECT {EVENT_COLUMNS} FROM operations o JOIN events e ON e.position = ? + o.seq "
            "WHERE o.run = ? AND o.work = ? AND o.key = ?",
            (base(run), run, work, key),
        )
        return None if row is None else entry(row)

    async def open_prompts(self, run: int, limit: int = PAGE) -> list[Prompt]:
        """Return the questions that a run waits for, oldest first."""
        rows = await self._rows(
            f"SELECT {EVENT_COLUMNS} {FROM_OPEN} ORDER BY o.key LIMIT ?", (run, OPEN_FIRST, OPEN_LAST, limit)
        )
        return [prompt_of_entry(entry(row)) for row in rows]

    async def prompt_counts(self, runs: Sequence[int]) -> dict[int, int]:
        """Return how many questions each of these runs waits for; those that ask none are left out."""
        found: dict[int, int] = {}
        for start in range(0, len(runs), PAGE):
            rows = await self._rows(
                "SELECT j.value, (SELECT count(*) "
                + FROM_OPEN.replace("o.run = ?", "o.run = j.value")
                + ") AS open FROM json_each(?) j WHERE open > 0",
                (OPEN_FIRST, OPEN_LAST, json.dumps(list(runs[start : start + PAGE]))),
            )
            found.update((run, count) for run, count in rows)
        return found

    async def results(self, run: int, ns: Sequence[int]) -> dict[int, tuple[WorkState, str | None, str | None]]:
        """Return state, result (JSON) and error line of the work items among ``ns`` that exist."""
        found: dict[int, tuple[WorkState, str | None, str | None]] = {}
        for start in range(0, len(ns), PAGE):
            rows = await self._rows(
                "SELECT j.value, w.state, r.value, w.error FROM json_each(?) j JOIN work w ON w.id = ? + j.value "
                "LEFT JOIN results r ON r.id = w.id",
                (json.dumps(list(ns[start : start + PAGE])), base(run)),
            )
            found.update((n, (state, result, error)) for n, state, result, error in rows)
        return found

    async def stages(self, run: int) -> list[StageRow]:
        """Return the stages' kept counters, in order of first appearance."""
        rows = await self._rows(
            "SELECT name, done, failed, total_ms, buckets FROM stages WHERE run = ? ORDER BY first_seq LIMIT ?",
            (run, STAGES_LIMIT),
        )
        return [stage_row(row) for row in rows]

    async def live_work(self, run: int) -> list[LiveWork]:
        """Return every unsettled work item by n, the root included; whole, in pages: a coordinator needs them all."""
        found: list[LiveWork] = []
        after = base(run) - 1
        while True:
            rows = await self._rows(
                f"SELECT {LIVE_COLUMNS} FROM work WHERE run = ? AND ended_at IS NULL AND id > ? ORDER BY id LIMIT ?",
                (run, after, PAGE),
            )
            found.extend(live_work(row) for row in rows)
            if len(rows) < PAGE:
                return found
            after = rows[-1][0]

    async def workers(self, run: int) -> list[WorkerRow]:
        """Return the registered workers, by name."""
        statement = "SELECT worker, epoch, identity, started_at FROM workers WHERE run = ? ORDER BY worker LIMIT ?"
        return [worker_row(row) for row in await self._rows(statement, (run, PAGE))]

    async def events(
        self, run: int, after_seq: int, limit: int, types: Sequence[str] | None = None
    ) -> list[JournalEntry]:
        """Return events with seq > after_seq in order, of some types only if given."""
        start = base(run)
        among = "" if types is None else f"AND e.type IN ({','.join('?' * len(types))}) "
        rows = await self._rows(
            f"SELECT {EVENT_COLUMNS} FROM events e WHERE position > ? AND position < ? {among}"
            "ORDER BY position LIMIT ?",
            (start + max(after_seq, 0), start + SPAN, *(types or ()), limit),
        )
        return [entry(row) for row in rows]

"""Reads one journal for screens and the command line, in short snapshots. What has no coordinator is told from it.

Read-only, holds no lock, starts nothing, and knows nothing of the wire: asking.py and monitor.py do.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Final, Self

from poolboard.journal import event_types
from poolboard.journal.errors import JournalUnusable, RunNotFound
from poolboard.journal.model import RunRow, WorkRow
from poolboard.journal.reader import Reader

from .errors import AmbiguousRun, UnknownRun, UserMistake
from .folder import RunFolder, chosen_journal
from .hook_record import trouble
from .identity import ProcessIdentity
from .prompt_view import PROMPTS_NOTED, prompt_note, prompt_view
from .summary import ACTIVE_STATUSES, run_view, stage_durations, stage_views
from .views import (
    ChildPage,
    ChildRow,
    ChildView,
    CoordinatorView,
    Cursor,
    EventView,
    HoldView,
    PromptView,
    RunView,
    StageDurations,
    Summary,
    UsageView,
)
from .watch import FolderWatch

LOG_READ_LIMIT_BYTES = 4 * 1024 * 1024
#: What a list of events gets of one payload.
EVENT_LIMIT = 64 * 1024
#: Holds that a summary lists.
HOLDS_SHOWN = 50


class RunReader:
    """Reads one journal in short snapshots; holds no lock, writes nothing."""

    #: Types of events that any run may have.
    EVENT_TYPES: Final = frozenset(
        value for name, value in vars(event_types).items() if name.isupper() and isinstance(value, str)
    )

    def __init__(self, path: Path, reader: Reader | None) -> None:
        self._path, self._reader = path, reader
        self._watch = FolderWatch(path.parent)

    @classmethod
    async def open(cls, journal: str | None = None) -> Self:
        """Open the journal at a path, else the one in force; a missing file reads as an empty journal and is not made.

        Raises JournalUnusable.
        """
        chosen = chosen_journal(journal)
        path = chosen.pool_path()
        with chosen.named():
            reader = await Reader.open(path) if path.exists() else None
        return cls(path, reader)

    @property
    def journal_path(self) -> Path:
        """The journal's file."""
        return self._path

    async def close(self) -> None:
        """Let go of the journal."""
        await self._watch.close()
        if self._reader is not None:
            await self._reader.close()

    # --- runs ------------------------------------------------------------------------------------------------------

    async def runs(self) -> list[RunView]:
        """Return every root run: live ones first, then newest first."""
        reader = await self._opened()
        if reader is None:
            return []
        rows = await reader.runs()
        asking = await reader.prompt_counts([row.number for row in rows if row.ended_at is None])
        found = [run_view(row, coordinator_of(row).alive, asking.get(row.number, 0)) for row in rows]
        return sorted(found, key=lambda run: (run.status not in ACTIVE_STATUSES, -run.created_at))

    async def resolve(self, prefix: str | None) -> str:
        """Return the id of the run that the prefix names, the newest run for None. Raises UnknownRun, AmbiguousRun."""
        reader = await self._opened()
        if prefix is None:
            rows = await reader.runs(1) if reader else []
            if not rows:
                raise UnknownRun(f"there are no runs in {self._path}; start one with 'poolboard demo'")
            return rows[0].run_id
        rows = await reader.find(prefix) if reader else []
        exact = [row for row in rows if row.run_id == prefix]
        if len(rows) == 1 or exact:
            return (exact or rows)[0].run_id
        if rows:
            listed = ", ".join(row.run_id[: len(prefix) + 8] for row in rows)
            raise AmbiguousRun(f"{prefix!r} names several runs: {listed}; give more of the id")
        raise UnknownRun(f"run {prefix!r} not found in {self._path}")

    async def events(self, run_id: str, after_seq: int = 0, limit: int = 500) -> list[EventView]:
        """Return the run's journal events after a seq, oldest first."""
        reader = await self._opened()
        if reader is None:
            return []
        row = await self.row(run_id)
        found = await reader.events(row.number, after_seq, limit)
        return [
            EventView(e.seq, e.at, e.event.type, e.event.work, e.epoch, e.event.payload[:EVENT_LIMIT]) for e in found
        ]

    async def last_seq(self, run_id: str) -> int:
        """Return the seq of the run's newest event."""
        return (await self.row(run_id)).last_seq

    async def wait_for_change(self, timeout_s: float) -> bool:
        """Return True once somebody may have committed, False after the timeout. A hint: then read what is newer."""
        return await self._watch.wait(timeout_s)

    # --- children --------------------------------------------------------------------------------------------------

    async def children(self, run_id: str, since: Cursor = (0, -1), limit: int = 2000) -> ChildPage:
        """Return children (not the root) that changed after the cursor, oldest change first."""
        reader = await self._opened()
        if reader is None:
            return ChildPage([], since, False)
        row = await self.row(run_id)
        rows = await reader.work_changed(row.number, since, limit)
        cursor = (rows[-1].changed, rows[-1].n) if rows else since
        return ChildPage([child_row(work) for work in rows if work.n], cursor, len(rows) == limit)

    async def child(self, run_id: str, n: int) -> ChildView:
        """Return one child in full; 0 is the root. Raises UserMistake if there is no such child."""
        from .child_view import child_view  # late: only whoever looks at a child needs it

        reader = await self._opened()
        run = await self.row(run_id)
        assert reader is not None
        try:
            work = await reader.work(run.number, n)
        except RunNotFound:
            raise UserMistake(f"run {run_id[:8]} has no child {n}; it has 1 to {run.total}") from None
        return await child_view(reader, run.number, child_row(work), folder_of(run).logs)

    async def stage(self, run_id: str, name: str) -> StageDurations:
        """Return how long a stage's calls took. Raises UserMistake for a stage of which nothing was recorded."""
        reader = await self._opened()
        row = await self.row(run_id)
        for found in await reader.stages(row.number) if reader else ():
            if found.name == name:
                return stage_durations(found)
        raise UserMistake(f"no call of stage {name!r} of run {run_id[:8]} has been recorded yet")

    async def read_log(self, path: str, offset: int = 0, limit: int = 262_144) -> bytes:
        """Return bytes of a log file from an offset; empty at its end or when it is gone."""
        return await asyncio.to_thread(_read_bytes, Path(path), offset, min(limit, LOG_READ_LIMIT_BYTES))

    async def prompts(self, run_id: str | None = None) -> list[PromptView]:
        """Return the questions that wait for a person, oldest first; of every run that has not ended, or of one."""
        reader = await self._opened()
        if reader is None:
            return []
        rows = [row for row in await reader.runs() if row.ended_at is None] if run_id is None else []
        if run_id is not None and (row := await self.row(run_id)).ended_at is None:
            rows = [row]
        asking = await reader.prompt_counts([row.number for row in rows])
        found: list[PromptView] = []
        for row in (row for row in rows if row.number in asking):
            for prompt in await reader.open_prompts(row.number):
                child = await reader.work(row.number, prompt.n)
                found.append(prompt_view(prompt, row.run_id, child.label))
        return sorted(found, key=lambda prompt: (prompt.asked_at, prompt.id))

    # --- reading ---------------------------------------------------------------------------------------------------

    async def _opened(self) -> Reader | None:
        if self._reader is None and self._path.exists():
            self._reader = await Reader.open(self._path)
        return self._reader

    async def row(self, run_id: str) -> RunRow:
        """Return the run's row; raises UnknownRun."""
        reader = await self._opened()
        if reader is None:
            raise UnknownRun(f"run {run_id!r} not found: there is no journal at {self._path}")
        try:
            return await reader.run(run_id)
        except RunNotFound:
            raise UnknownRun(f"run {run_id!r} not found in {self._path}") from None

    async def from_journal(self, row: RunRow) -> Summary:
        """Return what the journal alone tells of a run."""
        reader = await self._opened()
        if reader is None:
            raise JournalUnusable(f"there is no journal at {self._path}")
        stages = await reader.stages(row.number)
        coordinator = coordinator_of(row)
        asked = await reader.open_prompts(row.number) if row.ended_at is None else []
        run = run_view(row, coordinator.alive, len(asked))
        words = folder_of(row).last_words() if run.status == "crashed" else None
        return Summary(
            run=run,
            stages=stage_views(stages, {}),
            workers=(),
            active=(),
            coordinator=coordinator,
            rate_per_s=0.0,
            eta_s=None,
            parked=0,
            in_flight=0,
            alerts=(f"the coordinator ended: {words}",) if words else _alerts_at_rest(row),
            stamp=row.changed,
            prompts=tuple(prompt_note(prompt) for prompt in asked[:PROMPTS_NOTED]),
            holds=tuple(
                HoldView(hold.scope, hold.name, hold.who, hold.why, 0, 0, hold.cut)
                for hold in (await reader.holds(row.number))[:HOLDS_SHOWN]
            ),
            usage=tuple(UsageView(name, used) for name, used in (await reader.usage(row.number)).items()),
        )


def _alerts_at_rest(row: RunRow) -> tuple[str, ...]:
    told = trouble(folder_of(row).path)
    return (told,) if told else ()


def child_row(work: WorkRow) -> ChildRow:
    """Return a journal row as a list shows it."""
    return ChildRow(
        work.n,
        work.parent,
        work.workflow,
        work.label,
        work.depth,
        work.state,
        work.stage,
        work.stages_done,
        work.starts,
        work.worker,
        work.ready_at,
        work.started_at,
        work.ended_at,
        work.error,
    )


def coordinator_of(row: RunRow) -> CoordinatorView:
    """Return who holds the run's lease; alive only if that very process still runs."""
    holder = ProcessIdentity.parse(row.lease_holder) if row.lease_holder else None
    return CoordinatorView(holder.pid if holder else None, row.lease_epoch, holder is not None and holder.is_alive())


def folder_of(row: RunRow) -> RunFolder:
    """Return the run's state folder."""
    # Not through the pydantic model: a list of runs need not load pydantic for one path each.
    return RunFolder(Path(json.loads(row.header)["folder"]))


def _read_bytes(path: Path, offset: int, limit: int) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(offset)
            return file.read(limit)
    except OSError:
        return b""

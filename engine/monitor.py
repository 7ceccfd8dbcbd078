"""The only door for screens and the command line: reads a journal, follows coordinators, passes wishes on.

Read-only towards the journal, and it never runs user code. What has no coordinator is told from the journal alone.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from poolboard.journal.errors import JournalError, JournalUnusable, RunNotFound
from poolboard.journal.model import RunRow, WorkRow
from poolboard.journal.reader import Reader

from .child_view import child_view
from .errors import AmbiguousRun, CoordinatorGone, EngineError, UnknownRun, UserMistake
from .folder import RunFolder, chosen_journal
from .hook_record import trouble
from .identity import ProcessIdentity
from .intent import BEGUN, Intent
from .restarts import Restarts
from .summary import ACTIVE_STATUSES, run_view, stage_views
from .views import Acknowledgement, ChildPage, ChildRow, ChildView, CoordinatorView, Cursor, EventView, RunView, Summary
from .watch import FolderWatch

if TYPE_CHECKING:
    from .client import Client
    from .wire import Verb

LOG_READ_LIMIT_BYTES = 4 * 1024 * 1024
FALLBACK_POLL_S = 1.0
#: What a list of events gets of one payload.
EVENT_LIMIT = 64 * 1024
#: Longer than a stop may take: its grace, SIGTERM, SIGKILL.
RESUME_LIMIT_S = 30.0


class Monitor:
    """Reads one journal in short snapshots; holds no lock, writes nothing."""

    def __init__(self, path: Path, reader: Reader | None) -> None:
        self._path, self._reader = path, reader
        self._watch = FolderWatch(path.parent)

    @classmethod
    async def open(cls, journal: str | None = None) -> Monitor:
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
        now_ms = _now_ms()
        found = [run_view(row, now_ms, _coordinator_of(row).alive) for row in await reader.runs()]
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

    async def status(self, run_id: str) -> Summary:
        """Return the run's summary: from its coordinator if that answers, else from the journal."""
        row = await self._run(run_id)
        if _coordinator_of(row).alive:
            try:
                async with _connect(row) as client:
                    async for summary in client.summaries(interval_s=1.0):
                        return summary
            except CoordinatorGone:
                pass
        return await self._from_journal(await self._run(run_id))

    async def follow(self, run_id: str, *, interval_s: float = 0.1, restart: bool = False) -> AsyncIterator[Summary]:
        """Yield a summary at once and then whenever something changed, at most every ``interval_s``; never ends.

        While no coordinator is there the summaries come from the journal, and ``coordinator.alive`` is False. With
        ``restart`` a coordinator that crashes meanwhile is replaced, 3 times in 60 s at most; an alert says what was
        tried. A run that was found crashed is left alone: whoever only looks at it has not asked for it to go on.
        """
        last: Summary | None = None
        restarts, seen_alive = Restarts(), False
        while True:
            row = await self._run(run_id)
            if _coordinator_of(row).alive:
                try:
                    async with _connect(row) as client:
                        async for summary in client.summaries(interval_s):
                            seen_alive = True
                            yield summary
                            last = summary
                except CoordinatorGone:
                    await asyncio.sleep(interval_s)
                row = await self._run(run_id)
            if not _coordinator_of(row).alive:
                summary = await self._from_journal(row)
                if restart and seen_alive and summary.run.status == "crashed":
                    told = await self._bring_back(run_id, restarts)
                    summary = replace(summary, alerts=(told, *summary.alerts))
                if summary != last:
                    yield summary
                    last = summary
                await self.wait_for_change(FALLBACK_POLL_S)

    async def _bring_back(self, run_id: str, restarts: Restarts) -> str:
        """Replace a crashed coordinator, or say why not."""
        decision = restarts.decide(time.monotonic())
        if decision == "give up":
            return "the coordinator keeps crashing and is not restarted again; resume goes on with the run"
        if decision == "go":
            try:
                await self.restart_crashed(run_id)
            except (EngineError, JournalError) as error:
                restarts.refused(time.monotonic())
                return f"the coordinator is gone, restart refused: {error}"
            restarts.restarted(time.monotonic())
        return "the coordinator was gone and is restarted"

    async def events(self, run_id: str, after_seq: int = 0, limit: int = 500) -> list[EventView]:
        """Return the run's journal events after a seq, oldest first."""
        reader = await self._opened()
        if reader is None:
            return []
        row = await self._run(run_id)
        found = await reader.events(row.number, after_seq, limit)
        return [
            EventView(e.seq, e.at, e.event.type, e.event.work, e.epoch, e.event.payload[:EVENT_LIMIT]) for e in found
        ]

    async def last_seq(self, run_id: str) -> int:
        """Return the seq of the run's newest event."""
        return (await self._run(run_id)).last_seq

    async def wait_for_change(self, timeout_s: float) -> bool:
        """Return True once somebody may have committed, False after the timeout. A hint: then read what is newer."""
        return await self._watch.wait(timeout_s)

    # --- children --------------------------------------------------------------------------------------------------

    async def children(self, run_id: str, since: Cursor = (0, -1), limit: int = 2000) -> ChildPage:
        """Return children (not the root) that changed after the cursor, oldest change first."""
        reader = await self._opened()
        if reader is None:
            return ChildPage([], since, False)
        row = await self._run(run_id)
        rows = await reader.work_changed(row.number, since, limit)
        cursor = (rows[-1].changed, rows[-1].n) if rows else since
        return ChildPage([child_row(work) for work in rows if work.n], cursor, len(rows) == limit)

    async def child(self, run_id: str, n: int) -> ChildView:
        """Return one child in full; 0 is the root. Raises UserMistake if there is no such child."""
        reader = await self._opened()
        run = await self._run(run_id)
        assert reader is not None
        try:
            work = await reader.work(run.number, n)
        except RunNotFound:
            raise UserMistake(f"run {run_id[:8]} has no child {n}; it has 1 to {run.total}") from None
        return await child_view(reader, run.number, child_row(work), _folder_of(run).logs)

    async def read_log(self, path: str, offset: int = 0, limit: int = 262_144) -> bytes:
        """Return bytes of a log file from an offset; empty at its end or when it is gone."""
        return await asyncio.to_thread(_read_bytes, Path(path), offset, min(limit, LOG_READ_LIMIT_BYTES))

    # --- control ---------------------------------------------------------------------------------------------------

    async def pause(self, run_id: str, by: str = "user", why: str | None = None) -> Acknowledgement:
        """Pause the run. Raises CoordinatorGone, UserMistake."""
        return await self._ask(run_id, "pause", by, why)

    async def stop(
        self, run_id: str, by: str = "user", why: str | None = None, *, now: bool = False
    ) -> Acknowledgement:
        """Stop the run, resumable; ``now`` skips the grace. Raises CoordinatorGone, UserMistake."""
        row = await self._run(run_id)
        if row.status in ACTIVE_STATUSES and not _coordinator_of(row).alive:
            return await self._start(row, "stop")
        return await self._ask(run_id, "stop", by, why, now=now)

    async def set_workers(self, run_id: str, count: int, by: str = "user") -> Acknowledgement:
        """Change how many workers a live run has. Raises CoordinatorGone, UserMistake."""
        if not 1 <= count <= 1024:
            raise UserMistake(f"workers must be 1 to 1024, not {count}")
        return await self._ask(run_id, "workers", by, None, count=count)

    async def cancel(self, run_id: str, by: str = "user", why: str | None = None) -> Acknowledgement:
        """End the run for good, also one that no coordinator works on. Raises CoordinatorGone, UserMistake."""
        row = await self._run(run_id)
        if row.ended_at is None and not _coordinator_of(row).alive:
            return await self._start(row, "cancel")
        return await self._ask(run_id, "cancel", by, why)

    async def retry(self, run_id: str, *, accept_code: bool = False) -> Acknowledgement:
        """Try again what has failed, exactly that, in a run that has ended or is stopped.

        Raises UserMistake while the run goes on, or if nothing has failed; ChangedCode.
        """
        row = await self._run(run_id)
        if _coordinator_of(row).alive:
            raise UserMistake(
                f"run {run_id[:8]} still goes on; what failed can be retried once it has ended or is stopped"
            )
        if row.status == "cancelled":
            raise UserMistake(f"run {run_id[:8]} was cancelled, which is final")
        count = row.failed
        told = await self._start(row, "retry", accept_code=accept_code)
        if not count:
            return Acknowledgement(told.control, told.status, "the failed root run is tried again")
        return Acknowledgement(
            told.control, told.status, f"{count} failed {'child' if count == 1 else 'children'} tried again"
        )

    async def resume(
        self, run_id: str, by: str = "user", why: str | None = None, *, accept_code: bool = False
    ) -> Acknowledgement:
        """Go on: in place if a coordinator is there, else with a new one.

        Raises ChangedCode, RunElsewhere, UserMistake.
        """
        deadline = time.monotonic() + RESUME_LIMIT_S
        while True:
            row = await self._run(run_id)
            if row.ended_at is not None:
                raise UserMistake(f"run {run_id[:8]} has ended: it is {row.status}")
            if not _coordinator_of(row).alive:
                return await self._start(row, "resume", accept_code=accept_code)
            try:
                return await self._ask(run_id, "resume", by, why)
            except (CoordinatorGone, UserMistake):
                # It is stopping, or about to end: then its successor is the one to ask.
                if time.monotonic() > deadline:
                    raise
            await asyncio.sleep(0.05)

    async def restart_crashed(self, run_id: str) -> Acknowledgement:
        """Start a new coordinator for a crashed run; what was wished of it (pause, stop) stays in force."""
        return await self._start(await self._run(run_id), "restart")

    async def _start(self, row: RunRow, intent: Intent, *, accept_code: bool = False) -> Acknowledgement:
        # Late: a screen that only looks need not load what starts processes.
        from .launch import start_coordinator

        folder = _folder_of(row)
        await start_coordinator(self._path, row.run_id, str(folder.path), intent, accept_code=accept_code)
        row = await self._run(row.run_id)
        run = run_view(row, _now_ms(), coordinator_alive=True)
        return Acknowledgement(run.control, run.status, BEGUN[intent])

    async def _ask(
        self, run_id: str, verb: Verb, by: str, why: str | None, *, now: bool = False, count: int | None = None
    ) -> Acknowledgement:
        row = await self._run(run_id)
        if row.ended_at is not None:
            raise UserMistake(f"run {run_id[:8]} has ended: it is {row.status}")
        if not _coordinator_of(row).alive:
            status = run_view(row, _now_ms(), coordinator_alive=False).status
            raise UserMistake(f"run {run_id[:8]} is {status}; 'poolboard resume' goes on with it")
        async with _connect(row) as client:
            answer = await client.control(verb, by, why, now=now, count=count)
        row = await self._run(run_id)
        if not answer.ok:
            raise UserMistake(f"run {run_id[:8]}: {answer.message}")
        run = run_view(row, _now_ms(), _coordinator_of(row).alive)
        return Acknowledgement(run.control, run.status, answer.message)

    # --- reading ---------------------------------------------------------------------------------------------------

    async def _opened(self) -> Reader | None:
        if self._reader is None and self._path.exists():
            self._reader = await Reader.open(self._path)
        return self._reader

    async def _run(self, run_id: str) -> RunRow:
        reader = await self._opened()
        if reader is None:
            raise UnknownRun(f"run {run_id!r} not found: there is no journal at {self._path}")
        try:
            return await reader.run(run_id)
        except RunNotFound:
            raise UnknownRun(f"run {run_id!r} not found in {self._path}") from None

    async def _from_journal(self, row: RunRow) -> Summary:
        reader = await self._opened()
        if reader is None:
            raise JournalUnusable(f"there is no journal at {self._path}")
        stages = await reader.stages(row.number)
        coordinator = _coordinator_of(row)
        run = run_view(row, _now_ms(), coordinator.alive)
        words = _folder_of(row).last_words() if run.status == "crashed" else None
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
        )


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


def _coordinator_of(row: RunRow) -> CoordinatorView:
    """Return who holds the run's lease; alive only if that very process still runs."""
    holder = ProcessIdentity.parse(row.lease_holder) if row.lease_holder else None
    return CoordinatorView(holder.pid if holder else None, row.lease_epoch, holder is not None and holder.is_alive())


def _folder_of(row: RunRow) -> RunFolder:
    # Not through the pydantic model: a list of runs need not load pydantic for one path each.
    return RunFolder(Path(json.loads(row.header)["folder"]))


def _alerts_at_rest(row: RunRow) -> tuple[str, ...]:
    told = trouble(_folder_of(row).path)
    return (told,) if told else ()


def _connect(row: RunRow) -> AbstractAsyncContextManager[Client]:
    """Connect to the run's coordinator. Imported late: most looks at a journal meet no coordinator."""
    from .client import Client

    return Client.connect(_folder_of(row))


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _read_bytes(path: Path, offset: int, limit: int) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(offset)
            return file.read(limit)
    except OSError:
        return b""

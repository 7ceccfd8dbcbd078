"""Passes a person's wishes on: to the run's coordinator, or by starting one for it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from poolboard.journal.model import RunRow

from .errors import CoordinatorGone, UserMistake
from .intent import BEGUN, Intent
from .run_reader import RunReader, coordinator_of, folder_of, now_ms
from .summary import ACTIVE_STATUSES, run_view
from .views import Acknowledgement

if TYPE_CHECKING:
    from .client import Client
    from .wire import ControlAnswer, Verb

#: Longer than a stop may take: its grace, SIGTERM, SIGKILL.
RESUME_LIMIT_S = 30.0


class Asking(RunReader):
    """A reader that can also ask; every verb may be said twice."""

    async def pause(self, run_id: str, by: str = "user", why: str | None = None) -> Acknowledgement:
        """Pause the run. Raises CoordinatorGone, UserMistake."""
        return await self._ask(run_id, "pause", by, why)

    async def stop(
        self, run_id: str, by: str = "user", why: str | None = None, *, now: bool = False
    ) -> Acknowledgement:
        """Stop the run, resumable; ``now`` skips the grace. Raises CoordinatorGone, UserMistake."""
        row = await self.row(run_id)
        if row.status in ACTIVE_STATUSES and not coordinator_of(row).alive:
            return await self._start(row, "stop")
        return await self._ask(run_id, "stop", by, why, now=now)

    async def set_workers(self, run_id: str, count: int, by: str = "user") -> Acknowledgement:
        """Change how many workers a live run has. Raises CoordinatorGone, UserMistake."""
        if not 1 <= count <= 1024:
            raise UserMistake(f"workers must be 1 to 1024, not {count}")
        return await self._ask(run_id, "workers", by, None, count=count)

    async def cancel(self, run_id: str, by: str = "user", why: str | None = None) -> Acknowledgement:
        """End the run for good, also one that no coordinator works on. Raises CoordinatorGone, UserMistake."""
        row = await self.row(run_id)
        if row.ended_at is None and not coordinator_of(row).alive:
            return await self._start(row, "cancel")
        return await self._ask(run_id, "cancel", by, why)

    async def retry(self, run_id: str, *, accept_code: bool = False) -> Acknowledgement:
        """Try again what has failed, exactly that, in a run that has ended or is stopped.

        Raises UserMistake while the run goes on, or if nothing has failed; ChangedCode.
        """
        row = await self.row(run_id)
        if coordinator_of(row).alive:
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
            row = await self.row(run_id)
            if row.ended_at is not None:
                raise UserMistake(f"run {run_id[:8]} has ended: it is {row.status}")
            if not coordinator_of(row).alive:
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
        return await self._start(await self.row(run_id), "restart")

    async def _start(self, row: RunRow, intent: Intent, *, accept_code: bool = False) -> Acknowledgement:
        # Late: a screen that only looks need not load what starts processes.
        from .launch import start_coordinator

        folder = folder_of(row)
        await start_coordinator(self._path, row.run_id, str(folder.path), intent, accept_code=accept_code)
        row = await self.row(row.run_id)
        run = run_view(row, now_ms(), coordinator_alive=True)
        return Acknowledgement(run.control, run.status, BEGUN[intent])

    async def _ask(
        self, run_id: str, verb: Verb, by: str, why: str | None, *, now: bool = False, count: int | None = None
    ) -> Acknowledgement:
        return await self._wish(run_id, lambda client: client.control(verb, by, why, now=now, count=count))

    async def _wish(self, run_id: str, say: Callable[[Client], Awaitable[ControlAnswer]]) -> Acknowledgement:
        row = await self.row(run_id)
        if row.ended_at is not None:
            raise UserMistake(f"run {run_id[:8]} has ended: it is {row.status}")
        if not coordinator_of(row).alive:
            status = run_view(row, now_ms(), coordinator_alive=False).status
            raise UserMistake(f"run {run_id[:8]} is {status}; 'poolboard resume' goes on with it")
        async with connect(row) as client:
            answer = await say(client)
        row = await self.row(run_id)
        if not answer.ok:
            raise UserMistake(f"run {run_id[:8]}: {answer.message}")
        run = run_view(row, now_ms(), coordinator_of(row).alive)
        return Acknowledgement(run.control, run.status, answer.message)


def connect(row: RunRow) -> AbstractAsyncContextManager[Client]:
    """Connect to the run's coordinator. Imported late: most looks at a journal meet no coordinator."""
    from .client import Client

    return Client.connect(folder_of(row))

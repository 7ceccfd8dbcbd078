"""Passes a person's wishes on: to the run's coordinator, or by starting one for it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from poolboard.journal.model import RunRow

from .errors import CoordinatorGone, UserMistake
from .intent import BEGUN, Errand
from .ranges import ranges_of
from .run_reader import RunReader, coordinator_of, folder_of
from .summary import ACTIVE_STATUSES, run_view
from .views import WHOLE, Acknowledgement, Part
from .wish import SIZES, Wish, size_mistake

if TYPE_CHECKING:
    from .client import Client
    from .wire import ControlAnswer

#: Longer than a stop may take: its grace, SIGTERM, SIGKILL.
RESUME_LIMIT_S = 30.0


class Asking(RunReader):
    """A reader that can also ask; every verb may be said twice."""

    async def pause(
        self, run_id: str, by: str = "user", why: str | None = None, *, part: Part = WHOLE
    ) -> Acknowledgement:
        """Pause the run or a part of it. Raises CoordinatorGone, UserMistake."""
        return await self._ask(run_id, Wish("pause", by, why, part=part))

    async def stop(
        self, run_id: str, by: str = "user", why: str | None = None, *, now: bool = False, part: Part = WHOLE
    ) -> Acknowledgement:
        """Stop the run or a part of it, resumable; ``now`` skips the grace. Raises CoordinatorGone, UserMistake."""
        row = await self.row(run_id)
        if part == WHOLE and row.status in ACTIVE_STATUSES and not coordinator_of(row).alive:
            return await self._start(row, Errand("stop", by, why))
        return await self._ask(run_id, Wish("stop", by, why, now=now, part=part))

    async def set_workers(self, run_id: str, count: int, by: str = "user", why: str | None = None) -> Acknowledgement:
        """Change how many workers a live run has. Raises CoordinatorGone, UserMistake."""
        return await self._ask(run_id, Wish("workers", by, why, count=count))

    async def set_slots(self, run_id: str, count: int, by: str = "user", why: str | None = None) -> Acknowledgement:
        """Change how many slots each worker of a live run has. Raises CoordinatorGone, UserMistake."""
        return await self._ask(run_id, Wish("slots", by, why, count=count))

    async def set_concurrency(
        self, run_id: str, count: int, by: str = "user", why: str | None = None
    ) -> Acknowledgement:
        """Bound how many runs hold a slot at once; 0 lifts the bound. Raises CoordinatorGone, UserMistake."""
        return await self._ask(run_id, Wish("concurrency", by, why, count=count))

    async def cancel(
        self, run_id: str, by: str = "user", why: str | None = None, *, part: Part = WHOLE
    ) -> Acknowledgement:
        """End the run for good, also one that no coordinator works on; or children of a live one.

        Raises CoordinatorGone, UserMistake.
        """
        row = await self.row(run_id)
        if part == WHOLE and row.ended_at is None and not coordinator_of(row).alive:
            return await self._start(row, Errand("cancel", by, why))
        return await self._ask(run_id, Wish("cancel", by, why, part=part))

    async def retry(
        self,
        run_id: str,
        by: str = "user",
        why: str | None = None,
        *,
        only: Collection[int] | None = None,
        accept_code: bool = False,
    ) -> Acknowledgement:
        """Try again what has failed, or exactly those of ``only``.

        While the run goes on that is possible for children whose parents still wait for others of the same call.
        Raises UserMistake if there is nothing to try again, ChangedCode.
        """
        row = await self.row(run_id)
        if row.status == "cancelled":
            raise UserMistake(f"run {run_id[:8]} was cancelled, which is final")
        ranges = [] if only is None else ranges_of(only)
        if only is not None and not ranges:
            raise UserMistake(f"run {run_id[:8]}: no failed child is among those that were chosen")
        if coordinator_of(row).alive and row.ended_at is None:
            return await self._ask(run_id, Wish("retry", by, why, part=Part(children=tuple(ranges))))
        count = row.failed if only is None else len(set(only))
        told = await self._start(row, Errand("retry", by, why, accept_code=accept_code, only=ranges))
        if not count:
            return Acknowledgement(told.control, told.status, "the failed root run is tried again")
        return Acknowledgement(
            told.control, told.status, f"{count} failed {'child' if count == 1 else 'children'} tried again"
        )

    async def resume(
        self,
        run_id: str,
        by: str = "user",
        why: str | None = None,
        *,
        part: Part = WHOLE,
        accept_code: bool = False,
        budget: Mapping[str, float] | None = None,
    ) -> Acknowledgement:
        """Go on: in place if a coordinator is there, else with a new one; a ``part`` of a live run in place only.

        ``budget`` changes limits of the run, or of each child that is named, by name; 0 lifts one. Raises ChangedCode,
        RunElsewhere, UserMistake.
        """
        if part != WHOLE:
            return await self._ask(run_id, Wish("resume", by, why, part=part, budget=dict(budget or {})))
        deadline = time.monotonic() + RESUME_LIMIT_S
        wish = Wish("resume", by, why, budget=dict(budget or {}))
        while True:
            row = await self.row(run_id)
            if row.ended_at is not None:
                raise UserMistake(f"run {run_id[:8]} has ended: it is {row.status}")
            if not coordinator_of(row).alive:
                return await self._start(row, Errand("resume", by, why, accept_code=accept_code, budget=wish.budget))
            try:
                return await self._ask(run_id, wish)
            except (CoordinatorGone, UserMistake) as error:
                # It is stopping, or about to end: then its successor is the one to ask.
                if time.monotonic() > deadline or "budget" in str(error):
                    raise
            await asyncio.sleep(0.05)

    async def restart_crashed(self, run_id: str) -> Acknowledgement:
        """Start a new coordinator for a crashed run; what was wished of it (pause, stop) stays in force."""
        return await self._start(await self.row(run_id), Errand("restart"))

    async def _start(self, row: RunRow, errand: Errand) -> Acknowledgement:
        # Late: a screen that only looks need not load what starts processes.
        from .launch import start_coordinator

        folder = folder_of(row)
        await start_coordinator(self._path, row.run_id, str(folder.path), errand)
        row = await self.row(row.run_id)
        run = run_view(row, coordinator_alive=True)
        return Acknowledgement(run.control, run.status, BEGUN[errand.intent])

    async def _ask(self, run_id: str, wish: Wish) -> Acknowledgement:
        if wish.verb in SIZES and (mistake := size_mistake(wish.verb, wish.count or 0)) is not None:
            raise UserMistake(mistake)
        return await self._wish(run_id, lambda client: client.control(wish))

    async def _wish(self, run_id: str, say: Callable[[Client], Awaitable[ControlAnswer]]) -> Acknowledgement:
        row = await self.row(run_id)
        if row.ended_at is not None:
            raise UserMistake(f"run {run_id[:8]} has ended: it is {row.status}")
        if not coordinator_of(row).alive:
            status = run_view(row, coordinator_alive=False).status
            raise UserMistake(f"run {run_id[:8]} is {status}; 'poolboard resume' goes on with it")
        async with connect(row) as client:
            answer = await say(client)
        row = await self.row(run_id)
        if not answer.ok:
            raise UserMistake(f"run {run_id[:8]}: {answer.message}")
        run = run_view(row, coordinator_of(row).alive)
        return Acknowledgement(run.control, run.status, answer.message)


def connect(row: RunRow) -> AbstractAsyncContextManager[Client]:
    """Connect to the run's coordinator. Imported late: most looks at a journal meet no coordinator."""
    from .client import Client

    return Client.connect(folder_of(row))

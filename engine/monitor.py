"""The only door for screens and the command line: reads a journal, follows coordinators, passes wishes on.

Read-only towards the journal, and it never runs user code. What has no coordinator is told from the journal alone.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import replace

from poolboard.journal.errors import JournalError

from .asking import connect
from .errors import CoordinatorGone, EngineError
from .restarts import Restarts
from .run_reader import child_row, coordinator_of
from .talking import Talking
from .views import Summary

__all__ = ["Monitor", "child_row"]

FALLBACK_POLL_S = 1.0


class Monitor(Talking):
    """Reads one journal in short snapshots; holds no lock, writes nothing."""

    async def status(self, run_id: str) -> Summary:
        """Return the run's summary: from its coordinator if that answers, else from the journal."""
        row = await self.row(run_id)
        if coordinator_of(row).alive:
            try:
                async with connect(row) as client:
                    async for summary in client.summaries(interval_s=1.0):
                        return summary
            except CoordinatorGone:
                pass
        return await self.from_journal(await self.row(run_id))

    async def follow(self, run_id: str, *, interval_s: float = 0.1, restart: bool = False) -> AsyncIterator[Summary]:
        """Yield a summary at once and then whenever something changed, at most every ``interval_s``; never ends.

        While no coordinator is there the summaries come from the journal, and ``coordinator.alive`` is False. With
        ``restart`` a coordinator that crashes meanwhile is replaced, 3 times in 60 s at most; an alert says what was
        tried. A run that was found crashed is left alone: whoever only looks at it has not asked for it to go on.
        """
        last: Summary | None = None
        restarts, seen_alive = Restarts(), False
        while True:
            row = await self.row(run_id)
            if coordinator_of(row).alive:
                try:
                    async with connect(row) as client:
                        async for summary in client.summaries(interval_s):
                            seen_alive = True
                            yield summary
                            last = summary
                except CoordinatorGone:
                    await asyncio.sleep(interval_s)
                row = await self.row(run_id)
            if not coordinator_of(row).alive:
                summary = await self.from_journal(row)
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

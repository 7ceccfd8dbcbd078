"""Watches what a run uses against its budget; the limits are a setting in the journal, the amounts kept counters."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import partial

from poolboard.journal import queue
from poolboard.journal.sqlite import SqliteJournal

from . import budget
from .child_budgets import ChildBudgets
from .control import Refusal
from .dispatch import Dispatcher
from .payload import dumps
from .scopes import Scopes
from .summary import run_view

SETTING = "budget"
#: How often the elapsed time is looked at.
LOOK_S = 0.5
#: Between two looks, however much is used.
PAUSE_S = 0.05


class Spending:
    """The budget of one run; ``on_exhausted`` gets the reason, and may hear it again."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        journal: SqliteJournal,
        limits: Mapping[str, float],
        on_exhausted: Callable[[str], Awaitable[None]],
        scopes: Scopes,
    ) -> None:
        self._dispatcher, self._journal, self._on_exhausted = dispatcher, journal, on_exhausted
        self.limits: dict[str, float] = dict(limits)
        #: What the run's children may use, each with all below it.
        self.children = ChildBudgets(dispatcher, journal, scopes)
        dispatcher.on_cost = self.touch
        self.used: dict[str, float] = {}
        self._due = asyncio.Event()

    async def load(self) -> None:
        """Take the limits that were changed under an earlier coordinator, and what is used."""
        wished = await self._journal.reader.setting(self._dispatcher.lease.number, SETTING)
        if wished is not None:
            self.limits = json.loads(wished)
        await self.measure()

    async def check(self, wished: Mapping[str, float] | None, forgiven: int = 0) -> dict[str, float]:
        """Return the limits with the wished ones put in; raises Refusal if the run could still not go on.

        ``forgiven`` failed children are about to be tried again.
        """
        after = budget.changed(self.limits, wished or {})
        await self.measure()
        used = self.used | {budget.FAILURES: self.used[budget.FAILURES] - forgiven}
        if (reason := budget.exhausted(after, used)) is not None:
            raise Refusal(f"{reason}; give it more: poolboard resume RUN {budget.advice(after, used)}")
        return after

    async def change(self, wished: Mapping[str, float] | None, by: str, why: str | None) -> None:
        """Put other limits in force; raises Refusal if the run could still not go on."""
        after = await self.check(wished)
        if after != self.limits:
            value = dumps(after)
            await self._dispatcher.recorder.record(
                partial(queue.set_setting, lease=self._dispatcher.lease, name=SETTING, value=value, by=by, why=why)
            )
            self.limits = after
            self.touch()

    async def measure(self) -> None:
        """Read what is used: a few kept numbers, however large the run is."""
        lease = self._dispatcher.lease
        row = await self._journal.get_run(lease.run_id)
        elapsed_s = run_view(row, coordinator_alive=True).elapsed_s
        usage = await self._journal.reader.usage(lease.number)
        self.used = {budget.DURATION: elapsed_s, budget.FAILURES: row.failed, **usage}

    async def failed(self) -> Collection[int]:
        """Return every work item that has failed."""
        return await self._journal.reader.failed(self._dispatcher.lease.number)

    def touch(self, n: int = 0) -> None:
        """Something was used by work item n: look soon."""
        self.children.touch(n)
        self._due.set()

    async def watch(self) -> None:
        """Look whenever something was used, and every LOOK_S where time is limited; for ever."""
        while True:
            if self.limits:
                await self.measure()
                if (reason := budget.exhausted(self.limits, self.used)) is not None:
                    await self._on_exhausted(reason)
            await self.children.look()
            timed = budget.DURATION in self.limits or self.children.timed
            try:
                async with asyncio.timeout(LOOK_S if timed else None):
                    await self._due.wait()
            except TimeoutError:
                pass
            self._due.clear()
            await asyncio.sleep(PAUSE_S)

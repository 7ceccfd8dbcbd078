"""Budgets of children: what a child with everything below it may use, and holding back who has used it up.

The limits are in the journal, and so is what was used. A child that has used up its budget is held in the pool's own
name, as a person would hold it: it parks at its next stage boundary, and so does all that is below it.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial

from poolboard.journal import child_budgets, queue
from poolboard.journal.sqlite import SqliteJournal

from . import budget
from .control import OWN_NAME, Refusal
from .dispatch import Dispatcher
from .payload import dumps
from .ranges import ranges_of, told
from .scopes import Scopes
from .summary import run_view

#: The setting that keeps the elapsed times of children while nobody works on the run.
TIMES = "child times"
#: Alerts about children that a summary shows.
SHOWN = 5

Limits = dict[str, float]


class ChildBudgets:
    """The budgets of one run's children. A look costs what was used since the last one, not what there is."""

    def __init__(self, dispatcher: Dispatcher, journal: SqliteJournal, scopes: Scopes) -> None:
        self._dispatcher, self._journal, self._scopes = dispatcher, journal, scopes
        self._limits: dict[int, Limits] = {}
        #: How long children with a limit of that have been at work, in s; kept here, for it moves all the time.
        self._elapsed: dict[int, float] = {}
        self._looked_at = time.monotonic()
        self._due: dict[int, None] = {}
        self._near: dict[int, list[str]] = {}
        self._blocked: dict[int, str] = {}
        #: A look must not hold a child back by limits that a person replaces meanwhile.
        self._judging = asyncio.Lock()

    @property
    def timed(self) -> bool:
        """Whether the elapsed time of any child is limited."""
        return bool(self._elapsed)

    async def load(self, unsettled: Collection[int]) -> None:
        """Take what an earlier coordinator left; ``unsettled`` are the work items that have not ended."""
        reader, run = self._journal.reader, self._dispatcher.lease.number
        for ranges, limits in await reader.child_budgets.changes(run):
            self.grant([n for first, last in ranges for n in range(first, last + 1) if n in unsettled], limits)
        if not self._limits:
            return
        await self._load_times()
        charged = await reader.child_budgets.charged(run)
        self._due |= {n: None for n, limits in self._limits.items() if n in charged or budget.FAILURES in limits}
        for hold in self._scopes.holds.values():
            if hold.scope == "child" and hold.by == OWN_NAME:
                self._blocked[int(hold.name)] = hold.why or ""

    def grant(self, children: Iterable[int], limits: Mapping[str, float]) -> None:
        """These children may use that from now on, which is recorded."""
        shared = dict(limits)
        for n in children:
            self._follow()
            # One whose limits were lifted stays: its parent's call, made again on replay, must not bring them back.
            self._limits[n] = shared
            if budget.DURATION in limits:
                self._elapsed.setdefault(n, 0.0)
            else:
                self._elapsed.pop(n, None)

    def grant_new(self, children: Iterable[int], limits: Mapping[str, float]) -> None:
        """A call asked for these children with that budget; who was there before keeps what it has."""
        self.grant([n for n in children if n not in self._limits], limits)

    def touch(self, n: int) -> None:
        """Something was used by n, or below it."""
        if not self._limits:
            return
        for above in self._above(n):
            if above in self._limits:
                self._due[above] = None

    async def look(self) -> None:
        """Hold back every child that has used up its budget."""
        self._count_time()
        due, self._due = self._due, {}
        for n in due:
            async with self._judging:
                await self._judge(n)

    async def _judge(self, n: int) -> None:
        if not (limits := self._limits.get(n)):
            return
        used = await self._used(n, limits)
        if n not in self._dispatcher.pool.items:
            return  # it has ended
        self._near[n] = budget.warnings(limits, used)
        if (reason := budget.exhausted(limits, used)) is not None and n not in self._blocked:
            await self._block(n, reason)

    async def change(self, children: Collection[int], wished: Mapping[str, float], by: str, why: str | None) -> str:
        """Give these children other limits, none where nothing is wished; raises Refusal for one that is used up.

        Returns a sentence about what was changed, empty if nothing was.
        """
        async with self._judging:
            return await self._change(children, wished, by, why)

    async def _change(self, children: Collection[int], wished: Mapping[str, float], by: str, why: str | None) -> str:
        pool = self._dispatcher.pool
        after = {n: budget.changed(self._limits.get(n, {}), wished) for n in children if n in pool.items}
        for n, limits in after.items():
            used = await self._used(n, limits)
            if limits and (reason := budget.exhausted(limits, used)) is not None:
                raise Refusal(
                    f"child {n}: {reason}; give it more: poolboard resume RUN --child {n} {budget.advice(limits, used)}"
                )
        changed = {n: limits for n, limits in after.items() if limits != self._limits.get(n, {})}
        for text in dict.fromkeys(dumps(limits) for limits in changed.values()):
            alike = [n for n, limits in changed.items() if dumps(limits) == text]
            member = partial(
                child_budgets.limit_children,
                lease=self._dispatcher.lease,
                children=ranges_of(alike),
                limits=json.loads(text),
                by=by,
                why=why,
            )
            await self._dispatcher.recorder.record(member)
        for n, limits in changed.items():
            self.grant([n], limits)
        for n in after:
            self._blocked.pop(n, None)
            self._due[n] = None
        return f"another budget for {_children(sorted(changed))}" if changed else ""

    def alerts(self) -> list[str]:
        """Return a sentence for each child that is blocked, or near its budget's end: the first few, and how many."""
        held = [n for n in self._blocked if ("child", str(n)) in self._scopes.holds]
        near = [(n, line) for n, lines in self._near.items() if n not in self._blocked for line in lines]
        shown = [f"child {n} is blocked: {self._blocked[n]}; resume it with more" for n in held[:SHOWN]]
        shown += [f"child {n}: {line}" for n, line in near[: SHOWN - len(shown)]]
        left = len(held) + len(near) - len(shown)
        return shown + ([f"{left} more about budgets of children"] if left else [])

    async def keep_times(self) -> None:
        """The coordinator winds up: write down how long children were at work, for its successor."""
        if not self._elapsed:
            return
        self._count_time()
        lease = self._dispatcher.lease
        row = await self._journal.get_run(lease.run_id)
        value = {"at_s": run_view(row, coordinator_alive=True).elapsed_s, "elapsed_s": self._elapsed}
        await self._dispatcher.recorder.record(
            partial(queue.set_setting, lease=lease, name=TIMES, value=dumps(value), by=OWN_NAME)
        )

    async def _load_times(self) -> None:
        """Take the times that were kept; where the last coordinator died, all that the run has worked since counts."""
        if not self._elapsed:
            return
        lease, reader = self._dispatcher.lease, self._journal.reader
        kept = json.loads(await reader.setting(lease.number, TIMES) or '{"at_s":0,"elapsed_s":{}}')
        row = await self._journal.get_run(lease.run_id)
        since_s = max(0.0, run_view(row, coordinator_alive=True).elapsed_s - kept["at_s"])
        for n in self._elapsed:
            work = await reader.work(lease.number, n)
            if work is not None and work.started_at is not None:
                began_s = max(0.0, (row.read_at - work.started_at) / 1000)
                self._elapsed[n] = kept["elapsed_s"].get(str(n), 0.0) + min(since_s, began_s)
        self._looked_at = time.monotonic()

    def _count_time(self) -> None:
        """Add what has passed since the last look to every child that is at work."""
        now = time.monotonic()
        passed_s, self._looked_at = now - self._looked_at, now
        pool = self._dispatcher.pool
        if pool.control != "running":
            return
        for n in self._elapsed:
            item = pool.items.get(n)
            if item is not None and item.state in ("active", "waiting") and not pool.holds.covers(item):
                self._elapsed[n] += passed_s
                self._due[n] = None

    async def _used(self, n: int, limits: Mapping[str, float]) -> Limits:
        reader, run = self._journal.reader, self._dispatcher.lease.number
        used: Limits = dict(await reader.usage(run, n))
        if budget.FAILURES in limits:
            used[budget.FAILURES] = await reader.child_budgets.failed_below(run, n)
        return used | {budget.DURATION: self._elapsed.get(n, 0.0)}

    async def _block(self, n: int, reason: str) -> None:
        try:
            await self._scopes.hold(n, OWN_NAME, reason)
        except Refusal:
            return  # the run is stopping: its successor looks again
        self._blocked[n] = reason

    def _follow(self) -> None:
        """From the first budget on, hear of ends; a run without any pays nothing."""
        if self._settled not in self._dispatcher.on_settled:
            self._dispatcher.on_settled.append(self._settled)

    def _settled(self, n: int) -> None:
        # Its limits stay: it may have failed, and be tried again.
        for table in (self._elapsed, self._due, self._near, self._blocked):
            table.pop(n, None)

    def _above(self, n: int) -> Iterable[int]:
        """Yield n and everything above it but the root."""
        items = self._dispatcher.pool.items
        while n > 0:
            yield n
            item = items.get(n)
            n = item.group[0] if item is not None else 0


def _children(numbers: Sequence[int]) -> str:
    return f"{'child' if len(numbers) == 1 else 'children'} {told(numbers)}"

"""Pulls from the monitor and posts what it read: one request outstanding at a time, nothing asked for that nobody sees.

A pull can never outrun the screen: the next one is sent when the last was taken in. Each feed is a coroutine that ends
only by cancellation; a failed read keeps the last data on screen, is told once, and is tried again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from textual.message import Message

from poolboard.engine.errors import UserMistake
from poolboard.engine.views import Cursor
from poolboard.journal.states import SETTLED_WORK

from .clock import Clock
from .glyphs import ACTIVE
from .messages import ChildRead, ChildrenRead, EventsRead, FeedTrouble, FeedWell, MessagesRead, RunsRead, SummaryRead
from .pace import Pace, backoff_s
from .source import Source

_PAGE: Final = 2000
#: Where nothing was read yet.
NOTHING: Final[Cursor] = (0, 0)
_IDLE_S: Final = 30.0
#: Events of one read, and how far behind the journal a list of them may fall.
_EVENTS_AT_ONCE: Final = 500
_MOST_BEHIND: Final = 2000
_LIVE_RUNS_S: Final = 1.0
_LIVE_CHILD_S: Final = 0.5
#: An ended child can still be retried, but there is no hurry to see it.
_ENDED_S: Final = 2.0

Post = Callable[[Message], object]


class Feed:
    """Feeds one part of one screen; ``post`` is the screen's ``post_message``."""

    def __init__(self, monitor: Source, post: Post, clock: Clock, pace: Pace) -> None:
        self._monitor: Final = monitor
        self._post: Final = post
        self._clock: Final = clock
        self._pace: Final = pace
        self._again = asyncio.Event()
        self._failures = 0

    def refresh(self) -> None:
        """Read again now, without waiting for a change."""
        self._again.set()

    async def runs(self) -> None:
        """Post the list of root runs whenever the journal changed, and every second while one is running."""

        async def read() -> None:
            runs = await self._monitor.runs()
            self._post(RunsRead(runs))
            live = any(run.status in ACTIVE for run in runs)
            await self._changed(_LIVE_RUNS_S if live else _IDLE_S, _LIVE_RUNS_S)

        await self._for_ever(read)

    async def run(self, run_id: str, *, restart: bool = False) -> None:
        """Post summaries of one run, and after each the children that changed.

        With ``restart`` a coordinator that crashes is replaced; the summary's alerts say what was tried.
        """
        cursor = NOTHING
        stamp = -1

        async def follow() -> None:
            nonlocal cursor, stamp
            async for summary in self._monitor.follow(run_id, interval_s=self._pace.interval_s, restart=restart):
                began = self._clock.steady_s()
                self._well()
                self._post(SummaryRead(summary))
                if summary.stamp != stamp:
                    cursor = await self._children(run_id, cursor)
                    stamp = summary.stamp
                await asyncio.sleep(self._pace.rest_s(self._clock.steady_s() - began) - self._pace.interval_s)

        await self._for_ever(follow)

    async def _children(self, run_id: str, cursor: Cursor) -> Cursor:
        more = False
        while True:
            page = await self._monitor.children(run_id, cursor, _PAGE)
            if page.rows or more or cursor == NOTHING:  # an empty last page, too: it says that all has been read
                self._post(ChildrenRead(page.rows, page.more))
            cursor, more = page.cursor, page.more
            if not more:
                return cursor
            await asyncio.sleep(0)  # keys first: a long first load must not hold the loop

    async def child(self, run_id: str, n: int) -> None:
        """Post one child again whenever the journal changed."""

        async def read() -> None:
            child = await self._monitor.child(run_id, n)
            waits = await self._monitor.why(run_id, n) if child.row.state == "waiting" else ""
            self._post(ChildRead(child, waits))
            await self._changed(_IDLE_S, _ENDED_S if child.row.state in SETTLED_WORK else _LIVE_CHILD_S)

        await self._for_ever(read)

    async def events(self, run_id: str) -> None:
        """Post the run's newest events, then newer ones; far behind it leaves out what nobody could read."""
        after_seq = -1

        async def read() -> None:
            nonlocal after_seq
            last_seq = await self._monitor.last_seq(run_id)
            if after_seq < 0 or last_seq - after_seq > _MOST_BEHIND:
                after_seq = max(0, last_seq - _EVENTS_AT_ONCE)
            events = await self._monitor.events(run_id, after_seq, _EVENTS_AT_ONCE)
            if events:
                after_seq = events[-1].seq
            self._post(EventsRead(events, max(last_seq, after_seq)))
            if len(events) < _EVENTS_AT_ONCE:
                await self._changed(_IDLE_S, self._pace.lists_s)
            else:
                await asyncio.sleep(self._pace.interval_s)

        await self._for_ever(read)

    async def messages(self, run_id: str) -> None:
        """Post the run's newest messages whenever the journal changed."""

        async def read() -> None:
            self._post(MessagesRead(await self._monitor.messages(run_id)))
            await self._changed(_IDLE_S, self._pace.lists_s)

        await self._for_ever(read)

    # -- inside

    async def _changed(self, timeout_s: float, least_s: float) -> None:
        """Wait for a change of the journal (or ``refresh``), but at least ``least_s``: changes come in swarms."""
        if await self._wait(least_s):
            return
        again = asyncio.ensure_future(self._again.wait())
        change = asyncio.ensure_future(self._monitor.wait_for_change(timeout_s))
        try:
            await asyncio.wait({again, change}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            again.cancel()
            change.cancel()
            await asyncio.gather(again, change, return_exceptions=True)
        self._again.clear()

    async def _wait(self, seconds: float) -> bool:
        """Wait so long, or until ``refresh``; say whether it was that."""
        try:
            await asyncio.wait_for(self._again.wait(), seconds)
        except TimeoutError:
            return False
        self._again.clear()
        return True

    def _well(self) -> None:
        if self._failures:
            self._failures = 0
            self._post(FeedWell())

    async def _for_ever(self, step: Callable[[], Awaitable[None]]) -> None:
        while True:
            try:
                await step()
                self._well()
            except UserMistake as mistake:
                self._post(FeedTrouble(str(mistake), 0.0))
                return  # it does not exist: asking again will not help
            except Exception as error:  # the one reaction to any failed read: say so, keep the data, try again
                self._failures += 1
                retry_s = backoff_s(self._failures)
                self._post(FeedTrouble(f"{type(error).__name__}: {error}", retry_s))
                await self._wait(retry_s)

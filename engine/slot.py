"""A run's slot, as its worker sees it: held while it computes, given back while it only waits.

So nested fan-out cannot deadlock, at any pool size.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from .seats import Seats

#: A run that came back from one wait while it still waits for something else gives its slot back after this long
#: without a stage. Short, so that the slot is not idle; not zero, so that the code between two calls can run first.
IDLE_BEFORE_GIVING_S = 0.02


class Slot:
    """Counts what the run does; asks for a slot (``want``) and returns it (``give``) through the callables given.

    ``held``: as the coordinator knows it. ``lent``: held, but another run of this worker computes in it.
    ``over``: the run has ended, and said so.
    """

    __slots__ = ("_back", "_busy", "_give", "_granted", "_seats", "_waits", "_want", "held", "lent", "over")

    def __init__(self, seats: Seats, give: Callable[[], None], want: Callable[[], None]) -> None:
        self._seats, self._give, self._want = seats, give, want
        self.lent = self.over = False
        self._busy = 0
        self._waits = 0
        self._granted: asyncio.Future[None] | None = None
        self._back: asyncio.Future[None] | None = None
        self.held = False

    def open(self) -> None:
        """The run has its slot."""
        self.held = True
        self._seats.take()

    def lend(self) -> None:
        """The run computes nothing until ``take_back``: its only stage is over and is being recorded."""
        if self.held and not self.lent and self._busy == 1:
            self.lent = True
            self._seats.leave()

    def take_back(self) -> None:
        """Compute again, if there is room; else the next stage waits for it."""
        if self.lent and self._seats.free:
            self._sit()

    def _sit(self) -> None:
        self.lent = False
        self._seats.take()
        if self._back is not None:
            self._back.set_result(None)
            self._back = None

    async def _come_back(self) -> None:
        if self._back is None:
            self._back = asyncio.get_running_loop().create_future()
            self._seats.come_back(self, self._sit)
        if self._back is not None:
            await asyncio.shield(self._back)

    async def acquire(self) -> None:
        """Return once the run holds its slot."""
        if self.held:
            return
        if self._granted is None:
            self._granted = asyncio.get_running_loop().create_future()
            self._want()
        await asyncio.shield(self._granted)

    def granted(self) -> None:
        """The coordinator gave the slot."""
        if not self.held and not self.over:
            self.open()
        if self._granted is not None:
            self._granted.set_result(None)
            self._granted = None

    async def begin(self) -> None:
        """Hold the slot for a stage, until ``end``."""
        self._busy += 1
        try:
            await self.acquire()
            if self.lent:
                await self._come_back()
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """The stage is over."""
        self._busy -= 1
        self._look_again()

    @asynccontextmanager
    async def waiting(self) -> AsyncIterator[None]:
        """Wait for something without a slot; on leaving, the run holds one again."""
        self._waits += 1
        try:
            self._give_if_idle()
            yield
            await self.acquire()
        finally:
            self._waits -= 1
            self._look_again()

    def leave(self) -> None:
        """The run has ended: its slot is the next one's, whether or not its end is recorded yet."""
        self.over = True
        if self.held:
            self._part()

    def restate(self) -> None:
        """Tell a new coordinator what still holds."""
        if not self.held and not self.over:
            self._give()
            if self._granted is not None:
                self._want()

    def _look_again(self) -> None:
        if self._waits:
            asyncio.get_running_loop().call_later(IDLE_BEFORE_GIVING_S, self._give_if_idle)

    def _give_if_idle(self) -> None:
        if self.held and self._busy == 0 and self._waits > 0:
            self._give()
            self._part()

    def _part(self) -> None:
        lent, self.held, self.lent = self.lent, False, False
        if lent:
            self._seats.stay_away(self)
        else:
            self._seats.leave()

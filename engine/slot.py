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

    ``over``: the run has ended, and said so.
    """

    __slots__ = ("_busy", "_give", "_granted", "_seats", "_waits", "_want", "held", "over")

    def __init__(self, seats: Seats, give: Callable[[], None], want: Callable[[], None]) -> None:
        self._seats, self._give, self._want = seats, give, want
        self.over = False
        self._busy = 0
        self._waits = 0
        self._granted: asyncio.Future[None] | None = None
        self.held = False

    def open(self) -> None:
        """The run has its slot."""
        self.held = True
        self._seats.take()

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
        held, self.held, self.over = self.held, False, True
        if held:
            self._seats.leave()

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
            self.held = False
            self._give()
            self._seats.leave()

"""A run's slot, as its worker sees it: held while it computes, given back while it only waits.

So nested fan-out cannot deadlock, at any pool size.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

#: A run that came back from one wait while it still waits for something else gives its slot back after this long
#: without a stage. Short, so that the slot is not idle; not zero, so that the code between two calls can run first.
IDLE_BEFORE_GIVING_S = 0.02


class Slot:
    """Counts what the run does; asks for a slot (``want``) and returns it (``give``) through the callables given."""

    __slots__ = ("_busy", "_give", "_granted", "_waits", "_want", "held")

    def __init__(self, give: Callable[[], None], want: Callable[[], None]) -> None:
        self._give, self._want = give, want
        self._busy = 0
        self._waits = 0
        self._granted: asyncio.Future[None] | None = None
        self.held = True

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
        self.held = True
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

    def restate(self) -> None:
        """Tell a new coordinator what still holds."""
        if not self.held:
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

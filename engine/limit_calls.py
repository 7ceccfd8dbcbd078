"""What one attempt holds and wants of named limits: asked for over the wire, waited for without a slot."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from . import wire_limits
from .admission_events import Needs
from .channel import Channel
from .errors import LimitError
from .slot import Slot


@dataclass(slots=True)
class OpenClaim:
    """A wish from when it was told to when it is released."""

    needs: Needs
    within: tuple[int, ...]
    what: str
    answer: asyncio.Future[wire_limits.LimitAnswer]
    waits: asyncio.Event = field(default_factory=asyncio.Event)
    held: bool = False


class HeldLimit:
    """What ``async with ctx.limit(…)`` gives."""

    __slots__ = ("_calls", "_names")

    def __init__(self, calls: LimitCalls, names: Sequence[str]) -> None:
        self._calls, self._names = calls, names

    def observe(self, *, retry_after_s: float) -> None:
        """Say that the service wants to be left alone (a 429): everyone who shares these limits waits so long."""
        self._calls.observe(self._names, retry_after_s)


#: The claims that enclose the running code, by number, and what the innermost of them holds.
enclosing: ContextVar[tuple[tuple[int, ...], HeldLimit] | None] = ContextVar("enclosing", default=None)


class LimitCalls:
    """The claims of one attempt. Facts about them are in the coordinator; a new one is told them again."""

    __slots__ = ("_channel", "_claims", "_generation", "_loop", "_n", "_next", "_ready", "_slot")

    def __init__(
        self, n: int, generation: int, channel: Channel, slot: Slot, ready: Callable[[], Awaitable[None]]
    ) -> None:
        self._n, self._generation, self._channel, self._slot = n, generation, channel, slot
        self._ready = ready
        self._loop = asyncio.get_running_loop()
        self._claims: dict[int, OpenClaim] = {}
        self._next = 0

    @asynccontextmanager
    async def hold(self, needs: Needs, what: str) -> AsyncIterator[HeldLimit]:
        """Hold all of it, once the run is to go on. The slot is given back only if there is something to wait for."""
        await self._ready()
        outer = enclosing.get()
        within = outer[0] if outer is not None else ()
        number, self._next = self._next, self._next + 1
        claim = self._claims[number] = OpenClaim(needs, within, what, self._loop.create_future())
        mark = None
        try:
            self._want(number, claim)
            await self._granted(claim)
            held = HeldLimit(self, [name for name, _ in needs])
            mark = enclosing.set(((*within, number), held))
            yield held
        finally:
            if mark is not None:
                enclosing.reset(mark)
            del self._claims[number]
            self._channel.tell(wire_limits.ReleaseLimit(n=self._n, generation=self._generation, claim=number))

    async def _granted(self, claim: OpenClaim) -> None:
        waits = asyncio.ensure_future(claim.waits.wait())
        try:
            await asyncio.wait((claim.answer, waits), return_when=asyncio.FIRST_COMPLETED)
        finally:
            waits.cancel()
        if not claim.answer.done():
            async with self._slot.waiting():
                await claim.answer
        answer = claim.answer.result()
        if answer.state == "refused":
            raise LimitError(answer.reason)
        claim.held = True

    def answered(self, answer: wire_limits.LimitAnswer) -> None:
        """The coordinator said something of a claim."""
        claim = self._claims.get(answer.claim)
        if claim is None or claim.answer.done():
            return
        if answer.state == "waits":
            claim.waits.set()
        else:
            claim.answer.set_result(answer)
            # From here on a new coordinator must count it as held, also before the run has a slot again.
            claim.held = answer.state == "granted"

    def held(self) -> list[wire_limits.HeldLimits]:
        """Return what is held now."""
        return [
            wire_limits.HeldLimits(n=self._n, generation=self._generation, claim=number, needs=list(claim.needs))
            for number, claim in self._claims.items()
            if claim.held
        ]

    def restate(self) -> None:
        """Tell a new coordinator what is waited for; what is held was in the worker's first word."""
        for number, claim in self._claims.items():
            if not claim.answer.done():
                self._want(number, claim)

    def observe(self, names: Sequence[str], retry_after_s: float) -> None:
        """Tell the coordinator, from whichever thread."""
        if not retry_after_s >= 0:
            raise ValueError(f"retry_after_s must be 0 or more, not {retry_after_s!r}")
        told = wire_limits.ObserveLimit(n=self._n, names=list(names), retry_after_s=float(retry_after_s))
        self._loop.call_soon_threadsafe(self._channel.tell, told)

    def _want(self, number: int, claim: OpenClaim) -> None:
        self._channel.tell(
            wire_limits.WantLimit(
                n=self._n,
                generation=self._generation,
                claim=number,
                needs=list(claim.needs),
                within=list(claim.within),
                what=claim.what,
            )
        )


def observe(*, retry_after_s: float) -> None:
    """Say inside a stage or ``ctx.limit`` block that a service wants to be left alone for so long (a 429).

    Everyone who shares the limits that the stage or block needs waits; in all runs, where a limit is shared. Outside
    of any it does nothing, so that a stage's function can be called by itself.
    """
    inner = enclosing.get()
    if inner is not None:
        inner[1].observe(retry_after_s=retry_after_s)

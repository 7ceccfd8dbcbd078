"""What ``ctx.usage`` of one attempt charges: each amount once, however often the run is replayed.

A charge made by the workflow itself has a key of its amounts and their ordinal, as it is made again on replay. One
made inside a stage has a key of this attempt: a stage that was cut off and runs again uses things again.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Mapping
from typing import Protocol

from . import logs, wire
from .budget import OWN_NAMES
from .channel import Channel
from .payload import dumps, fingerprint
from .unanswered import Unanswered

Amounts = Mapping[str, int | float]


class Charged(Protocol):
    """The attempt that is charged, as far as it is needed here."""

    n: int
    generation: int
    sink: logs.LogSink

    @property
    def loop(self) -> asyncio.AbstractEventLoop: ...

    @property
    def channel(self) -> Channel: ...

    async def answered(self, request: asyncio.Future[wire.Recorded]) -> wire.Recorded: ...


class Charges:
    """Sends charges as they are made; the end of the run waits for them."""

    __slots__ = ("_attempt", "_coming", "_in_stages", "_seen", "_under_way")

    def __init__(self, attempt: Charged) -> None:
        self._attempt = attempt
        self._seen: Counter[str] = Counter()
        self._in_stages = 0
        self._coming: deque[tuple[dict[str, int | float], bool]] = deque()
        self._under_way = Unanswered()

    def add(self, amounts: Amounts) -> None:
        """Charge these amounts; from any thread of the worker. Raises ValueError, TypeError for what is no amount."""
        for name, amount in amounts.items():
            if isinstance(amount, bool) or not isinstance(amount, (int, float)):
                raise TypeError(f"ctx.usage: {name} must be a number, not {amount!r}")
            if not 0 <= amount < 1e18:
                raise ValueError(f"ctx.usage: {name} must be from 0 to 1e18, not {amount!r}")
            if name in OWN_NAMES:
                raise ValueError(f"ctx.usage: {name} is counted by Poolboard itself")
        inside = logs.current.get() not in (None, self._attempt.sink)
        # A sync stage is in another thread: what it appends is sent by the loop, before the run's end at the latest.
        self._coming.append((dict(amounts), inside))
        self._attempt.loop.call_soon_threadsafe(self.send)

    def send(self) -> None:
        """Send what is not on its way yet; in the loop only."""
        while self._coming:
            self._send(*self._coming.popleft())

    @property
    def open(self) -> bool:
        """Whether a charge is not known to be recorded yet."""
        return bool(self._coming) or bool(self._under_way)

    async def settle(self) -> None:
        """Return once all charges are recorded; raises what recording raises."""
        self.send()
        await self._under_way.settle(self._attempt.answered)

    def close(self) -> None:
        """Let go of what nobody waits for any more."""
        self._under_way.close()

    def _send(self, amounts: dict[str, int | float], inside: bool) -> None:
        attempt = self._attempt
        if inside:
            self._in_stages += 1
            key = dumps(["usage", "attempt", attempt.generation, self._in_stages])
        else:
            told = fingerprint(amounts)
            key = dumps(["usage", told, self._seen[told]])
            self._seen[told] += 1
        charge = wire.Charge(
            req=attempt.channel.next_req(),
            n=attempt.n,
            generation=attempt.generation,
            key=key,
            amounts=amounts,
        )
        self._under_way.add(attempt.channel.ask(charge))

"""What the coordinator does for screens and the command line: summaries, and wishes answered."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from . import wire
from .control import Refusal
from .peers import Peer
from .views import Summary
from .wishes import Wishes

TICK_S = 0.05


@dataclass(slots=True)
class Subscription:
    """One screen: how often it wants to hear, what it heard last, whether it took that in."""

    interval_s: float
    due: float = 0.0
    seen: bool = True
    last: str = field(default="")


class ClientDesk:
    """Serves screens: at most one summary outstanding for each, none that says nothing new."""

    def __init__(self, wishes: Wishes, summary: Callable[[], Awaitable[Summary]]) -> None:
        self._wishes, self._summary = wishes, summary
        self._subscriptions: dict[Peer, Subscription] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        #: Who grants wishes about limits and prompts: a sentence comes back, or Refusal is raised.
        self.others: dict[type, Callable[[Any], Awaitable[str]]] = {}

    @property
    def watched(self) -> bool:
        """Whether any screen is attached."""
        return bool(self._subscriptions)

    def take(self, peer: Peer, message: wire.AnyMessage) -> None:
        """Handle one message of a client; raises WireError for one that a client does not say."""
        match message:
            case wire.Subscribe(interval_ms=interval_ms):
                self._subscriptions[peer] = Subscription(interval_ms / 1000)
            case wire.Seen():
                if (subscription := self._subscriptions.get(peer)) is not None:
                    subscription.seen = True
            case wire.ControlRequest():
                self._begin(peer, message.req, self._wishes.grant(message))
            case _:
                grant = self.others.get(type(message))
                if grant is None:
                    raise wire.WireError(f"a client does not say {type(message).__name__}")
                self._begin(peer, message.req, grant(message))  # type: ignore[union-attr]

    def lost(self, peer: Peer) -> None:
        """The screen hung up."""
        self._subscriptions.pop(peer, None)

    async def run(self) -> None:
        """Send summaries for ever; cancelled at the end."""
        while True:
            await asyncio.sleep(TICK_S)
            now = time.monotonic()
            due = [(p, s) for p, s in self._subscriptions.items() if s.seen and s.due <= now]
            if due:
                await self.send_to(due, now)

    async def send_to(self, due: list[tuple[Peer, Subscription]], now: float) -> None:
        """Make one summary and send it to those for whom it is news."""
        text = wire.encode_summary(await self._summary())
        for peer, subscription in due:
            subscription.due = now + subscription.interval_s
            if text != subscription.last:
                subscription.last, subscription.seen = text, False
                peer.send(wire.SummaryNews(summary=text))

    async def farewell(self) -> None:
        """Send everyone the last word."""
        await self.send_to(list(self._subscriptions.items()), time.monotonic())

    def _begin(self, peer: Peer, req: int, granted: Awaitable[str]) -> None:
        task = asyncio.ensure_future(self._grant(peer, req, granted))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _grant(self, peer: Peer, req: int, granted: Awaitable[str]) -> None:
        try:
            told, ok = await granted, True
        except Refusal as refusal:
            told, ok = str(refusal), False
        controller = self._wishes.controller
        state, revision = controller.state, controller.revision
        peer.send(wire.ControlAnswer(req=req, ok=ok, message=told, state=state, revision=revision))

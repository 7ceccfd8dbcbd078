"""A screen's or command's connection to one coordinator."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from . import wire
from .errors import CoordinatorGone
from .folder import RunFolder
from .views import Summary
from .wish import Wish

CONNECT_LIMIT_S = 2.0
#: Every wish is acknowledged within this time (SPEC 1.A).
ANSWER_LIMIT_S = 5.0


class Client(asyncio.Protocol):
    """Keeps the newest summary and the answers; raises CoordinatorGone when the coordinator hangs up."""

    def __init__(self) -> None:
        self._transport: asyncio.WriteTransport | None = None
        self._decoder = wire.Decoder()
        self._summary: str | None = None
        self._answers: dict[int, wire.ControlAnswer] = {}
        self._news = asyncio.Event()
        self._next_req = 0

    @classmethod
    @asynccontextmanager
    async def connect(cls, folder: RunFolder) -> AsyncIterator[Client]:
        """Connect to the run's coordinator; raises CoordinatorGone."""
        told = folder.read_coordinator()
        if told is None:
            raise CoordinatorGone("the coordinator has not announced itself")
        client = cls()
        try:
            async with asyncio.timeout(CONNECT_LIMIT_S):
                await asyncio.get_running_loop().create_unix_connection(lambda: client, told.socket)
        except (OSError, TimeoutError) as error:
            raise CoordinatorGone(f"the coordinator does not answer on {told.socket}: {error}") from None
        try:
            client._send(wire.ClientHello())
            yield client
        finally:
            if client._transport is not None:
                client._transport.close()

    async def summaries(self, interval_s: float) -> AsyncIterator[Summary]:
        """Yield summaries as they come, the newest only; raises CoordinatorGone."""
        self._send(wire.Subscribe(interval_ms=max(20, int(interval_s * 1000))))
        while True:
            await self._wait()
            if self._summary is not None:
                text, self._summary = self._summary, None
                yield wire.decode_summary(text)
                self._send(wire.Seen())
            elif self._transport is None:
                raise CoordinatorGone("the coordinator hung up")

    async def control(self, wish: Wish) -> wire.ControlAnswer:
        """Pass a wish on and return the answer; raises CoordinatorGone."""
        part = wish.part
        return await self.wish(
            wish.verb,
            lambda req: wire.ControlRequest(
                req=req,
                verb=wish.verb,
                by=wish.by,
                why=wish.why,
                now=wish.now,
                count=wish.count,
                scope=wire.Scope(children=list(part.children), stage=part.stage, worker=part.worker),
                budget=wish.budget or None,
            ),
        )

    async def wish(self, what: str, of: Callable[[int], wire.Message]) -> wire.ControlAnswer:
        """Send the message that ``of`` makes for a number and return the answer; raises CoordinatorGone."""
        self._next_req += 1
        req = self._next_req
        self._send(of(req))
        try:
            async with asyncio.timeout(ANSWER_LIMIT_S):
                while req not in self._answers:
                    if self._transport is None:
                        raise CoordinatorGone("the coordinator hung up before it answered")
                    await self._wait()
        except TimeoutError:
            raise CoordinatorGone(f"no answer to {what} in {ANSWER_LIMIT_S:g} s") from None
        return self._answers.pop(req)

    async def _wait(self) -> None:
        await self._news.wait()
        self._news.clear()

    def _send(self, message: wire.Message) -> None:
        if self._transport is not None:
            self._transport.write(wire.encode([message]))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        for message in self._decoder.feed(data):
            if isinstance(message, wire.SummaryNews):
                self._summary = message.summary
            elif isinstance(message, wire.ControlAnswer):
                self._answers[message.req] = message
        self._news.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._news.set()

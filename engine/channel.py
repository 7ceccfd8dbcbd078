"""A worker's side of the wire: requests that survive the coordinator, news that need not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from . import wire
from .wire_messages import SendMessage, TakeMessages

#: What is answered once it is durable.
Request = (
    wire.EnqueueChildren | wire.CommitStage | wire.Charge | wire.CompleteRun | wire.FailRun
    | SendMessage | TakeMessages
)  # fmt: skip


class Refusal(Exception):
    """The coordinator refused a request; ``fenced`` says that the whole attempt is over."""

    def __init__(self, reason: str, *, fenced: bool) -> None:
        super().__init__(reason)
        self.fenced = fenced


class Channel(asyncio.Protocol):
    """One connection at a time to the coordinator in office.

    Requests that were not answered are sent again to its successor: each is idempotent in the journal, so an answer
    lost with the old coordinator costs time only. News (``tell``) are not repeated; attempts restate what still holds.
    """

    def __init__(self, on_message: Callable[[wire.AnyMessage], None], on_lost: Callable[[], None]) -> None:
        self._on_message, self._on_lost = on_message, on_lost
        self._transport: asyncio.WriteTransport | None = None
        self._welcomed = False
        self._decoder = wire.Decoder()
        self._out: list[wire.Message] = []
        self._flush_due = False
        self._next_req = 0
        self._open: dict[int, tuple[wire.Message, asyncio.Future[wire.Recorded]]] = {}

    def next_req(self) -> int:
        """Return a number for a request that has not been used in this process."""
        self._next_req += 1
        return self._next_req

    def ask(self, message: Request) -> asyncio.Future[wire.Recorded]:
        """Send a request; the future gets its answer once it is durable, or a Refusal."""
        future: asyncio.Future[wire.Recorded] = asyncio.get_running_loop().create_future()
        self._open[message.req] = (message, future)
        self.tell(message)
        return future

    def tell(self, message: wire.Message) -> None:
        """Send a message with whatever else this pass of the loop has to say; dropped while no coordinator took us in.

        Before the welcome a successor does not know our attempts yet and would take what they say for a stranger's.
        """
        if self._transport is None or not self._welcomed:
            return
        self._out.append(message)
        if not self._flush_due:
            self._flush_due = True
            asyncio.get_running_loop().call_soon(self._flush)

    def introduce(self, hello: wire.WorkerHello) -> None:
        """Say hello; nothing else goes out until ``welcomed``."""
        if self._transport is not None:
            self._transport.write(wire.encode([hello]))

    def welcomed(self) -> None:
        """Start to talk: every request without an answer goes out again, in the order of the first time."""
        self._welcomed = True
        for message, future in list(self._open.values()):
            if not future.done():
                self.tell(message)

    def _flush(self) -> None:
        self._flush_due = False
        if self._transport is not None and self._out:
            self._transport.write(wire.encode(self._out))
        self._out.clear()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport, self._decoder, self._welcomed = transport, wire.Decoder(), False
        self._out.clear()

    def data_received(self, data: bytes) -> None:
        for message in self._decoder.feed(data):
            if isinstance(message, wire.Recorded):
                if (future := self._asked(message.req)) is not None:
                    future.set_result(message)
            elif isinstance(message, wire.NotRecorded):
                if (future := self._asked(message.req)) is not None:
                    future.set_exception(Refusal(message.reason, fenced=message.fenced))
            else:
                self._on_message(message)

    def _asked(self, req: int) -> asyncio.Future[wire.Recorded] | None:
        """Return who waits for the answer to a request, and let go of it; None if nobody does any more."""
        _, future = self._open.pop(req, (None, None))
        return None if future is None or future.done() else future

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport, self._welcomed = None, False
        self._on_lost()

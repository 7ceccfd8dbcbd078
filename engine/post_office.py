"""The coordinator's part in messages: records them, hands them over, writes each receipt once.

Decisions are in delivery.py. A run in which nobody ever sent a message has an office that was not opened: the
dispatcher does not even ask it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container, Iterable
from functools import partial
from typing import Any

from poolboard.journal import messages
from poolboard.journal.errors import BadPayload, IdentityConflict, Refused
from poolboard.journal.message_model import NewMessage, OpenMessage
from poolboard.journal.messages import FULL, OPEN_LIMIT
from poolboard.journal.model import Checkpoint, Token
from poolboard.journal.sqlite import SqliteJournal
from poolboard.journal.states import TERMINAL_RUN, IllegalMove, RunStatus

from . import faults, wire, wire_messages
from .address import BadAddress, parse, path_of
from .control import Refusal
from .delivery import Delivery
from .dispatch import Dispatcher, checkpoint_of, fatal_unless_refused
from .peers import Peer

#: Letters of one message on the wire.
LETTERS = 500


class PostOffice:
    """The messages of one run, while it has a coordinator."""

    def __init__(self, journal: SqliteJournal, dispatcher: Dispatcher) -> None:
        self._journal, self._dispatcher = journal, dispatcher
        self.delivery = Delivery()
        self._receipts: list[tuple[int, int]] = []
        self._writing = False
        #: Messages under way to the journal: they must not get past the limit together.
        self._accepting = 0
        self._closed = False

    def serve(
        self,
        workers: dict[type, Callable[[str, Peer, Any], None]],
        clients: dict[type, Callable[[Any], Awaitable[str]]],
    ) -> None:
        """Take what workers and clients say about messages."""
        workers |= {
            wire_messages.SendMessage: self.send,
            wire_messages.TakeMessages: self.take,
            wire_messages.GotMessages: self.got,
            wire.CommitStage: self.take_with_stage,
        }
        clients[wire_messages.PostMessage] = self.post

    # --- life ------------------------------------------------------------------------------------------------------

    async def load(self, live: Container[int]) -> None:
        """Go on with what an earlier coordinator left, before any work is in the pool; ``live`` work has not ended."""
        reader, run = self._journal.reader.messages, self._dispatcher.lease.number
        waiting = await reader.waiting(run)
        if not waiting:
            return
        self._open()
        self.delivery.known(await reader.receipts(run), live)
        for message in waiting:
            self.delivery.accept(message)
        for n in await reader.to_give_back(run):
            self.ended(n)

    async def close(self, status: RunStatus) -> None:
        """The coordinator winds up; if the root has ended, nothing waits any more."""
        if status not in TERMINAL_RUN:
            return
        self._closed = True
        if self._dispatcher.post is not None:
            await self._dispatcher.recorder.record(partial(messages.close_all, lease=self._dispatcher.lease))

    def _open(self) -> None:
        """Begin to follow who is there."""
        if self._dispatcher.post is None:
            self._dispatcher.post = self
            for n in self._dispatcher.tokens:
                self.delivery.start(n, self._path(n))

    # --- sending ---------------------------------------------------------------------------------------------------

    async def post(self, message: wire_messages.PostMessage) -> str:
        """Record what a person sends and return a sentence; raises Refusal.

        Not through the recorder: while that has its two requests under way, this one rides in the second.
        """
        try:
            address = parse(message.address)
        except BadAddress as problem:
            raise Refusal(str(problem)) from None
        if self._closed:
            raise Refusal("undeliverable: the run is ending")
        if self._full:
            raise Refusal(FULL)
        new = NewMessage(address.target, address.direct, address.stage, message.mode, message.value, None, message.by)
        self._accepting += 1
        try:
            accepted = await self._journal.transact(
                lambda tx: messages.accept(tx, self._dispatcher.lease, new, message.key)
            )
        except Refused as refused:
            what = "undeliverable: " if isinstance(refused, messages.Undeliverable) else ""
            raise Refusal(f"{what}{refused}") from None
        finally:
            self._accepting -= 1
        faults.fault("coordinator.posted")
        reached = self._accept(accepted)
        if address.direct is None:
            later = "those that start later get it then"
            return f"message {accepted.number} to {address.shown}: {reached} there now, {later}"
        if address.stage is not None:
            return f"message {accepted.number} to {address.shown}: to that stage, now or when it starts"
        return f"message {accepted.number} to {address.shown}{'' if reached else ': it waits until that starts'}"

    def send(self, worker: str, peer: Peer, message: wire_messages.SendMessage) -> None:
        """Record what a run sends."""
        token = self._dispatcher.token(message.n, message.generation)
        if token is None:
            return _refuse(peer, message.req, "Stale work lease", fenced=True)
        if self._full:
            return _refuse(peer, message.req, FULL, fenced=False)
        new = NewMessage(message.target, message.direct, message.stage, message.mode, message.value, message.n)
        member = partial(
            messages.accept_from,
            lease=self._dispatcher.lease,
            token=token,
            new=new,
            checkpoint=_checkpoint(message.key, message.payload),
        )
        self._accepting += 1
        self._dispatcher.recorder.add(member, partial(self._sent, peer, message.req))
        return None

    def _sent(self, peer: Peer, req: int, result: OpenMessage | Exception | None) -> None:
        self._accepting -= 1
        if self._answered(peer, req, "coordinator.sent", result) and isinstance(result, OpenMessage):
            self._accept(result)

    def _accept(self, message: OpenMessage) -> int:
        """Hand a message that is recorded to those who are there; return how many that are."""
        self._open()
        there = [n for n in self.delivery.accept(message) if n in self._dispatcher.tokens]
        for n in there:
            self._hand(self._dispatcher.tokens[n], [message])
        if message.direct is not None and message.direct not in self._dispatcher.pool.items:
            self._give_back(message.direct, [message.number])  # unless it does not exist yet
        return len(there)

    @property
    def _full(self) -> bool:
        return len(self.delivery) + self._accepting >= OPEN_LIMIT

    # --- handing over ----------------------------------------------------------------------------------------------

    def started(self, token: Token) -> None:
        """An attempt begins, or is adopted: it gets everything that its run has not taken."""
        letters = self.delivery.start(token.n, self._path(token.n))
        if letters:
            self._hand(token, letters)

    def ended(self, n: int) -> None:
        """A work item has settled."""
        if left := self.delivery.end(n):
            self._give_back(n, left)

    def got(self, worker: str, peer: Peer, message: wire_messages.GotMessages) -> None:
        """A run has messages: a receipt each, written together with all that come while a write is under way."""
        if self._dispatcher.token(message.n, message.generation) is not None:
            self._receipts += [(number, message.n) for number in self.delivery.deliver(message.n, message.numbers)]
            self._write_receipts()

    def _write_receipts(self) -> None:
        if self._receipts and not self._writing:
            self._writing = True
            receipts, self._receipts = self._receipts, []
            member = partial(messages.deliver, lease=self._dispatcher.lease, receipts=receipts)
            self._dispatcher.recorder.add(member, self._receipts_written)

    def _receipts_written(self, result: Any) -> None:
        fatal_unless_refused(result)
        faults.fault("coordinator.delivered")
        self._writing = False
        self._write_receipts()

    def _hand(self, token: Token, letters: list[OpenMessage]) -> None:
        for start in range(0, len(letters), LETTERS):
            chunk = letters[start : start + LETTERS]
            self._dispatcher.send(
                token,
                wire_messages.HandMessages(
                    n=token.n,
                    generation=token.generation,
                    letters=[(letter.number, letter.mode, letter.stage) for letter in chunk],
                    more=start + LETTERS < len(letters),
                ),
            )

    def _path(self, n: int) -> tuple[str, ...]:
        """Return the path of a run that has not ended: neither has any above it."""
        numbers: list[int] = []
        while n > 0:
            numbers.append(n)
            item = self._dispatcher.pool.items.get(n)
            n = item.group[0] if item is not None else 0
        return path_of(tuple(reversed(numbers)))

    # --- taking ----------------------------------------------------------------------------------------------------

    def take(self, worker: str, peer: Peer, message: wire_messages.TakeMessages) -> None:
        """Record what a program took from its inbox."""
        self._take(peer, message, message.numbers, _checkpoint(message.key, message.payload))

    def take_with_stage(self, worker: str, peer: Peer, message: wire.CommitStage) -> None:
        """Record the outcome of a stage that has read messages."""
        self._take(peer, message, message.taken or [], checkpoint_of(message))

    def _take(
        self,
        peer: Peer,
        message: wire_messages.TakeMessages | wire.CommitStage,
        numbers: list[int],
        checkpoint: Checkpoint,
    ) -> None:
        token = self._dispatcher.token(message.n, message.generation)
        if token is None:
            return _refuse(peer, message.req, "Stale work lease", fenced=True)
        member = partial(
            messages.take, lease=self._dispatcher.lease, token=token, checkpoint=checkpoint, numbers=numbers
        )
        self._dispatcher.recorder.add(member, partial(self._taken, peer, message.req, message.n, numbers))
        return None

    def _taken(self, peer: Peer, req: int, n: int, numbers: list[int], result: Any) -> None:
        if self._answered(peer, req, "coordinator.taken", result):
            self.delivery.take(n, numbers)

    # --- giving back -----------------------------------------------------------------------------------------------

    def _give_back(self, n: int, numbers: Iterable[int]) -> None:
        member = partial(messages.give_back, lease=self._dispatcher.lease, n=n, numbers=list(numbers))
        self._dispatcher.recorder.add(member, self._given_back)

    def _given_back(self, result: Any) -> None:
        fatal_unless_refused(result)
        if isinstance(result, Exception):
            return
        faults.fault("coordinator.gave_back")
        for notice in result[1]:
            self._accept(notice)

    def _answered(self, peer: Peer, req: int, point: str, result: Any) -> bool:
        """Answer a request; say whether it was recorded."""
        fatal_unless_refused(result)
        faults.fault(point)
        if isinstance(result, (Refused, IllegalMove)):
            _refuse(peer, req, str(result), fenced=not isinstance(result, (BadPayload, IdentityConflict)))
            return False
        peer.send(wire.Recorded(req=req))
        return True


def _checkpoint(key: str, payload: str) -> Checkpoint:
    """Return the checkpoint of a call that is no stage."""
    return Checkpoint(key, "", payload, 0, 0, 0.0)


def _refuse(peer: Peer, req: int, reason: str, *, fenced: bool) -> None:
    peer.send(wire.NotRecorded(req=req, fenced=fenced, reason=reason))

"""``ctx.send``, ``ctx.inbox``, ``ctx.messages``: each a recorded call, so that a run that starts again sends nothing
twice and finds the same messages at the same places."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from typing import Any

from poolboard.journal.message_model import MESSAGE_MODES, MessageMode

from . import faults, wire_messages
from .address import Address, parse
from .attempt import Attempt
from .codec import Codec
from .errors import Blocked
from .mailbox import read_messages
from .message import Message
from .payload import dumps, fingerprint
from .replay import Call, Kind, Mismatch, stage_payload

#: Any value of the types that a stage may return, too.
_VALUES = Codec(Any, "message")
#: Messages that wait for a reply at once; of more, the oldest can be answered only by naming it.
MOST_UNANSWERED = 1_000


class MessageCalls:
    """The message calls of one attempt."""

    __slots__ = ("_attempt", "_unanswered")

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        #: What other runs said that the program has seen, oldest first. One that is on its way is none to reply to.
        self._unanswered: deque[Message] = deque(maxlen=MOST_UNANSWERED)

    async def reply(self, value: object, to: Message | None) -> None:
        """Send to the run whose message this is, or that of the oldest one the program has seen and not answered.

        Raises ValueError if there is none.
        """
        if to is None:
            if not self._unanswered:
                raise ValueError("ctx.reply: no run's message was read that is not answered yet")
            to = self._unanswered[0]
        if to.sender is None:
            raise ValueError(f"ctx.reply: message {to.number} came from no run")
        if to in self._unanswered:
            self._unanswered.remove(to)
        await self.send(f"child-{to.sender}" if to.sender else "root", value, "steer")

    async def send(self, target: str | int, value: object, mode: MessageMode) -> None:
        """Return once the message is durable. Raises ValueError for a target or mode that is none, Unrecordable."""
        if mode not in MESSAGE_MODES:
            raise ValueError(f"mode must be one of {', '.join(MESSAGE_MODES)}, not {mode!r}")
        address, text = self._address(target), _VALUES.encode(value)
        call = self._begin("send", address.shown, fingerprint([mode, text]))
        attempt = self._attempt
        try:
            if attempt.replay.outcome(call) is not None:
                return
            await attempt.may_go_on()
            await attempt.record(
                wire_messages.SendMessage(
                    req=attempt.around.channel.next_req(),
                    n=attempt.n,
                    generation=attempt.generation,
                    key=call.key,
                    payload=self._payload(call, None),
                    target=address.target,
                    stage=address.stage,
                    direct=address.direct,
                    mode=mode,
                    value=text,
                )
            )
        finally:
            attempt.replay.end(call)

    async def inbox(self) -> list[Message]:
        """Return what can be read now, at most 200 at once; empty if there is nothing."""
        call = self._begin("inbox", "inbox", fingerprint([]))
        try:
            if (recorded := self._attempt.replay.outcome(call)) is not None:
                return self._seen(await self._read(recorded.value))
            await self._attempt.may_go_on()
            mail = self._attempt.mail
            if mail is not None:
                await mail.arrived()
            return self._seen(await self._take(call, [] if mail is None else mail.take()))
        finally:
            self._attempt.replay.end(call)

    async def next(self, timeout_s: float | None) -> Message | None:
        """Return the next message, None if none came in time; the run holds no slot while it waits."""
        call = self._begin("messages", "messages", fingerprint([timeout_s]))
        try:
            if (recorded := self._attempt.replay.outcome(call)) is not None:
                return next(iter(self._seen(await self._read(recorded.value))), None)
            mail = self._attempt.mailbox()
            await self._attempt.may_go_on()
            await mail.arrived()
            if not mail.any_ready:
                async with self._attempt.slot.waiting():
                    await mail.some(timeout_s)
                await self._attempt.may_go_on()
            return next(iter(self._seen(await self._take(call, mail.take(1)))), None)
        finally:
            self._attempt.replay.end(call)

    def _seen(self, messages: list[Message]) -> list[Message]:
        """Note what the program gets now: from here on it can be replied to."""
        self._unanswered.extend(message for message in messages if message.sender is not None)
        return messages

    def _begin(self, kind: Kind, name: str, arguments: str) -> Call:
        try:
            return self._attempt.replay.begin(kind, name, arguments)
        except Mismatch as mismatch:
            raise Blocked(str(mismatch)) from None

    async def _take(self, call: Call, numbers: list[int]) -> list[Message]:
        """Record that the program has these, and return them."""
        attempt = self._attempt
        messages = await self._read(numbers)
        faults.fault("worker.taking")
        await attempt.record(
            wire_messages.TakeMessages(
                req=attempt.around.channel.next_req(),
                n=attempt.n,
                generation=attempt.generation,
                key=call.key,
                payload=self._payload(call, dumps(numbers)),
                numbers=numbers,
            )
        )
        return messages

    async def _read(self, numbers: Sequence[int]) -> list[Message]:
        around = self._attempt.around
        return await read_messages(around.reader, around.number, numbers)

    def _payload(self, call: Call, value: str | None) -> str:
        now = time.time_ns() // 1_000_000
        return stage_payload(call, value, None, (now, now, 1), alone=self._attempt.replay.is_alone(call))

    def _address(self, target: str | int) -> Address:
        """Return what a program means: a path, a number, ``root`` or ``parent``."""
        if isinstance(target, bool) or not isinstance(target, (int, str)):
            raise TypeError(f"ctx.send takes a path or a number of a run, not {target!r}")
        return parse(str(target))

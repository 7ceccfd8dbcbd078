"""Opens the mail of an attempt, and reads messages from the journal."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from poolboard.journal.reader import Reader

from . import wire_messages
from .channel import Channel
from .mail import Mail
from .message import Message, message_of
from .running import RunningCall


async def read_messages(reader: Reader, run: int, numbers: Sequence[int]) -> list[Message]:
    """Return the messages with these numbers, in their order."""
    if not numbers:
        return []
    found = await reader.messages.payloads(run, numbers)
    return [message_of(number, *found[number]) for number in numbers if number in found]


class Around(Protocol):
    """What an attempt stands in, as far as it is needed here."""

    @property
    def channel(self) -> Channel: ...

    @property
    def reader(self) -> Reader: ...

    @property
    def number(self) -> int: ...


def open_mail(
    who: tuple[int, int],
    calls: Collection[RunningCall],
    had_by: Callable[[int], Collection[str]],
    around: Around,
    log: Callable[[str], None],
) -> Mail:
    """Return the mail of an attempt (n, generation); ``had_by`` as in Mail."""
    n, generation = who

    async def fetch(numbers: Sequence[int]) -> list[Message]:
        return await read_messages(around.reader, around.number, numbers)

    def got(numbers: list[int]) -> None:
        around.channel.tell(wire_messages.GotMessages(n=n, generation=generation, numbers=numbers))

    return Mail(calls, fetch, got, lambda line: log(f"[poolboard: {line}]\n"), had_by=had_by)

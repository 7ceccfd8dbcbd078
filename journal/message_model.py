"""Messages as the journal keeps them: frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

#: When a run that reads its messages sees one: at once; once the stage that ran when it came has ended; at once, and
#: the stage call that runs is cancelled.
MessageMode = Literal["steer", "follow_up", "interrupt"]
#: What a receipt says: it is with the recipient; its program has it; it ended without.
ReceiptState = Literal["delivered", "taken", "undeliverable"]

MESSAGE_MODES: Final[tuple[MessageMode, ...]] = get_args(MessageMode)
RECEIPT_STATES: Final[tuple[ReceiptState, ...]] = get_args(ReceiptState)


@dataclass(frozen=True, slots=True)
class NewMessage:
    """What is sent. ``value`` is JSON; ``direct`` the only recipient's n, None where ``target`` is a pattern.

    ``sender`` is the n of the run that sends, None for a person, who is named by ``by``.
    """

    target: str
    direct: int | None
    stage: str | None
    mode: MessageMode
    value: str
    sender: int | None = None
    by: str | None = None


@dataclass(frozen=True, slots=True)
class OpenMessage:
    """A message that may still reach somebody. Its value stays in its event."""

    number: int
    sender: int | None
    target: str
    direct: int | None
    stage: str | None
    mode: MessageMode
    notice: int | None = None


@dataclass(frozen=True, slots=True)
class MessageRow:
    """A message as lists show it; counts are of its receipts, by state. ``value`` is JSON."""

    number: int
    at: int
    sender: int | None
    by: str | None
    target: str
    direct: int | None
    stage: str | None
    mode: MessageMode
    notice: int | None
    open: bool
    delivered: int
    taken: int
    undeliverable: int
    value: str


@dataclass(frozen=True, slots=True)
class MessageTotals:
    """Counts over all messages of a run: how many, how many are open, and their receipts by state."""

    messages: int = 0
    open: int = 0
    delivered: int = 0
    taken: int = 0
    undeliverable: int = 0


@dataclass(frozen=True, slots=True)
class ReceiptRow:
    """How a message stands with one recipient."""

    n: int
    state: ReceiptState
    at: int

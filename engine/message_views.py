"""Messages of a run as screens and JSON show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from poolboard.journal.message_model import MessageMode, ReceiptState


@dataclass(frozen=True, slots=True)
class RecipientView:
    """How a message stands with one run: ``delivered`` to it, ``taken`` by its program, or ``undeliverable``."""

    n: int
    state: ReceiptState
    at: int


@dataclass(frozen=True, slots=True)
class MessageView:
    """One message. ``target`` is a path or pattern, ``root`` for the root run; ``value`` JSON text, cut when long.

    ``open``: it may still reach somebody. The counts are of its recipients by state; ``recipients`` are five at most:
    those that need somebody first, then the newest. ``undeliverable_of`` is the message that this one is a notice of.
    """

    number: int
    sent_at: int
    sender: int | None
    by: str | None
    target: str
    stage: str | None
    mode: MessageMode
    open: bool
    delivered: int
    taken: int
    undeliverable: int
    recipients: tuple[RecipientView, ...]
    value: str
    undeliverable_of: int | None = None

    @property
    def omitted(self) -> int:
        """How many recipients are not named."""
        return self.delivered + self.taken + self.undeliverable - len(self.recipients)


@dataclass(frozen=True, slots=True)
class MessagesView:
    """A run's newest messages, newest first, with totals over all: of messages, and of their recipients by state."""

    rows: tuple[MessageView, ...]
    total: int
    open: int
    delivered: int
    taken: int
    undeliverable: int

    @property
    def omitted(self) -> int:
        """How many messages are not listed."""
        return self.total - len(self.rows)

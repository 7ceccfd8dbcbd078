"""The board's list of messages: the newest of them, and counts over all."""

from __future__ import annotations

from typing import Final

from textual.app import ComposeResult
from textual.containers import Vertical

from poolboard.engine.views import MessagesView, MessageView

from .columns import Look
from .line import Piece
from .message_list import MESSAGE_COLUMNS, MESSAGE_SHAPE
from .rows import Rows
from .table import Table
from .units import count, several

_READING: Final = ("", "Reading the messages…")
_NONE: Final = ("", "No messages yet. m sends one to the run, or to the child under the cursor.")


class MessageBoard(Vertical):
    """A bounded table of messages, the newest on top."""

    def __init__(self, *, id: str, ascii: bool) -> None:
        super().__init__(id=id)
        self.table = Table(
            Rows[MessageView](MESSAGE_SHAPE, follow_top=True),
            MESSAGE_COLUMNS,
            id="letters",
            empty=_READING,
            ascii=ascii,
        )
        self.table.choose_order("number")
        self._view: MessagesView | None = None

    def compose(self) -> ComposeResult:
        yield self.table

    def take(self, view: MessagesView) -> None:
        """Take the messages, read again."""
        self._view = view
        self.table.rows.replace(view.rows)

    def settle(self, look: Look) -> None:
        """Bring the list up to date."""
        self.table.settle(look)
        if self._view is not None:
            self.table.show_empty(_NONE)

    def note(self) -> list[Piece]:
        """Return what the line above says: every count says what it counts, and what is left out."""
        view = self._view
        if view is None or not view.total:
            return []
        total = several(view.total, "message")
        pieces = [Piece(f"showing {count(len(view.rows))} of {total}" if view.omitted else total, "$quiet", 7)]
        if view.undeliverable:
            pieces.append(Piece(f"{count(view.undeliverable)} undeliverable", "$state-failed", 8))
        pieces.append(Piece(f"{count(view.open)} open", "$quiet", 5))
        pieces.append(Piece(f"{count(view.delivered)} unread", "$quiet", 4))
        pieces.append(Piece(f"{count(view.taken)} taken", "$quiet", 3))
        return pieces

"""The board's list of messages: the newest of them, and counts over all."""

from __future__ import annotations

from typing import Final

from textual.app import ComposeResult
from textual.containers import Vertical

from poolboard.engine.views import MessagesView, MessageView

from .columns import Look
from .line import Piece
from .message_list import MESSAGE_COLUMNS, MESSAGE_SHAPE
from .query import Query
from .rows import Rows
from .table import Table
from .units import count, several

_READING: Final = ("", "Reading the messages…")
_NO_MATCH: Final = ("", "No message matches the filter. esc clears it.")
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
        self._filter_text = ""

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
            self.table.show_empty(_NO_MATCH if self._filter_text else _NONE)

    def filter_by(self, query: Query, text: str, look: Look) -> None:
        """Show only the messages that the filter lets through, of those that were read."""
        self._filter_text = text
        self.table.rows.filter_by(query)
        self.settle(look)

    def note(self) -> list[Piece]:
        """Return what the line above says: every count says what it counts, and what is left out."""
        view = self._view
        if view is None or not view.total:
            return []
        total = several(view.total, "message")
        shown = self.table.rows.matching if self._filter_text else len(view.rows)
        pieces = [Piece(f"showing {count(shown)} of {total}" if shown < view.total else total, "$quiet", 7)]
        if self._filter_text:
            pieces.insert(0, Piece(f"filter {self._filter_text}", "$warning", 6, elastic=True, least=12))
        if view.undeliverable:
            pieces.append(Piece(f"{count(view.undeliverable)} undeliverable", "$state-failed", 8))
        pieces.append(Piece(f"{count(view.open)} open", "$quiet", 5))
        pieces.append(Piece(f"{count(view.delivered)} unread", "$quiet", 4))
        pieces.append(Piece(f"{count(view.taken)} taken", "$quiet", 3))
        return pieces

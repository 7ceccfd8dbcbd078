"""The journal's newest events as they come: follows the end while the cursor is there, stays put while it is not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from textual.app import ComposeResult
from textual.containers import Vertical

from poolboard.engine.views import EventView

from .columns import Look
from .event_list import EVENT_COLUMNS, EVENT_SHAPE
from .line import Piece
from .query import Query
from .rows import Rows
from .table import Table
from .units import count, several

#: More events than this are not kept: the oldest leave, and the line above says how many there are in all.
MAX_EVENTS: Final = 5000
_READING: Final = ("", "Reading the journal…")


class EventLog(Vertical):
    """A bounded table of events, the newest at its end."""

    def __init__(self, *, id: str, ascii: bool) -> None:
        super().__init__(id=id)
        self.table = Table(Rows[EventView](EVENT_SHAPE), EVENT_COLUMNS, id="events", empty=_READING, ascii=ascii)
        self.last_seq = 0
        self._behind = 0
        self._filter_text = ""

    def compose(self) -> ComposeResult:
        yield self.table

    def take(self, events: Sequence[EventView], last_seq: int) -> None:
        """Take newer events; ``last_seq`` is the newest of the journal, whether it was read or left out."""
        self.last_seq = max(self.last_seq, last_seq)
        rows = self.table.rows
        rows.upsert(events)
        over = rows.total - MAX_EVENTS
        if over > 0:
            rows.remove(rows.oldest(over))
        if not self.follows:
            self._behind += len(events)

    @property
    def follows(self) -> bool:
        """Say whether the cursor is at the end, so that the list goes on with what comes."""
        rows = self.table.rows
        at = rows.index_of(rows.cursor)
        return at is None or at == len(rows) - 1

    def settle(self, look: Look) -> None:
        """Bring the list up to date, at its end if it follows."""
        follows = self.follows
        self.table.settle(look)
        if not self.last_seq:
            return
        nothing = "No event matches the filter. esc clears it." if self._filter_text else "No events yet."
        self.table.show_empty(("", nothing))
        if follows:
            self.table.action_last()

    def filter_by(self, query: Query, text: str, look: Look) -> None:
        """Show only the events that the filter lets through."""
        self._filter_text = text
        self.table.rows.filter_by(query)
        self.settle(look)

    def note(self) -> list[Piece]:
        """Return what the line above says of the list."""
        if self.follows:
            self._behind = 0
        shown = len(self.table.rows)
        total = f"{count(shown)} of {several(self.last_seq, 'event')}"
        pieces = [Piece(f"showing {total}" if shown != self.last_seq else several(shown, "event"), "$quiet", 7)]
        if self._filter_text:
            pieces.insert(0, Piece(f"filter {self._filter_text}", "$warning", 6))
        if self._behind:
            pieces.append(Piece(f"{several(self._behind, 'new event')}: G follows", "bold $warning", 8))
        else:
            pieces.append(Piece("follow: on" if self.follows else "follow: off", "$quiet", 3))
        return pieces

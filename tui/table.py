"""The one table: draws the visible rows of a ``Rows`` index line by line, whatever their number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Generic, TypeVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from .actions import bindings
from .columns import GAP, LEFT, Column, Look, Placed, place
from .glyphs import TONES
from .rows import Rows
from .shape import Key
from .text import fit

R = TypeVar("R")

GAP_TEXT: Final = " " * GAP
_TONE_CLASSES: Final = {
    **{tone: f"tone-{tone}" for tone in TONES},
    "quiet": "tone-quiet",
    "warn": "tone-warn",
}


class Table(ScrollView, Generic[R], can_focus=True):
    """A list of rows under a header. The cursor and the marks belong to rows by key, never to positions.

    Nothing moves and nothing is painted before ``settle``; then only visible lines that changed are.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "table--header",
        "table--sorted",
        "table--cursor",
        "table--marked",
        "table--empty",
        *_TONE_CLASSES.values(),
    }
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("table")]

    @dataclass
    class Entered(Message):
        """Enter or a second click on a row."""

        table: Table[object]
        key: Key

    @dataclass
    class Moved(Message):
        """The cursor went to another row, or the order changed."""

        table: Table[object]

    def __init__(
        self,
        rows: Rows[R],
        columns: Sequence[Column[R]],
        *,
        id: str,
        empty: Sequence[str] = (),
        ascii: bool = False,
    ) -> None:
        super().__init__(id=id)
        self.rows: Final = rows
        self.columns: Final = tuple(columns)
        self.look = Look(ascii=ascii)
        self.empty = tuple(empty)
        self._placed: tuple[int, list[Placed[R]]] = (0, [])
        self._shown_columns = self.columns

    def on_mount(self) -> None:
        self._grow()

    # -- what others call

    def settle(self, look: Look) -> None:
        """Bring rows and screen up to date, painting only what changed."""
        top, page = self.scroll_offset.y, self._page
        before = self.rows.keys(top, top + page)
        cursor = self.rows.cursor
        line = before.index(cursor) if cursor in before else None
        change = self.rows.settle(look.now_ms)
        self._choose_columns()
        ticked = look.now_ms != self.look.now_ms
        if look.ended != self.look.ended or (look.now_ms is None) != (self.look.now_ms is None):
            self.refresh()  # the same rows say something else now
        self.look = look
        if change.moved:
            self._grow()
            new_top = self._held_top(top, before, line)
            if new_top != top:
                self.scroll_to(y=new_top, animate=False, force=True)
                top = new_top
        elif not change.dirty and not (ticked and self.rows.live):
            return
        self._repaint(before, top, change.dirty, cursor, ticked)
        if change.moved or cursor != self.rows.cursor:
            self.post_message(self.Moved(self))  # type: ignore[arg-type]

    def show_empty(self, lines: Sequence[str]) -> None:
        """Say what an empty list means, and what to do."""
        if tuple(lines) != self.empty:
            self.empty = tuple(lines)
            if not len(self.rows):
                self.refresh()

    def current(self) -> R | None:
        """Return the row under the cursor; None while it is not in view."""
        return self.rows.get(self.rows.cursor) if self.rows.index_of(self.rows.cursor) is not None else None

    def choose_order(self, name: str | None, *, reverse: bool | None = None) -> None:
        """Choose the column to sort by; choosing the sorted one again turns the order around."""
        column = next((one for one in self.columns if one.id == name and one.sort is not None), None)
        if column is None:
            self.rows.sort_by(None, None, reverse=bool(reverse))
        else:
            again = self.rows.sorted_by == name
            turned = (not self.rows.reverse if again else column.down) if reverse is None else reverse
            self.rows.sort_by(name, column.sort, reverse=turned, timed=column.timed)

    def sort_by(self, name: str | None, *, reverse: bool | None = None) -> None:
        """Choose the order, and show it at once."""
        self.choose_order(name, reverse=reverse)
        self.rows.settle(self.look.now_ms)
        self._show_cursor()
        self.refresh()
        self.post_message(self.Moved(self))  # type: ignore[arg-type]

    # -- painting

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._placed = (0, [])

    def render_line(self, y: int) -> Strip:
        cells = self.size.width
        if y == 0:
            return self._header(cells)
        index = self.scroll_offset.y + y - 1
        if index < len(self.rows):
            return self._row(index, cells)
        plain = self.rich_style
        if not len(self.rows) and y <= len(self.empty):
            style = plain + self._tone("table--empty")
            return Strip([Segment(fit("  " + self.empty[y - 1], cells), style)], cells)
        return Strip.blank(cells, plain)

    def _header(self, cells: int) -> Strip:
        base = self.get_component_rich_style("table--header")
        segments = [Segment(" " * LEFT, base)]
        for column, _, width in self._columns_at(cells):
            sorted_here = column.id == self.rows.sorted_by
            title = column.heading(width) if column.heading else column.title
            if sorted_here:
                title += ("v" if self.rows.reverse else "^") if self.look.ascii else "▼" if self.rows.reverse else "▲"
            style = base + self._tone("table--sorted") if sorted_here else base
            segments.append(Segment(fit(title, width, column.align), style))
            segments.append(Segment(GAP_TEXT, base))
        return Strip(segments).adjust_cell_length(cells, base).simplify()

    def _row(self, index: int, cells: int) -> Strip:
        key = self.rows.key_at(index)
        row = self.rows.get(key)
        if row is None:
            return Strip.blank(cells, self.rich_style)
        here, marked = key == self.rows.cursor, key in self.rows.marks
        base = self.rich_style
        if marked:
            base += self._tone("table--marked")
        if here:
            base += self._tone("table--cursor")
        ascii = self.look.ascii
        margin = ((">" if ascii else "▌") if here and self.has_focus else " ") + (
            ("+" if ascii else "◆") if marked else " "
        )
        text, style = margin, base
        segments: list[Segment] = []
        for column, _, width in self._columns_at(cells):
            cell = column.drawn(row, self.look, width) if column.drawn else column.cell(row, self.look)
            toned = base + self._tone(_TONE_CLASSES[cell.tone]) if cell.tone else base
            # The gap belongs to the cell before: fewer styles to switch between are fewer bytes on a slow line.
            if toned is not style:
                segments.append(Segment(text, style))
                text, style = "", toned
            text += fit(cell.text, width, column.align, middle=column.middle) + GAP_TEXT
        segments.append(Segment(text, style))
        return Strip(segments).adjust_cell_length(cells, base).simplify()

    def _tone(self, name: str) -> Style:
        return self.get_component_rich_style(name, partial=True)

    def _columns_at(self, cells: int) -> list[Placed[R]]:
        if self._placed[0] != cells:
            self._placed = (cells, place(self._shown_columns, cells))
        return self._placed[1]

    def _choose_columns(self) -> None:
        """Show the columns that have something to tell."""
        shown = tuple(column for column in self.columns if self.rows.told(column.id) >= column.told)
        if shown != self._shown_columns:
            self._shown_columns = shown
            self._placed = (0, [])
            self.refresh()

    def _repaint(self, before: list[Key], top: int, dirty: frozenset[Key], cursor: Key | None, ticked: bool) -> None:
        after = self.rows.keys(top, top + self._page)
        turned = {cursor, self.rows.cursor} if cursor != self.rows.cursor else set()
        for line in range(max(len(before), len(after), 0 if before and after else len(self.empty))):
            old = before[line] if line < len(before) else None
            new = after[line] if line < len(after) else None
            if old != new or new is None or new in dirty or new in turned or (ticked and self.rows.is_live(new)):
                self.refresh(Region(0, line + 1, self.size.width, 1))

    # -- place on screen

    @property
    def _page(self) -> int:
        return max(0, self.size.height - 1)

    def _grow(self) -> None:
        self.virtual_size = Size(1, max(len(self.rows), len(self.empty)) + 1)

    def _held_top(self, top: int, before: list[Key], line: int | None) -> int:
        """Return the new top line: what the person looks at stays where it is.

        That is the cursor's line while the cursor is in sight, else the topmost row that is still there. At the very
        top the list stays at the top (new runs come in there), unless that would hide the cursor.
        """
        furthest = max(0, len(self.rows) - self._page)
        at = self.rows.index_of(self.rows.cursor)
        if top == 0 and (at is None or at < self._page):
            return 0
        if line is not None and at is not None:
            return max(0, min(at - line, furthest))
        for offset, key in enumerate(before):
            index = self.rows.index_of(key)
            if index is not None:
                return max(0, min(index - offset, furthest))
        return min(top, furthest)

    def _show_cursor(self) -> None:
        at = self.rows.index_of(self.rows.cursor)
        if at is None:
            return
        top = self.scroll_offset.y
        if at < top:
            self.scroll_to(y=at, animate=False, force=True)
        elif at >= top + self._page:
            self.scroll_to(y=at - self._page + 1, animate=False, force=True)

    def _move_to(self, index: int) -> None:
        old = self.rows.cursor
        self.rows.move_to(index)
        self._cursor_moved(old)

    def _cursor_moved(self, old: Key | None) -> None:
        if old == self.rows.cursor:
            return
        for key in (old, self.rows.cursor):
            at = self.rows.index_of(key)
            if at is not None:
                self.refresh(Region(0, at + 1 - self.scroll_offset.y, self.size.width, 1))
        self._show_cursor()
        self.post_message(self.Moved(self))  # type: ignore[arg-type]

    # -- keys and mouse

    def action_move(self, rows: int) -> None:
        self._move_to((self.rows.index_of(self.rows.cursor) or 0) + rows)

    def action_page(self, pages: float) -> None:
        step = max(1, int(self._page * abs(pages)))
        self.action_move(step if pages > 0 else -step)

    def action_first(self) -> None:
        old = self.rows.cursor
        self.rows.to_top()
        self._cursor_moved(old)

    def action_last(self) -> None:
        self._move_to(len(self.rows) - 1)

    def action_sort(self, step: int) -> None:
        shown = [one.column.id for one in self._columns_at(self.size.width) if one.column.sort is not None]
        if not shown:
            return
        current = self.rows.sorted_by
        index = shown.index(current) + step if current in shown else (0 if step > 0 else -1)
        self.sort_by(shown[index % len(shown)])

    def action_reverse(self) -> None:
        self.sort_by(self.rows.sorted_by, reverse=not self.rows.reverse)

    def action_mark(self) -> None:
        """Mark the row under the cursor and go on to the next."""
        if self.rows.cursor is not None and self.current() is not None:
            self.rows.toggle_mark(self.rows.cursor)
            self.refresh()
            self.action_move(1)

    def action_unmark(self) -> None:
        self.rows.marks.clear()
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        if event.y == 0:
            self._click_header(event.x)
            return
        index = self.scroll_offset.y + event.y - 1
        if index >= len(self.rows):
            return
        self._move_to(index)
        if event.chain == 2 and self.rows.cursor is not None:
            self.post_message(self.Entered(self, self.rows.cursor))  # type: ignore[arg-type]

    def _click_header(self, x: int) -> None:
        for column, start, width in self._columns_at(self.size.width):
            if start <= x < start + width and column.sort is not None:
                self.sort_by(column.id)

"""A list on screen in motion: rows and screen meet, the cursor moves, the place that is looked at is held."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from textual.geometry import Region

from .columns import Look
from .growth import grow
from .list_paint import PaintedRows
from .shape import Key

R = TypeVar("R")


class MovingRows(PaintedRows[R]):
    """Nothing moves and nothing is painted before ``settle``; then only visible lines that changed are."""

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
        if (look.ended, look.held) != (self.look.ended, self.look.held) or (look.now_ms is None) != (
            self.look.now_ms is None
        ):
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
            self._moved()

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
        self._moved()

    def _repaint(self, before: list[Key], top: int, dirty: frozenset[Key], cursor: Key | None, ticked: bool) -> None:
        after = self.rows.keys(top, top + self._page)
        turned = {cursor, self.rows.cursor} if cursor != self.rows.cursor else set()
        for line in range(max(len(before), len(after), 0 if before and after else len(self.empty))):
            old = before[line] if line < len(before) else None
            new = after[line] if line < len(after) else None
            suspect = old != new or new is None or new in dirty or new in turned
            if (suspect or (ticked and new is not None and self.rows.is_live(new))) and self._strips.get(
                line + 1
            ) != self._line(line + 1):
                self.refresh(Region(0, line + 1, self.size.width, 1))

    # -- place on screen

    @property
    def _page(self) -> int:
        return max(0, self.size.height - 1)

    def _grow(self) -> None:
        grow(self, max(len(self.rows), len(self.empty)) + 1)

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
        self._went()

    # -- to be told

    def _moved(self) -> None:
        """The cursor went to another row, or the order changed."""
        raise NotImplementedError

    def _went(self) -> None:
        """The person moved the cursor to another row."""
        self._moved()

    # -- keys

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

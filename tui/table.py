"""The one table: a list of rows with a cursor, marks, an order, groups and columns of the person's choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, TypeVar

from textual import events
from textual.binding import BindingType
from textual.message import Message

from .actions import bindings
from .columns import Arrangement, Column
from .list_motion import MovingRows
from .rows import Rows
from .shape import Key
from .text import visible

R = TypeVar("R")


class _Range(NamedTuple):
    """Rows that are marked as the cursor moves: where that began, what was marked before, until when.

    ``sticky``: until it is said to be done; else until the cursor moves in another way.
    """

    anchor: Key
    before: frozenset[Key]
    sticky: bool


#: What a list for choosing one thing does not do.
_NOT_PLAIN = frozenset({"mark", "unmark", "mark_all", "range", "extend"})


class Table(MovingRows[R]):
    """A list of rows under a header. The cursor and the marks belong to rows by key, never to positions.

    A ``plain`` one chooses a single thing: it has no marks, groups or columns to pick.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("table")]

    @dataclass
    class Entered(Message):
        """Enter or a second click on a row."""

        table: Table[object]
        key: Key

    @dataclass
    class Moved(Message):
        """The cursor went to another row, the marks or the order changed."""

        table: Table[object]

    @dataclass
    class Arranged(Message):
        """The person chose another order, other columns or groups: worth remembering."""

        table: Table[object]

    def __init__(
        self,
        rows: Rows[R],
        columns: Sequence[Column[R]],
        *,
        id: str,
        empty: Sequence[str] = (),
        ascii: bool = False,
        plain: bool = False,
    ) -> None:
        super().__init__(rows, columns, id=id, ascii=ascii)
        self.empty = tuple(empty)
        self._plain = plain
        self._range: _Range | None = None
        self._extending = False

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave keys that mean nothing here to whatever is around."""
        if action == "fold":
            return bool(self.rows.shape.folds)
        return not (self._plain and action in _NOT_PLAIN)

    # -- order and groups

    def action_sort(self, step: int) -> None:
        """Sort by the next column that can be sorted by; after the last one as the rows came."""
        shown = [one.column.id for one in self._columns_at(self.size.width) if one.column.sort is not None]
        choices = [None, *shown]
        current = self.rows.sorted_by
        index = choices.index(current) if current in choices else 0
        self._person_sorts(choices[(index + step) % len(choices)])

    def action_reverse(self) -> None:
        self._person_sorts(self.rows.sorted_by, reverse=not self.rows.reverse)

    def _person_sorts(self, name: str | None, *, reverse: bool | None = None) -> None:
        self.sort_by(name, reverse=reverse)
        self._arranged()

    def action_fold(self) -> None:
        """Show the rows in groups by the next of the list's ways, after the last one by one again."""
        ways = [None, *self.rows.shape.folds]
        self.rows.fold_by(ways[(ways.index(self.rows.folded_by) + 1) % len(ways)])
        self._settled_again()
        self._arranged()

    def toggle_group(self) -> bool:
        """Open or close the group whose line the cursor is on; say whether it is on one."""
        if self.rows.group(self.rows.cursor) is None or not self.rows.toggle_fold(self.rows.cursor):
            return False
        self._settled_again()
        return True

    def _settled_again(self) -> None:
        self.rows.settle(self.look.now_ms)
        self._grow()
        self._show_cursor()
        self.refresh()
        self._moved()

    # -- marks

    def action_mark(self) -> None:
        """Mark what the cursor is on and go on to the next."""
        if self.rows.cursor is not None and self.rows.index_of(self.rows.cursor) is not None:
            self.rows.toggle_mark(self.rows.cursor)
            self._marked()
            self.action_move(1)

    def action_mark_all(self) -> None:
        """Mark every row that the filter shows; if all of them are, take the marks away."""
        before = len(self.rows.marks)
        self.rows.mark_all()
        if len(self.rows.marks) == before:
            self.rows.marks.clear()
        self._marked()

    def action_unmark(self) -> None:
        self._range = None
        self.rows.marks.clear()
        self._marked()

    def action_range(self) -> None:
        """Begin to mark from here to wherever the cursor goes; again: it is done."""
        if self._range is not None and self._range.sticky:
            self._range = None
            self._marked()
        else:
            self._begin_range(sticky=True)

    def action_extend(self, step: int) -> None:
        """Mark on the way, like a shift key does elsewhere."""
        if self._range is None:
            self._begin_range(sticky=False)
        self._extending = True
        self.action_move(step)
        self._extending = False

    def _went(self) -> None:
        if self._range is not None and not self._range.sticky and not self._extending:
            self._range = None  # moving without shift ends what shift began
        self._mark_range()
        self._moved()

    def leave_range(self) -> bool:
        """End the marking of a range, keeping the marks; say whether one was going on."""
        going = self._range is not None and self._range.sticky
        self._range = None
        if going:
            self._moved()
        return going

    @property
    def ranging(self) -> bool:
        """Say whether moving the cursor marks."""
        return self._range is not None and self._range.sticky

    def _begin_range(self, *, sticky: bool) -> None:
        if self.rows.cursor is not None:
            self._range = _Range(self.rows.cursor, frozenset(self.rows.marks), sticky)
            self._mark_range()

    def _mark_range(self) -> None:
        """Mark from where the range began to the cursor; what it covered and does not any more is as it was before."""
        if self._range is None:
            return
        start, end = self.rows.index_of(self._range.anchor), self.rows.index_of(self.rows.cursor)
        if start is None or end is None:
            self._range = None
            return
        self.rows.marks = set(self._range.before) | self.rows.rows_at(min(start, end), max(start, end) + 1)
        self._marked()

    def _marked(self) -> None:
        self.refresh()
        self._moved()

    # -- what the person chose

    def pick_columns(self, ids: tuple[str, ...] | None) -> None:
        """Show these columns in this order; None: those that have something to tell."""
        self.picked = ids
        self._choose_columns()
        self.refresh()

    def arrangement(self) -> Arrangement:
        """Return what the person chose, to be remembered."""
        fold = self.rows.folded_by
        return Arrangement(self.picked, self.rows.sorted_by, self.rows.reverse, None if fold is None else fold.id)

    def restore(self, wanted: Arrangement) -> None:
        """Take up what was remembered; columns and groups that do not exist any more are left out."""
        known = {column.id for column in self.columns}
        picked = tuple(id for id in wanted.columns or () if id in known)
        self.pick_columns(picked or None)
        self.choose_order(wanted.sort, reverse=wanted.reverse)
        self.rows.fold_by(next((way for way in self.rows.shape.folds if way.id == wanted.fold), None))
        self._settled_again()

    def copies(self) -> list[tuple[str, str]]:
        """Return what can be copied of the row under the cursor: the whole, then each shown cell by its title."""
        row = self.current()
        if row is None:
            return []
        cells = [
            (column.title or column.id, visible(column.cell(row, self.look).text))
            for column in self._shown_columns
            if column.drawn is None
        ]
        return [("row", "\t".join(text for _, text in cells)), *cells]

    def _arranged(self) -> None:
        self.post_message(self.Arranged(self))  # type: ignore[arg-type]

    def _moved(self) -> None:
        self.post_message(self.Moved(self))  # type: ignore[arg-type]

    def on_click(self, event: events.Click) -> None:
        if event.y == 0:
            self._click_header(event.x)
            return
        index = self.scroll_offset.y + event.y - 1
        if index >= len(self.rows):
            return
        if event.shift:
            self.action_extend(index - (self.rows.index_of(self.rows.cursor) or 0))
            return
        self._move_to(index)
        if event.chain == 2 and self.rows.cursor is not None and not self.toggle_group():
            self.post_message(self.Entered(self, self.rows.cursor))  # type: ignore[arg-type]

    def _click_header(self, x: int) -> None:
        for column, start, width in self._columns_at(self.size.width):
            if start <= x < start + width and column.sort is not None:
                self._person_sorts(column.id)

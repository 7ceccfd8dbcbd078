"""Choosing columns: which are shown, and in which order. What is chosen is seen at once; esc goes back."""

from __future__ import annotations

from typing import ClassVar, Final, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from .columns import Cell, Column, Look
from .line import Line, Piece, Sides
from .rows import Rows
from .shape import Shape
from .table import Table


class ColumnChoice(NamedTuple):
    """A column: its name, and whether it is shown."""

    id: str
    title: str
    shown: bool


def _box(row: ColumnChoice, look: Look) -> Cell:
    return Cell("[x]" if row.shown else "[ ]", "completed" if row.shown else "quiet")


_SHAPE: Final[Shape[ColumnChoice]] = Shape(
    key=lambda row: row.id, text=lambda row: row.title, fields={}, kinds={}, live=lambda row: False
)
_COLUMNS: Final[tuple[Column[ColumnChoice], ...]] = (
    Column("shown", "", _box, 3),
    Column("title", "column", lambda row, _: Cell(row.title), 12, flex=1),
)


class PickScreen(ModalScreen[bool]):
    """Changes the list below while it is open; returns True if the choice is to be kept."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "turn", "show or hide", show=False, id="pick.turn"),
        Binding("J", "shift(1)", "further right", show=False, id="pick.right"),
        Binding("K", "shift(-1)", "further left", show=False, id="pick.left"),
        Binding("d", "default", "as it comes", show=False, id="pick.default"),
        Binding("enter", "keep", "keep", show=False, id="pick.keep"),
        Binding("escape,q,C", "leave", "leave", show=False, id="pick.leave"),
    ]

    def __init__(self, chosen: Table[object], ascii: bool) -> None:
        super().__init__()
        self._chosen: Final = chosen
        self._before: Final = chosen.picked
        self._table = Table(Rows[ColumnChoice](_SHAPE), _COLUMNS, id="columns", ascii=ascii, plain=True)
        self._list: list[ColumnChoice] = []

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield self._table
            yield Line(self._keys, classes="dialog--answers")

    def on_mount(self) -> None:
        self._read()
        self._table.focus()

    def _read(self) -> None:
        """Shown columns come first, in their order."""
        by_id = {column.id: column for column in self._chosen.columns}
        shown = [column.id for column in self._chosen.shown_columns]
        rest = [id for id in by_id if id not in shown]
        self._list = [ColumnChoice(id, by_id[id].title or id, id in shown) for id in (*shown, *rest)]
        self._show()

    def _show(self) -> None:
        self._table.rows.replace(self._list)
        self._table.settle(self._table.look)

    def _apply(self) -> None:
        self._show()
        self._chosen.pick_columns(tuple(one.id for one in self._list if one.shown))

    def _keys(self, cells: int) -> Sides:
        pieces: list[Piece] = []
        for key, words, action in (
            ("space", "show", "turn"),
            ("J K", "move", "shift(1)"),
            ("d", "default", "default"),
            ("enter", "keep", "keep"),
        ):
            pieces.append(Piece(key, "bold $primary", 9, action))
            pieces.append(Piece(f" {words}", "", 9, action, glued=True))
        return Sides(pieces)

    def on_line_chosen(self, message: Line.Chosen) -> None:
        message.stop()
        self.call_later(self.run_action, message.action)

    def on_table_entered(self, message: Table.Entered) -> None:
        message.stop()
        self.action_turn()

    def _here(self) -> int | None:
        return self._table.rows.index_of(self._table.rows.cursor)

    def action_turn(self) -> None:
        """Show or hide a column; one always stays."""
        at = self._here()
        if at is None or (self._list[at].shown and sum(one.shown for one in self._list) == 1):
            return
        self._list[at] = self._list[at]._replace(shown=not self._list[at].shown)
        self._apply()

    def action_shift(self, step: int) -> None:
        """Move a column in the order."""
        at = self._here()
        if at is None or not 0 <= at + step < len(self._list):
            return
        self._list[at], self._list[at + step] = self._list[at + step], self._list[at]
        self._apply()

    def action_default(self) -> None:
        """Go back to what the list shows by itself."""
        self._chosen.pick_columns(None)
        self._read()

    def action_keep(self) -> None:
        self.dismiss(True)

    def action_leave(self) -> None:
        self._chosen.pick_columns(self._before)
        self.dismiss(False)

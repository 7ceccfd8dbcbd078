"""The theme picker: what the cursor is on is what the whole screen looks like; esc goes back to what was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from .columns import Cell, Column
from .line import Line, Piece, Sides
from .rows import Rows
from .shape import Shape
from .table import Table

_SHAPE: Final[Shape[str]] = Shape(
    key=lambda row: row, text=lambda row: row, fields={}, kinds={}, live=lambda row: False
)
_COLUMNS: Final[tuple[Column[str], ...]] = (Column("name", "theme", lambda row, _: Cell(row), 12, flex=1),)


class ThemeScreen(ModalScreen[str | None]):
    """Returns the chosen theme's name, None if it stays as it was."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "choose", show=False, id="theme.choose"),
        Binding("escape,q,T", "leave", "leave", show=False, id="theme.leave"),
    ]

    def __init__(self, names: Sequence[str], ascii: bool) -> None:
        super().__init__()
        self._names: Final = tuple(names)
        self._table = Table(Rows[str](_SHAPE), _COLUMNS, id="themes", ascii=ascii, plain=True)
        self._before = ""

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield self._table
            yield Line(self._answers, classes="dialog--answers")

    def on_mount(self) -> None:
        self._before = self.app.theme
        self._table.rows.replace(self._names)
        self._table.settle(self._table.look)
        if self._before in self._names:
            self._table.action_move(self._names.index(self._before))
        self._table.focus()

    def _answers(self, cells: int) -> Sides:
        return Sides(
            [
                Piece("enter", "bold $primary", 9, "choose"),
                Piece(" keep", "", 9, "choose", glued=True),
                Piece("esc", "bold $primary", 9, "leave"),
                Piece(" as before", "", 9, "leave", glued=True),
            ]
        )

    def on_table_moved(self, message: Table.Moved) -> None:
        message.stop()
        name = self._table.current()
        if name is not None and self.is_current:
            self.app.theme = name

    def on_table_entered(self, message: Table.Entered) -> None:
        message.stop()
        self.action_choose()

    def on_line_chosen(self, message: Line.Chosen) -> None:
        message.stop()
        (self.action_choose if message.action == "choose" else self.action_leave)()

    def action_choose(self) -> None:
        self.dismiss(self._table.current())

    def action_leave(self) -> None:
        self.app.theme = self._before
        self.dismiss(None)

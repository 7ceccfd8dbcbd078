"""Choosing what to copy of a row: its id, the whole row, or one cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from .columns import Cell, Column
from .line import Line, Piece, Sides
from .rows import Rows
from .shape import Shape
from .table import Table


class Copy(NamedTuple):
    """Something that can be copied: its place in the list, what it is, and the text."""

    place: int
    what: str
    text: str


_SHAPE: Final[Shape[Copy]] = Shape(
    key=lambda row: row.place, text=lambda row: row.what, fields={}, kinds={}, live=lambda row: False
)
_COLUMNS: Final[tuple[Column[Copy], ...]] = (
    Column("what", "copy", lambda row, _: Cell(row.what, "quiet"), 10, keep=9),
    Column("text", "", lambda row, _: Cell(row.text), 12, flex=1, keep=8),
)


class CopyScreen(ModalScreen[Copy | None]):
    """Returns what was chosen, None if nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,y", "choose", "copy", show=False, id="copy.choose"),
        Binding("escape,q,Y", "leave", "leave", show=False, id="copy.leave"),
    ]

    def __init__(self, offered: Sequence[tuple[str, str]], ascii: bool) -> None:
        super().__init__()
        self._offered: Final = [Copy(place, what, text) for place, (what, text) in enumerate(offered)]
        self._table = Table(Rows[Copy](_SHAPE), _COLUMNS, id="copies", ascii=ascii, plain=True)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield self._table
            yield Line(self._keys, classes="dialog--answers")

    def on_mount(self) -> None:
        self._table.rows.replace(self._offered)
        self._table.settle(self._table.look)
        self._table.focus()

    def _keys(self, cells: int) -> Sides:
        return Sides(
            [
                Piece("enter", "bold $primary", 9, "choose"),
                Piece(" copy", "", 9, "choose", glued=True),
                Piece("esc", "bold $primary", 9, "leave"),
                Piece(" leave", "", 9, "leave", glued=True),
            ]
        )

    def on_line_chosen(self, message: Line.Chosen) -> None:
        message.stop()
        (self.action_choose if message.action == "choose" else self.action_leave)()

    def on_table_entered(self, message: Table.Entered) -> None:
        message.stop()
        self.action_choose()

    def action_choose(self) -> None:
        self.dismiss(self._table.current())

    def action_leave(self) -> None:
        self.dismiss(None)

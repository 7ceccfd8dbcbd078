"""Asks for the name of a file that is to be written."""

from __future__ import annotations

from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from .line import Line, Piece, Sides


class PathScreen(ModalScreen[str | None]):
    """Returns the path as it was typed, None if nothing is to be written."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "leave", show=False, id="path.leave")]

    def __init__(self, title: str, proposed: str) -> None:
        super().__init__()
        self._title: Final = title
        self._proposed: Final = proposed

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Content.assemble((self._title, "bold")), markup=False)
            yield Input(self._proposed, compact=True, max_length=4000, select_on_focus=False)
            yield Line(self._answers, classes="dialog--answers")

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    def _answers(self, cells: int) -> Sides:
        return Sides(
            [
                Piece("enter", "bold $primary", 9, "write"),
                Piece(" write the file", "", 9, "write", glued=True),
                Piece("esc", "bold $primary", 9, "leave"),
                Piece(" leave it", "", 9, "leave", glued=True),
            ]
        )

    def on_line_chosen(self, message: Line.Chosen) -> None:
        message.stop()
        (self.action_write if message.action == "write" else self.action_leave)()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_write()

    def action_write(self) -> None:
        self.dismiss(self.query_one(Input).value.strip() or None)

    def action_leave(self) -> None:
        self.dismiss(None)

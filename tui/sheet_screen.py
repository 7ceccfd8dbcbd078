"""A sheet over the screen that tells one thing in full, and whose text can be copied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from .line import Line, Piece, Sides
from .text_pane import PaneLine, TextPane


class SheetScreen(ModalScreen[None]):
    """Shown until it is closed; what lies below goes on."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "close", "close", show=False, id="sheet.close"),
        Binding("y", "copy", "copy", show=False, id="sheet.copy"),
    ]

    def compose(self) -> ComposeResult:
        with Vertical(classes="sheet"):
            yield Line(self._title)
            yield TextPane(id="sheet-text")

    def on_mount(self) -> None:
        pane = self.query_one(TextPane)
        pane.set_lines(self.lines())
        pane.focus()

    def heading(self) -> list[Piece]:
        """Return what the first line says of the thing."""
        raise NotImplementedError

    def lines(self) -> Sequence[PaneLine]:
        """Return the thing itself."""
        raise NotImplementedError

    def copied(self) -> tuple[str, str]:
        """Return the text that is copied, and what to call it."""
        raise NotImplementedError

    def _title(self, cells: int) -> Sides:
        keys = [Piece("y copies", "$quiet", 2, "copy"), Piece("esc closes", "$quiet", 3, "close")]
        return Sides(self.heading(), keys)

    def on_line_chosen(self, message: Line.Chosen) -> None:
        message.stop()
        if message.action == "copy":
            self.action_copy()
        else:
            self.action_close()

    def action_copy(self) -> None:
        text, what = self.copied()
        self.app.copy_to_clipboard(text)
        self.app.notify(f"copied {what}", markup=False, timeout=4)

    def action_close(self) -> None:
        self.dismiss(None)

"""Asks for one value, such as what a limit is to be; enter takes it, esc leaves."""

from __future__ import annotations

from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from .text import visible


class ValueInput(Input):
    """Takes every letter; enter takes the value, esc leaves."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "screen.leave", "leave", show=False, id="value.leave")]


class ValueScreen(ModalScreen[str | None]):
    """Returns what was typed, None if the person left or changed nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "leave", show=False, id="value.away")]

    def __init__(self, title: str, name: str, value: str, hint: str) -> None:
        super().__init__()
        self._asking, self._subject, self._hint = title, name, hint
        self._before: Final = value

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Content.assemble((self._asking, "bold")), markup=False)
            yield Static(Content(visible(self._subject)), markup=False, classes="dialog--name")
            yield ValueInput(value=self._before, compact=True, max_length=60)
            yield Static(Content(visible(self._hint)), markup=False, classes="dialog--answers")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        value = event.value.strip()
        self.dismiss(value if value and value != self._before else None)

    def action_leave(self) -> None:
        self.dismiss(None)

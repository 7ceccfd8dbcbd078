"""Writing a message: to whom, what, and how it is to be read. Nothing is sent before enter in the text."""

from __future__ import annotations

from typing import ClassVar, Final, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from poolboard.journal.message_model import MESSAGE_MODES, MessageMode

from .line import Line, Piece, Sides

_TOLD: Final[dict[MessageMode, str]] = {
    "steer": "read at the next look",
    "follow_up": "read once the stage that runs has ended",
    "interrupt": "cancels the stage that runs",
}


class Draft(NamedTuple):
    """A message that the person wants to send. An empty address is the root run."""

    address: str
    text: str
    mode: MessageMode


class SendScreen(ModalScreen[Draft | None]):
    """Asks for a message; enter in the text sends it, tab changes how it is read, esc leaves."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "leave", show=False, priority=True, id="send.leave"),
        Binding("tab", "mode", "how it is read", show=False, priority=True, id="send.mode"),
        Binding("up,down", "other", "the other line", show=False, priority=True, id="send.other"),
    ]

    def __init__(self, name: str, address: str) -> None:
        super().__init__()
        self._run: Final = name
        self._address: Final = address
        self._mode: MessageMode = "steer"

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Content.assemble((f"Send a message in {self._run}", "bold")), markup=False)
            yield Static(Content("to: child-7, child-7/STAGE, child-*, child-*/**; empty is the root"), markup=False)
            yield Input(self._address, placeholder="the root run", compact=True, max_length=300, id="send-to")
            yield Static(Content("text"), markup=False)
            yield Input(placeholder="what to say", compact=True, max_length=10_000, id="send-text")
            yield Line(self._how, id="send-mode")
            yield Line(self._keys, classes="dialog--answers")

    def on_mount(self) -> None:
        self.query_one("#send-text", Input).focus()

    def _how(self, cells: int) -> Sides:
        return Sides([Piece(self._mode.replace("_", " "), "bold", 9), Piece(_TOLD[self._mode], "$quiet", 5)])

    def _keys(self, cells: int) -> Sides:
        pieces: list[Piece] = []
        for key, words, action in (
            ("enter", "send", "send"),
            ("tab", "how it is read", "mode"),
            ("esc", "leave", "leave"),
        ):
            pieces.append(Piece(key, "bold $primary", 9, action))
            pieces.append(Piece(f" {words}", "", 9, action, glued=True))
        return Sides(pieces)

    def on_line_chosen(self, message: Line.Chosen) -> None:
        message.stop()
        self.call_later(self.run_action, message.action)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if event.input.id == "send-to":
            self.query_one("#send-text", Input).focus()
        else:
            self.action_send()

    def action_send(self) -> None:
        text = self.query_one("#send-text", Input).value
        if text.strip():
            self.dismiss(Draft(self.query_one("#send-to", Input).value.strip(), text, self._mode))

    def action_mode(self) -> None:
        """Choose the next way of reading."""
        self._mode = MESSAGE_MODES[(MESSAGE_MODES.index(self._mode) + 1) % len(MESSAGE_MODES)]
        self.query_one("#send-mode", Line).show(self._how)

    def action_other(self) -> None:
        """Go to the other line."""
        to, text = self.query_one("#send-to", Input), self.query_one("#send-text", Input)
        (text if to.has_focus else to).focus()

    def action_leave(self) -> None:
        self.dismiss(None)

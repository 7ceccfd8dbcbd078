"""One message in full: from whom, to whom, how it stands with each it reached, and its value."""

from __future__ import annotations

from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from poolboard.engine.views import MessageView

from .json_text import indent
from .line import Line, Piece, Sides
from .message_list import sender, target
from .text_pane import PaneLine, TextPane
from .units import clock_time, count


class MessageScreen(ModalScreen[None]):
    """Shows one message until it is closed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "close", "close", show=False, id="message.close"),
        Binding("y", "copy", "copy", show=False, id="message.copy"),
    ]

    def __init__(self, message: MessageView) -> None:
        super().__init__()
        self.message: Final = message

    def compose(self) -> ComposeResult:
        with Vertical(classes="sheet"):
            yield Line(self._title)
            yield TextPane(id="message-text")

    def on_mount(self) -> None:
        pane = self.query_one(TextPane)
        pane.set_lines([*self._recipients(), PaneLine("value", "title"), *map(PaneLine, self._value())])
        pane.focus()

    def _recipients(self) -> list[PaneLine]:
        message = self.message
        counts = [
            f"{count(number)} {words}"
            for number, words in (
                (message.undeliverable, "undeliverable"),
                (message.delivered, "there and not read yet"),
                (message.taken, "taken"),
            )
            if number
        ]
        waiting = "it waits for whom it is for" if message.open else "it reached nobody"
        lines = [PaneLine("recipients", "title"), PaneLine(", ".join(counts) or waiting)]
        for one in message.recipients:
            who = f"child #{one.n}" if one.n else "the root"
            tone = "failed" if one.state == "undeliverable" else ""
            lines.append(PaneLine(f"  {who}: {one.state} at {clock_time(one.at, one.at)}", tone))
        if message.omitted:
            lines.append(PaneLine(f"  and {count(message.omitted)} more", "quiet"))
        return [*lines, PaneLine("")]

    def _value(self) -> list[str]:
        return indent(self.message.value).split("\n")

    def _title(self, cells: int) -> Sides:
        message = self.message
        left = [
            Piece(f"message {message.number}", "bold", 9),
            Piece(f"from {sender(message)}", "", 7),
            Piece(f"to {target(message)}", "", 8),
            Piece(message.mode.replace("_", " "), "$quiet", 5),
            Piece(clock_time(message.sent_at, message.sent_at), "$quiet", 4),
        ]
        return Sides(left, [Piece("y copies", "$quiet", 2, "copy"), Piece("esc closes", "$quiet", 3, "close")])

    def on_line_chosen(self, message: Line.Chosen) -> None:
        message.stop()
        if message.action == "copy":
            self.action_copy()
        else:
            self.action_close()

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(self.message.value)
        self.app.notify(f"copied the value of message {self.message.number}", markup=False, timeout=4)

    def action_close(self) -> None:
        self.dismiss(None)

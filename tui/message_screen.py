"""One message in full: from whom, to whom, how it stands with each it reached, and its value."""

from __future__ import annotations

from typing import Final

from poolboard.engine.views import MessageView

from .json_text import indent
from .line import Piece
from .message_list import sender, target
from .sheet_screen import SheetScreen
from .text_pane import PaneLine
from .units import clock_time, count


class MessageScreen(SheetScreen):
    """Shows one message."""

    def __init__(self, message: MessageView) -> None:
        super().__init__()
        self.message: Final = message

    def heading(self) -> list[Piece]:
        message = self.message
        return [
            Piece(f"message {message.number}", "bold", 9),
            Piece(f"from {sender(message)}", "", 7),
            Piece(f"to {target(message)}", "", 8),
            Piece(message.mode.replace("_", " "), "$quiet", 5),
            Piece(clock_time(message.sent_at, message.sent_at), "$quiet", 4),
        ]

    def lines(self) -> list[PaneLine]:
        value = [PaneLine(line) for line in indent(self.message.value).split("\n")]
        return [*self._recipients(), PaneLine("value", "title"), *value]

    def copied(self) -> tuple[str, str]:
        return self.message.value, f"the value of message {self.message.number}"

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

"""One journal event in full: its payload as JSON laid out for reading."""

from __future__ import annotations

from typing import Final

from poolboard.engine.views import EventView

from .json_text import indent
from .line import Piece
from .sheet_screen import SheetScreen
from .text_pane import PaneLine
from .units import clock_time


class EventScreen(SheetScreen):
    """Shows one event."""

    def __init__(self, event: EventView) -> None:
        super().__init__()
        self.event: Final = event

    def heading(self) -> list[Piece]:
        event = self.event
        where = "the run" if event.work is None else "the root" if event.work == 0 else f"child #{event.work}"
        return [
            Piece(event.type, "bold", 9),
            Piece(where, "", 8),
            Piece(f"seq {event.seq}", "$quiet", 6),
            Piece(f"epoch {event.epoch}", "$quiet", 4),
            Piece(clock_time(event.at, event.at), "$quiet", 5),
        ]

    def lines(self) -> list[PaneLine]:
        return [PaneLine(line) for line in indent(self.event.payload).split("\n")]

    def copied(self) -> tuple[str, str]:
        return self.event.payload, f"the payload of event {self.event.seq}"

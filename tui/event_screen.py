"""One journal event in full: its payload as JSON laid out for reading."""

from __future__ import annotations

from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from poolboard.engine.views import EventView

from .json_text import indent
from .line import Line, Piece, Sides
from .text_pane import PaneLine, TextPane
from .units import clock_time


class EventScreen(ModalScreen[None]):
    """Shows one event until it is closed; the journal goes on below."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "close", "close", show=False, id="event.close"),
        Binding("y", "copy", "copy", show=False, id="event.copy"),
    ]

    def __init__(self, event: EventView) -> None:
        super().__init__()
        self.event: Final = event

    def compose(self) -> ComposeResult:
        with Vertical(classes="sheet"):
            yield Line(self._title)
            yield TextPane(id="event-text")

    def on_mount(self) -> None:
        pane = self.query_one(TextPane)
        pane.set_lines([PaneLine(line) for line in indent(self.event.payload).split("\n")])
        pane.focus()

    def _title(self, cells: int) -> Sides:
        event = self.event
        where = "the run" if event.work is None else "the root" if event.work == 0 else f"child #{event.work}"
        left = [
            Piece(event.type, "bold", 9),
            Piece(where, "", 8),
            Piece(f"seq {event.seq}", "$quiet", 6),
            Piece(f"epoch {event.epoch}", "$quiet", 4),
            Piece(clock_time(event.at, event.at), "$quiet", 5),
        ]
        return Sides(left, [Piece("y copies", "$quiet", 2, "copy"), Piece("esc closes", "$quiet", 3, "close")])

    def on_line_chosen(self, message: Line.Chosen) -> None:
        message.stop()
        if message.action == "copy":
            self.action_copy()
        else:
            self.action_close()

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(self.event.payload)
        self.app.notify(f"copied the payload of event {self.event.seq}", markup=False, timeout=4)

    def action_close(self) -> None:
        self.dismiss(None)

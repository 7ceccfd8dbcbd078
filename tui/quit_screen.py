"""The question on the way out: the run goes on without a screen, is stopped, or the person stays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from poolboard.engine.views import RunView

from .line import Line, Piece, Sides
from .text import visible
from .units import several

Leaving = Literal["detach", "stop", "stay"]
_NAMED: Final = 5


class QuitScreen(ModalScreen[Leaving]):
    """Says what happens to the running runs. ``stop`` is offered where exactly one run is meant."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "leave('detach')", "detach", show=False, id="quit.detach"),
        Binding("s,x", "leave('stop')", "stop", show=False, id="quit.stop"),
        Binding("escape,enter,n,q", "leave('stay')", "stay", show=False, id="quit.stay"),
    ]

    def __init__(self, running: Sequence[RunView], *, may_stop: bool) -> None:
        super().__init__()
        self.running: Final = tuple(running)
        self.may_stop: Final = may_stop and len(self.running) == 1

    def compose(self) -> ComposeResult:
        runs = self.running
        with Vertical(classes="dialog"):
            title = f"Leave {several(len(runs), 'running run')}?" if runs else "Leave the dashboard?"
            yield Static(Content.assemble((title, "bold")), markup=False)
            for run in runs[:_NAMED]:
                yield Static(Content(visible(f"{run.name}  {run.run_id}")), markup=False, classes="dialog--name")
            if len(runs) > _NAMED:
                yield Static(Content(f"and {len(runs) - _NAMED} more"), markup=False)
            yield Line(self._line_detach)
            if self.may_stop:
                yield Line(self._line_stop)
            yield Line(self._line_stay)

    def _line_detach(self, cells: int) -> Sides:
        if not self.running:
            return self._choice("d", "leave: nothing goes on here", "detach")
        goes = "it goes on" if len(self.running) == 1 else "they go on"
        return self._choice("d", f"detach: {goes} without this screen", "detach")

    def _line_stop(self, cells: int) -> Sides:
        return self._choice("s", "stop the run, then leave: it can be resumed", "stop")

    def _line_stay(self, cells: int) -> Sides:
        return self._choice("esc", "stay (enter)", "stay")

    @staticmethod
    def _choice(key: str, words: str, action: str) -> Sides:
        return Sides([Piece(f"{key:>3}", "bold $primary", 10, action), Piece(words, "", 9, action)])

    def on_line_chosen(self, message: Line.Chosen) -> None:
        message.stop()
        self.action_leave(message.action)

    def action_leave(self, how: str) -> None:
        if how == "detach":
            self.dismiss("detach")
        elif how != "stop":
            self.dismiss("stay")
        elif self.may_stop:
            self.dismiss("stop")

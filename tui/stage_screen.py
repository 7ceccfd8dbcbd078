"""One stage over all children: how long its calls took, as a histogram, and how fast they come."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from poolboard.engine.errors import UserMistake
from poolboard.engine.views import StageDurations

from .bar import spark
from .histogram import lines
from .line import Line, Piece, Sides
from .session import Session
from .text_pane import PaneLine, TextPane
from .units import rate

_SPARK_CELLS: Final = 30
#: Not more often: a histogram is looked at, not watched.
_AGAIN_S: Final = 1.0


class StageScreen(ModalScreen[None]):
    """Read again as the journal changes, while it is open. ``rates`` are the board's own, a second each."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "close", "close", show=False, id="stage.close"),
    ]

    def __init__(self, session: Session, run_id: str, name: str, rates: Sequence[float]) -> None:
        super().__init__()
        self._session: Final = session
        self._run_id: Final = run_id
        self._name_shown: Final = name
        self._rates: Final = rates
        self._durations: StageDurations | None = None
        self._why = "reading…"

    def compose(self) -> ComposeResult:
        with Vertical(classes="sheet"):
            yield Line(self._title, id="stage-title")
            yield TextPane(id="stage-text")

    def on_mount(self) -> None:
        self.query_one(TextPane).focus()
        self.run_worker(self._read(), exit_on_error=False)

    async def _read(self) -> None:
        monitor = self._session.monitor
        while True:
            try:
                self._durations = await monitor.stage(self._run_id, self._name_shown)
            except UserMistake as nothing:
                self._why = str(nothing)
            self._show()
            await self._rest()

    async def _rest(self) -> None:
        """Wait until something changed, but at least for a while: changes come in swarms."""
        clock = self._session.clock
        began_s = clock.steady_s()
        await self._session.monitor.wait_for_change(30.0)
        await asyncio.sleep(max(0.0, _AGAIN_S - (clock.steady_s() - began_s)))

    def on_resize(self) -> None:
        self.call_after_refresh(self._show)

    def _show(self) -> None:
        pane = self.query_one(TextPane)
        if self._durations is None:
            pane.show_lines([PaneLine(self._why, "quiet")])
        else:
            pane.show_lines(lines(self._durations, pane.size.width - 2, self._session.ascii))
        self.query_one("#stage-title", Line).show(self._title)

    def _title(self, cells: int) -> Sides:
        left = [Piece("stage", "$quiet", 3), Piece(self._name_shown, "bold", 9, elastic=True)]
        if self._rates and self._rates[-1] > 0:
            left.append(Piece(f"rate {rate(self._rates[-1])}", "", 6))
            left.append(Piece(spark(self._rates, _SPARK_CELLS, self._session.ascii), "$primary", 2))
        return Sides(left, [Piece("esc closes", "$quiet", 4, "close")])

    def on_line_chosen(self, message: Line.Chosen) -> None:
        message.stop()
        self.action_close()

    def action_close(self) -> None:
        self.dismiss(None)

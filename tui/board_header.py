"""The top of the board: three lines that are always there, and the alerts when there are any."""

from __future__ import annotations

from functools import partial
from typing import Final

from textual.app import ComposeResult
from textual.containers import Vertical

from poolboard.engine.views import Summary

from .header import Facts, identity, numbers, progress
from .line import Line, Piece, Sides

_ALERTS_SHOWN: Final = 3


class BoardHeader(Vertical):
    """Shows a summary. What did not change is not painted again."""

    def __init__(self, short_id: str, *, id: str) -> None:
        super().__init__(id=id)
        self._summary: Summary | None = None
        self._facts = Facts(short_id)

    def compose(self) -> ComposeResult:
        yield Line(self._identity, id="identity")
        yield Line(self._progress, id="progress")
        yield Line(self._numbers, id="numbers")
        for place in range(_ALERTS_SHOWN):
            yield Line(id=f"alert-{place}", classes="alert")

    def show(self, summary: Summary | None, facts: Facts) -> None:
        """Show a newer summary, or the same one a second later."""
        self._summary, self._facts = summary, facts
        for name, build in (("identity", self._identity), ("progress", self._progress), ("numbers", self._numbers)):
            self.query_one(f"#{name}", Line).show(build)
        self._show_alerts(summary.alerts if summary else ())

    def _show_alerts(self, alerts: tuple[str, ...]) -> None:
        sign = "!" if self._facts.ascii else "▲"
        for place in range(_ALERTS_SHOWN):
            text = alerts[place] if place < len(alerts) else ""
            if place == _ALERTS_SHOWN - 1 and len(alerts) > _ALERTS_SHOWN:
                text = f"{len(alerts) - _ALERTS_SHOWN + 1} more alerts, first: {text}"
            line = self.query_one(f"#alert-{place}", Line)
            line.set_class(bool(text), "-shown")
            line.show(partial(_always, Sides([Piece(f"{sign} {text}", "$warning")] if text else [])))

    def _identity(self, cells: int) -> Sides:
        if self._summary is None:
            return Sides([Piece(f"reading run {self._facts.short_id}…", "$quiet")])
        return identity(self._summary, self._facts)

    def _progress(self, cells: int) -> Sides:
        return progress(self._summary, self._facts, cells) if self._summary else Sides([])

    def _numbers(self, cells: int) -> Sides:
        return numbers(self._summary, self._facts) if self._summary else Sides([])


def _always(sides: Sides, cells: int) -> Sides:
    return sides

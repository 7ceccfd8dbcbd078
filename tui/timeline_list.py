"""The timeline's two lists: a bar per child, and a line of bars per slot of every worker."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from .columns import Cell, Column, Look
from .glyphs import WORK_MARKS
from .shape import Shape
from .timeline import Lane, Span, Window, axis, bar, idle
from .units import duration, span_ms


class ChildBar(NamedTuple):
    """A child and the window that its bar is drawn in: a bar changes when the window does."""

    span: Span
    window: Window


class LaneBar(NamedTuple):
    """A lane and its window."""

    lane: Lane
    window: Window


BAR_SHAPE: Final[Shape[ChildBar]] = Shape(
    key=lambda row: row.span.n,
    text=lambda row: row.span.label,
    fields={},
    kinds={},
    live=lambda row: row.span.end_ms is None,
)

LANE_SHAPE: Final[Shape[LaneBar]] = Shape(
    key=lambda row: f"{row.lane.worker}/{row.lane.place}",
    text=lambda row: row.lane.worker,
    fields={},
    kinds={},
    live=lambda row: row.lane.spans[-1].end_ms is None,
)


def _glyph(row: ChildBar, look: Look) -> Cell:
    mark = WORK_MARKS[row.span.state]
    return Cell(mark.sign(look.ascii), mark.tone)


def _took(row: ChildBar, look: Look) -> Cell:
    return Cell(duration(span_ms(row.span.start_ms, row.span.end_ms, look.now_ms)))


def _child_bar(row: ChildBar, look: Look, cells: int) -> Cell:
    return Cell(bar([row.span], row.window, cells, look.now_ms, ascii=look.ascii), WORK_MARKS[row.span.state].tone)


def _lane_bar(row: LaneBar, look: Look, cells: int) -> Cell:
    line = idle(bar(row.lane.spans, row.window, cells, look.now_ms, ascii=look.ascii), ascii=look.ascii)
    return Cell(line, "running" if row.lane.spans[-1].end_ms is None else "")


def bar_columns(window: Callable[[], Window]) -> tuple[Column[ChildBar], ...]:
    """Return the columns of the children's bars; ``window`` is asked at drawing time."""
    return (
        Column("glyph", "", _glyph, 1, keep=9),
        Column("n", "#", lambda row, _: Cell(str(row.span.n), "quiet"), 5, align="right", keep=5),
        Column("label", "child", lambda row, _: Cell(row.span.label), 14, flex=1, most=40, middle=True, keep=7),
        Column("took", "took", _took, 7, align="right", keep=6),
        Column(
            "bar",
            "",
            lambda row, look: Cell(""),
            10,
            flex=4,
            keep=8,
            drawn=_child_bar,
            heading=lambda cells: axis(window(), cells),
        ),
    )


def lane_columns(window: Callable[[], Window]) -> tuple[Column[LaneBar], ...]:
    """Return the columns of the workers' lanes."""
    return (
        Column("worker", "worker", lambda row, _: Cell(row.lane.worker), 10, keep=9),
        Column("slot", "slot", lambda row, _: Cell(str(row.lane.place), "quiet"), 4, align="right", keep=7),
        Column(
            "bar",
            "",
            lambda row, look: Cell(""),
            10,
            flex=4,
            keep=8,
            drawn=_lane_bar,
            heading=lambda cells: axis(window(), cells),
        ),
    )

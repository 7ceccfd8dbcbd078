"""The stage board: one row per stage over all children."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from poolboard.engine.views import StageView

from .bar import spark
from .columns import Cell, Column, Look
from .glyphs import RUN_MARKS
from .shape import Shape
from .units import count, milliseconds, rate

STAGE_SHAPE: Final[Shape[StageView]] = Shape(
    key=lambda row: row.name,
    text=lambda row: row.name,
    fields={},
    kinds={},
    live=lambda row: False,
    sized={"name": lambda row: row.name},
)


def _number(value: int, tone: str) -> Cell:
    """A number that is nothing is quiet, so that what matters stands out."""
    return Cell(count(value), tone if value else "quiet")


def _glyph(row: StageView, look: Look) -> Cell:
    if row.name in look.stopped:
        return Cell(RUN_MARKS["stopped"].sign(look.ascii), "stopped")
    if row.paused:
        return Cell("=" if look.ascii else "‖", "paused")
    if row.active:
        return Cell("*" if look.ascii else "●", "running")
    if row.failed:
        return Cell("x" if look.ascii else "✗", "failed")
    if row.done and look.ended:
        return Cell("+" if look.ascii else "✓", "completed")
    return Cell("o" if look.ascii else "○", "pending")


#: The last rates of each stage by name, a second each.
Trends = Mapping[str, Sequence[float]]


def _trend(row: StageView, look: Look, cells: int, trends: Trends) -> Cell:
    return Cell(spark(trends.get(row.name, ()), cells, look.ascii), "running" if row.active else "quiet")


def stage_columns(trends: Trends) -> tuple[Column[StageView], ...]:
    """Return the columns; ``trends`` is looked up at drawing time."""
    return (
        *STAGE_COLUMNS,
        Column(
            "trend",
            "trend",
            lambda row, look: Cell(""),
            10,
            flex=1,
            most=30,
            keep=0,
            drawn=lambda row, look, cells: _trend(row, look, cells, trends),
        ),
    )


STAGE_COLUMNS: Final[tuple[Column[StageView], ...]] = (
    Column("glyph", "", _glyph, 1, keep=9),
    Column("name", "stage", lambda row, _: Cell(row.name), 12, flex=3, most=40, keep=9, sort=lambda row, _: row.name),
    Column(
        "waiting",
        "waiting",
        lambda row, _: _number(row.waiting, "pending"),
        8,
        align="right",
        keep=4,
        sort=lambda row, _: row.waiting,
        down=True,
    ),
    Column(
        "active",
        "active",
        lambda row, _: _number(row.active, "running"),
        7,
        align="right",
        keep=8,
        sort=lambda row, _: row.active,
        down=True,
    ),
    Column(
        "done",
        "done",
        lambda row, _: _number(row.done, "completed"),
        8,
        align="right",
        keep=7,
        sort=lambda row, _: row.done,
        down=True,
    ),
    Column(
        "failed",
        "failed",
        lambda row, _: _number(row.failed, "failed"),
        7,
        align="right",
        keep=6,
        sort=lambda row, _: row.failed,
        down=True,
    ),
    Column(
        "rate",
        "rate",
        lambda row, _: Cell(rate(row.rate_per_s)),
        8,
        align="right",
        keep=3,
        sort=lambda row, _: row.rate_per_s,
        down=True,
    ),
    Column(
        "p50",
        "p50",
        lambda row, _: Cell(milliseconds(row.p50_ms)),
        7,
        align="right",
        keep=5,
        sort=lambda row, _: row.p50_ms or 0.0,
        down=True,
    ),
    Column(
        "p95",
        "p95",
        lambda row, _: Cell(milliseconds(row.p95_ms)),
        7,
        align="right",
        keep=2,
        sort=lambda row, _: row.p95_ms or 0.0,
        down=True,
    ),
)

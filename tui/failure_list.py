"""The list of failure groups: how many failed in one way, and which was the first."""

from __future__ import annotations

from typing import Final

from .child_list import without_stage
from .columns import Cell, Column, Look
from .failures import FailureGroup
from .shape import Shape
from .units import clock_time, count

FAILURE_SHAPE: Final[Shape[FailureGroup]] = Shape(
    key=lambda row: row.id,
    text=lambda row: row.words,
    fields={},
    kinds={},
    live=lambda row: False,
    sized={"stage": lambda row: row.first.stage or "", "first": lambda row: f"#{row.first.n} {row.first.label}"},
)


def _clock(at_ms: int | None, look: Look) -> Cell:
    if not at_ms:
        return Cell("")
    return Cell(clock_time(at_ms, look.now_ms if look.now_ms is not None else at_ms), "quiet")


def _glyph(row: FailureGroup, look: Look) -> Cell:
    if row.earliest:
        return Cell("1", "warn")
    return Cell("x" if look.ascii else "✗", "failed")


def _words(row: FailureGroup, look: Look) -> Cell:
    return Cell(without_stage(row.words, row.first.stage))


FAILURE_COLUMNS: Final[tuple[Column[FailureGroup], ...]] = (
    Column("glyph", "", _glyph, 1, keep=8),
    Column(
        "count",
        "failed",
        lambda row, _: Cell(count(row.failed), "failed"),
        7,
        align="right",
        keep=9,
        sort=lambda row, _: row.failed,
        down=True,
    ),
    Column(
        "stage",
        "stage",
        lambda row, _: Cell(row.first.stage or "", "quiet"),
        12,
        flex=1,
        most=24,
        keep=6,
        sort=lambda row, _: row.first.stage or "",
    ),
    Column("words", "error", _words, 32, flex=6, keep=9, sort=lambda row, _: row.words),
    Column(
        "first",
        "first child",
        lambda row, _: Cell(f"#{row.first.n} {row.first.label}"),
        16,
        flex=3,
        most=60,
        middle=True,
        keep=7,
        sort=lambda row, _: row.first.n,
    ),
    Column(
        "since",
        "first at",
        lambda row, look: _clock(row.first.ended_at, look),
        8,
        flex=1,
        most=12,
        align="right",
        keep=5,
        sort=lambda row, _: row.first.ended_at or 0,
    ),
    Column(
        "last",
        "last at",
        lambda row, look: _clock(row.last_at, look),
        8,
        flex=1,
        most=12,
        align="right",
        keep=4,
        sort=lambda row, _: row.last_at,
        down=True,
    ),
    Column("group", "group", lambda row, _: Cell(row.id, "quiet"), 6, keep=3, sort=lambda row, _: row.id),
)

"""The stages that one child has recorded."""

from __future__ import annotations

from typing import Final

from poolboard.engine.views import StageRun

from .columns import Cell, Column, Look
from .shape import Shape
from .units import clock_time, count, milliseconds

STAGE_RUN_SHAPE: Final[Shape[StageRun]] = Shape(
    key=lambda row: row.seq, text=lambda row: row.name, fields={}, kinds={}, live=lambda row: False
)


def _glyph(row: StageRun, look: Look) -> Cell:
    if row.ok:
        return Cell("+" if look.ascii else "✓", "completed")
    return Cell("x" if look.ascii else "✗", "failed")


def _outcome(row: StageRun, look: Look) -> Cell:
    """The result, or the error's last line: a traceback ends with what happened."""
    if row.ok:
        return Cell(row.result or "")
    lines = (row.error or "").strip().splitlines()
    return Cell(lines[-1] if lines else "failed", "failed")


STAGE_RUN_COLUMNS: Final[tuple[Column[StageRun], ...]] = (
    Column("glyph", "", _glyph, 1, keep=9),
    Column("name", "stage", lambda row, _: Cell(row.name), 12, flex=2, most=30, keep=9, sort=lambda row, _: row.name),
    Column(
        "attempt",
        "attempt",
        lambda row, _: Cell(count(row.attempt), "warn" if row.attempt > 1 else "quiet"),
        7,
        align="right",
        keep=5,
        sort=lambda row, _: row.attempt,
        down=True,
    ),
    Column(
        "took",
        "took",
        lambda row, _: Cell(milliseconds(row.duration_ms)),
        7,
        align="right",
        keep=8,
        sort=lambda row, _: row.duration_ms,
    ),
    Column(
        "ended",
        "ended",
        lambda row, look: Cell(
            clock_time(row.completed_at, look.now_ms if look.now_ms is not None else row.completed_at), "quiet"
        ),
        12,
        keep=3,
        sort=lambda row, _: row.completed_at,
    ),
    Column(
        "outcome", "result or error", _outcome, 14, flex=4, keep=7, sort=lambda row, _: row.result or row.error or ""
    ),
)

"""The list of children: its columns, and what its filter understands."""

from __future__ import annotations

from typing import Final

from poolboard.engine.views import ChildRow

from .columns import Cell, Column, Look
from .fingerprint import fingerprint, group_id
from .fold import by_name
from .glyphs import RUN_MARKS, WORK_MARKS, Mark
from .held import BLOCKED, HeldAs
from .shape import FoldBy, Shape
from .units import count, duration, span_ms

_STATE_ORDER: Final = {"failed": 0, "leased": 1, "waiting": 2, "ready": 3, "cancelled": 4, "completed": 5}

#: What a state takes where none is blocked by a budget.
_STATE_CELLS: Final = 9
#: The group of the children without an error.
_SOUND: Final = "no error"


def took_s(row: ChildRow, now_ms: int | None) -> float | None:
    """Return how long the child ran: to its end once it has ended, to now while it runs, None before it started."""
    return span_ms(row.started_at, row.ended_at, now_ms)


def is_live(row: ChildRow) -> bool:
    """Say whether the child's clock ticks."""
    return row.started_at is not None and row.ended_at is None and row.state in ("leased", "waiting")


CHILD_SHAPE: Final[Shape[ChildRow]] = Shape(
    key=lambda row: row.n,
    text=lambda row: f"#{row.n} {row.label} {row.workflow} {row.error or ''}",
    fields={
        "state": lambda row, _: f"{row.state} running" if row.state == "leased" else row.state,
        "stage": lambda row, _: row.stage,
        "worker": lambda row, _: row.worker,
        "error": lambda row, _: row.error,
        "workflow": lambda row, _: row.workflow,
        "group": lambda row, _: group_id(row.error or "") if row.state == "failed" else None,
        "took": took_s,
        "starts": lambda row, _: float(row.starts),
        "stages": lambda row, _: float(row.stages_done),
        "depth": lambda row, _: float(row.depth),
        "n": lambda row, _: float(row.n),
        "parent": lambda row, _: None if row.parent is None else float(row.parent),
    },
    kinds={
        "state": "text",
        "stage": "text",
        "worker": "text",
        "error": "text",
        "workflow": "text",
        "group": "text",
        "took": "duration",
        "starts": "number",
        "stages": "number",
        "depth": "number",
        "n": "number",
        "parent": "number",
    },
    live=is_live,
    tells={
        "workflow": lambda row: row.workflow,
        "starts": lambda row: row.starts if row.starts > 1 else None,
        "stages": lambda row: row.stages_done or None,
        "worker": lambda row: row.worker,
        "error": lambda row: True if row.error else None,
    },
    folds=(
        FoldBy("state", lambda row: row.state, lambda state: float(_STATE_ORDER.get(state, 9))),
        by_name("stage", lambda row: row.stage or "no stage"),
        by_name("error", lambda row: fingerprint(row.error) if row.error else _SOUND),
        by_name("worker", lambda row: row.worker or "no worker"),
    ),
    sized={
        "label": lambda row: "  " * min(row.depth - 1, 4) + row.label,
        "stage": lambda row: row.stage or "",
        "workflow": lambda row: row.workflow,
        "worker": lambda row: row.worker or "",
    },
)


def is_held_back(row: ChildRow, look: Look) -> bool:
    """Say whether this very child is held back; one that has ended is not held any more."""
    return row.ended_at is None and str(row.n) in look.held


_HELD_MARKS: Final[dict[HeldAs, Mark]] = {
    "held": RUN_MARKS["paused"],
    "stopped": RUN_MARKS["stopped"],
    BLOCKED: RUN_MARKS["blocked"],
}


def _mark(row: ChildRow, look: Look) -> Mark:
    return _HELD_MARKS[look.held[str(row.n)]] if is_held_back(row, look) else WORK_MARKS[row.state]


def _glyph(row: ChildRow, look: Look) -> Cell:
    mark = _mark(row, look)
    return Cell(mark.sign(look.ascii), mark.tone)


def _state(row: ChildRow, look: Look) -> Cell:
    mark = _mark(row, look)
    return Cell(look.held[str(row.n)] if is_held_back(row, look) else mark.word, mark.tone)


def _state_cells(look: Look) -> int:
    """Return what the longest state takes: a used up budget is named whole, and else no room is kept for that."""
    return len(BLOCKED) if BLOCKED in look.held.values() else _STATE_CELLS


CHILD_COLUMNS: Final[tuple[Column[ChildRow], ...]] = (
    Column("glyph", "", _glyph, 1, keep=9),
    Column("n", "#", lambda row, _: Cell(str(row.n), "quiet"), 5, align="right", keep=8, sort=lambda row, _: row.n),
    Column(
        "label",
        "child",
        lambda row, _: Cell("  " * min(row.depth - 1, 4) + row.label),
        20,
        flex=6,
        most=110,
        middle=True,
        keep=9,
        sort=lambda row, _: row.label,
    ),
    Column(
        "workflow",
        "workflow",
        lambda row, _: Cell(row.workflow, "quiet"),
        10,
        flex=1,
        most=24,
        keep=1,
        sort=lambda row, _: row.workflow,
        told=2,
    ),
    Column(
        "state",
        "state",
        _state,
        _STATE_CELLS,
        flex=2,
        most=len(BLOCKED),
        keep=3,
        sort=lambda row, _: _STATE_ORDER[row.state],
        needs=_state_cells,
    ),
    Column(
        "stage",
        "stage",
        lambda row, _: Cell(row.stage or "", "running" if row.state == "leased" else "quiet"),
        12,
        flex=1,
        most=24,
        keep=5,
        sort=lambda row, _: row.stage or "",
    ),
    Column(
        "stages",
        "done",
        lambda row, _: Cell(count(row.stages_done), "" if row.stages_done else "quiet"),
        4,
        align="right",
        keep=3,
        sort=lambda row, _: row.stages_done,
        down=True,
        told=1,
    ),
    Column(
        "starts",
        "starts",
        lambda row, _: Cell(count(row.starts), "warn" if row.starts > 1 else "quiet"),
        6,
        align="right",
        keep=2,
        sort=lambda row, _: row.starts,
        down=True,
        told=1,
    ),
    Column(
        "worker",
        "worker",
        lambda row, _: Cell(row.worker or "", "quiet"),
        8,
        flex=1,
        most=12,
        keep=2,
        sort=lambda row, _: row.worker or "",
        told=2,
    ),
    Column(
        "took",
        "took",
        lambda row, look: Cell(_took_text(row, look)),
        7,
        align="right",
        keep=7,
        sort=lambda row, now_ms: took_s(row, now_ms) or 0.0,
        timed=True,
        down=True,
    ),
    Column(
        "error",
        "error",
        lambda row, _: Cell(without_stage(row.error or "", row.stage), "failed"),
        18,
        flex=3,
        keep=4,
        sort=lambda row, _: row.error or "\U0010ffff",
        told=1,
    ),
)


def without_stage(error: str, stage: str | None) -> str:
    """Return an error without the name of its stage where that is told beside it."""
    return error.removeprefix(f"stage {stage}: ") if stage else error


def _took_text(row: ChildRow, look: Look) -> str:
    seconds = took_s(row, look.now_ms)
    return "" if seconds is None and row.started_at is None else duration(seconds)

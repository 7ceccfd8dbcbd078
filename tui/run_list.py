"""The list of root runs: its columns, its order and the shortest ids that tell them apart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from poolboard.engine.views import RunView

from .bar import strip
from .columns import Cell, Column, Look
from .fold import by_name
from .glyphs import ACTIVE, RUN_MARKS
from .run_rates import RunRates
from .shape import Shape
from .units import age, count, duration, eta, rate

_LEAST_ID: Final = 6

RUN_SHAPE: Final[Shape[RunView]] = Shape(
    key=lambda row: row.run_id,
    text=lambda row: f"{row.run_id} {row.name} {row.cwd} {row.error or ''}",
    fields={
        "state": lambda row, _: row.status.replace("_", " "),
        "failed": lambda row, _: float(row.children.failed),
        "took": lambda row, _: row.elapsed_s,
        "folder": lambda row, _: row.cwd,
        "error": lambda row, _: row.error,
    },
    kinds={"state": "text", "failed": "number", "took": "duration", "folder": "text", "error": "text"},
    live=lambda row: True,  # all of them grow older
    folds=(
        by_name("state", lambda row: RUN_MARKS[row.status].word),
        by_name("name", lambda row: row.name),
        by_name("folder", lambda row: row.cwd),
    ),
)


def short_ids(run_ids: Iterable[str]) -> dict[str, str]:
    """Return for each id its shortest prefix that no other run has, at least 6 characters."""
    ordered = sorted(set(run_ids))
    short: dict[str, str] = {}
    for index, run_id in enumerate(ordered):
        shared = max(
            (_common(run_id, ordered[other]) for other in (index - 1, index + 1) if 0 <= other < len(ordered)),
            default=0,
        )
        short[run_id] = run_id[: max(_LEAST_ID, shared + 1)]
    return short


def _common(one: str, other: str) -> int:
    length = 0
    for mine, yours in zip(one, other, strict=False):
        if mine != yours:
            break
        length += 1
    return length


def run_columns(short: dict[str, str], rates: RunRates) -> tuple[Column[RunView], ...]:
    """Return the columns; ``short`` and ``rates`` are looked up at drawing time: they change as runs come and go."""
    return (
        Column("glyph", "", _glyph, 1, keep=9),
        Column(
            "id",
            "run",
            lambda row, _: Cell(short.get(row.run_id, row.run_id), "quiet"),
            8,
            flex=1,
            most=16,
            keep=6,
            sort=lambda row, _: row.run_id,
        ),
        Column(
            "name",
            "name",
            lambda row, _: Cell(row.name),
            12,
            flex=3,
            most=32,
            keep=9,
            sort=lambda row, _: row.name,
        ),
        Column("status", "status", _status, 10, flex=1, most=14, keep=8, sort=lambda row, _: row.status),
        Column("progress", "progress", _strip, 10, keep=4, sort=_progress, down=True),
        Column(
            "done",
            "done",
            _done,
            11,
            flex=1,
            most=17,
            align="right",
            keep=7,
            sort=lambda row, _: row.children.done,
            down=True,
        ),
        Column(
            "failed",
            "failed",
            _failed,
            6,
            align="right",
            keep=6,
            sort=lambda row, _: row.children.failed,
            down=True,
        ),
        Column(
            "rate",
            "rate",
            lambda row, _: Cell(rate(rates.per_s(row.run_id)) if row.status in ACTIVE else ""),
            7,
            align="right",
            keep=4,
            sort=lambda row, _: rates.per_s(row.run_id),
            timed=True,
            down=True,
        ),
        Column(
            "eta",
            "ETA",
            lambda row, _: Cell(eta(rates.eta_s(row)) if row.status in ACTIVE else ""),
            8,
            flex=1,
            most=16,
            align="right",
            keep=5,
            sort=lambda row, _: (rates.eta_s(row) or (float("inf"),))[0],
            timed=True,
        ),
        Column(
            "elapsed",
            "elapsed",
            lambda row, _: Cell(duration(row.elapsed_s)),
            7,
            align="right",
            keep=5,
            sort=lambda row, _: row.elapsed_s,
            down=True,
        ),
        Column("created", "created", _created, 8, align="right", keep=3, sort=lambda row, _: row.created_at, down=True),
        Column(
            "folder",
            "folder",
            lambda row, _: Cell(row.cwd, "quiet"),
            12,
            flex=4,
            middle=True,
            keep=1,
            sort=lambda row, _: row.cwd,
        ),
    )


def _glyph(row: RunView, look: Look) -> Cell:
    mark = RUN_MARKS[row.status]
    return Cell(mark.sign(look.ascii), mark.tone)


def _status(row: RunView, look: Look) -> Cell:
    mark = RUN_MARKS[row.status]
    if row.prompts and row.status == "awaiting_input":
        return Cell(f"asks {count(row.prompts)}", mark.tone)
    return Cell(mark.word, mark.tone)


def _strip(row: RunView, look: Look) -> Cell:
    return Cell(strip(row.children, 10, look.ascii), RUN_MARKS[row.status].tone)


def _done(row: RunView, look: Look) -> Cell:
    return Cell(f"{count(row.children.done)}/{count(row.children.total)}")


def _failed(row: RunView, look: Look) -> Cell:
    return Cell(count(row.children.failed), "failed" if row.children.failed else "quiet")


def _created(row: RunView, look: Look) -> Cell:
    return Cell("" if look.now_ms is None else age((look.now_ms - row.created_at) / 1000), "quiet")


def _progress(row: RunView, now_ms: int | None) -> float:
    return row.children.done / row.children.total if row.children.total else 0.0

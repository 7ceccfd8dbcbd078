"""The workers and what their slots are doing."""

from __future__ import annotations

from typing import Final

from poolboard.engine.views import ActiveView, WorkerView

from .columns import Cell, Column
from .shape import Shape
from .units import count, duration, size

#: A heartbeat older than this is worth a look: workers send one every second.
_LATE_S: Final = 5.0

WORKER_SHAPE: Final[Shape[WorkerView]] = Shape(
    key=lambda row: row.id, text=lambda row: row.id, fields={}, kinds={}, live=lambda row: False
)

WORKER_COLUMNS: Final[tuple[Column[WorkerView], ...]] = (
    Column("id", "worker", lambda row, _: Cell(row.id), 8, flex=1, most=20, keep=9, sort=lambda row, _: row.id),
    Column(
        "pid", "pid", lambda row, _: Cell(str(row.pid), "quiet"), 8, align="right", keep=4, sort=lambda row, _: row.pid
    ),
    Column(
        "busy",
        "slots",
        lambda row, _: Cell(f"{row.active} of {row.slots}", "running" if row.active else "quiet"),
        8,
        align="right",
        keep=8,
        sort=lambda row, _: row.active,
        down=True,
    ),
    Column(
        "cpu",
        "cpu",
        lambda row, _: Cell(f"{row.cpu_percent:.0f}%"),
        6,
        align="right",
        keep=7,
        sort=lambda row, _: row.cpu_percent,
        down=True,
    ),
    Column(
        "rss",
        "memory",
        lambda row, _: Cell(size(row.rss_bytes)),
        9,
        align="right",
        keep=6,
        sort=lambda row, _: row.rss_bytes,
        down=True,
    ),
    Column(
        "restarts",
        "restarts",
        lambda row, _: Cell(count(row.restarts), "warn" if row.restarts else "quiet"),
        8,
        align="right",
        keep=5,
        sort=lambda row, _: row.restarts,
        down=True,
    ),
    Column(
        "heartbeat",
        "heartbeat",
        lambda row, _: Cell(duration(row.heartbeat_age_s), "warn" if row.heartbeat_age_s > _LATE_S else "quiet"),
        9,
        align="right",
        keep=3,
        sort=lambda row, _: row.heartbeat_age_s,
        down=True,
    ),
)

SLOT_SHAPE: Final[Shape[ActiveView]] = Shape(
    key=lambda row: row.n,
    text=lambda row: f"#{row.n} {row.label} {row.stage or ''} {row.note or ''}",
    fields={},
    kinds={},
    live=lambda row: False,
)

SLOT_COLUMNS: Final[tuple[Column[ActiveView], ...]] = (
    Column(
        "worker",
        "worker",
        lambda row, _: Cell(row.worker, "quiet"),
        8,
        keep=5,
        sort=lambda row, _: row.worker,
    ),
    Column("n", "#", lambda row, _: Cell(str(row.n), "quiet"), 6, align="right", keep=4, sort=lambda row, _: row.n),
    Column(
        "label",
        "child",
        lambda row, _: Cell(row.label),
        14,
        middle=True,
        flex=2,
        most=60,
        keep=9,
        sort=lambda row, _: row.label,
    ),
    Column(
        "stage",
        "stage",
        lambda row, _: Cell(row.stage or "between stages", "running" if row.stage else "quiet"),
        14,
        flex=1,
        most=30,
        keep=8,
        sort=lambda row, _: row.stage or "",
    ),
    Column(
        "since",
        "since",
        lambda row, _: Cell(duration(row.since_s)),
        7,
        align="right",
        keep=7,
        sort=lambda row, _: row.since_s,
        down=True,
    ),
    Column(
        "note",
        "note",
        lambda row, _: Cell(row.note or "", "quiet"),
        10,
        flex=3,
        keep=6,
        sort=lambda row, _: row.note or "",
    ),
)

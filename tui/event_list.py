"""The list of journal events: what was recorded, in order."""

from __future__ import annotations

from typing import Final

from poolboard.engine.views import EventView

from .columns import Cell, Column, Look
from .fold import by_name
from .shape import Shape
from .units import clock_time

#: Events of these words are worth a colour; everything else is plain.
_TONES: Final = (("fail", "failed"), ("cancel", "cancelled"), ("complete", "completed"), ("retr", "warn"))

EVENT_SHAPE: Final[Shape[EventView]] = Shape(
    key=lambda row: row.seq,
    text=lambda row: f"{row.type} {row.payload[:4000]}" + ("" if row.work is None else f" #{row.work}"),
    fields={
        "type": lambda row, _: row.type,
        "n": lambda row, _: None if row.work is None else float(row.work),
        "epoch": lambda row, _: float(row.epoch),
        "seq": lambda row, _: float(row.seq),
    },
    kinds={"type": "text", "n": "number", "epoch": "number", "seq": "number"},
    live=lambda row: False,
    folds=(by_name("type", lambda row: row.type),),
)


def _type(row: EventView, look: Look) -> Cell:
    lower = row.type.lower()
    return Cell(row.type, next((tone for word, tone in _TONES if word in lower), ""))


def _at(row: EventView, look: Look) -> Cell:
    return Cell(clock_time(row.at, look.now_ms if look.now_ms is not None else row.at), "quiet")


EVENT_COLUMNS: Final[tuple[Column[EventView], ...]] = (
    Column(
        "seq", "seq", lambda row, _: Cell(str(row.seq), "quiet"), 7, align="right", keep=6, sort=lambda row, _: row.seq
    ),
    Column("at", "at", _at, 8, flex=1, most=12, keep=7, sort=lambda row, _: row.at),
    Column("type", "type", _type, 16, flex=2, most=28, keep=9, sort=lambda row, _: row.type),
    Column(
        "n",
        "child",
        lambda row, _: Cell("" if row.work is None else f"#{row.work}" if row.work else "root", "quiet"),
        7,
        align="right",
        keep=8,
        sort=lambda row, _: -1 if row.work is None else row.work,
    ),
    Column(
        "epoch",
        "epoch",
        lambda row, _: Cell(str(row.epoch), "quiet"),
        5,
        align="right",
        keep=2,
        sort=lambda row, _: row.epoch,
    ),
    Column("payload", "payload", lambda row, _: Cell(row.payload), 12, flex=8, keep=5, sort=lambda row, _: row.payload),
)

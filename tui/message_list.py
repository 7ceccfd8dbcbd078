"""The list of messages: who sent what to whom, and how it stands with those it reached."""

from __future__ import annotations

from typing import Final

from poolboard.engine.views import MessageView

from .columns import Cell, Column, Look
from .fold import by_name
from .shape import Shape
from .units import clock_time, count


def sender(row: MessageView) -> str:
    """Return who sent a message: a run, a person, or the pool itself."""
    if row.sender is not None:
        return f"#{row.sender}" if row.sender else "root"
    return row.by or ("the pool" if row.undeliverable_of is not None else "?")


def target(row: MessageView) -> str:
    """Return whom a message is for."""
    return row.target + (f"/{row.stage}" if row.stage else "")


def state(row: MessageView) -> str:
    """Return how a message stands, in a word: what needs somebody first."""
    if row.undeliverable:
        return "undeliverable"
    if row.open:
        return "waits" if not row.delivered + row.taken else "open"
    return "taken" if row.taken else "ended"


def recipients(row: MessageView) -> str:
    """Return the recipients that a list names, five at most, and how many it does not."""
    named = [f"{'#' + str(one.n) if one.n else 'root'} {one.state}" for one in row.recipients]
    return ", ".join(named) + (f", {count(row.omitted)} more" if row.omitted else "")


MESSAGE_SHAPE: Final[Shape[MessageView]] = Shape(
    key=lambda row: row.number,
    text=lambda row: f"{sender(row)} {target(row)} {row.mode} {row.value}",
    fields={
        "state": lambda row, _: state(row),
        "from": lambda row, _: sender(row),
        "to": lambda row, _: target(row),
        "mode": lambda row, _: row.mode,
        "n": lambda row, _: float(row.number),
    },
    kinds={"state": "text", "from": "text", "to": "text", "mode": "text", "n": "number"},
    live=lambda row: False,
    folds=(by_name("mode", lambda row: row.mode),),
)

_TONES: Final = {"undeliverable": "failed", "waits": "warn", "taken": "completed"}


def _count(number: int, tone: str = "") -> Cell:
    return Cell(count(number) if number else "", tone)


def _at(row: MessageView, look: Look) -> Cell:
    return Cell(clock_time(row.sent_at, look.now_ms if look.now_ms is not None else row.sent_at), "quiet")


MESSAGE_COLUMNS: Final[tuple[Column[MessageView], ...]] = (
    Column(
        "number",
        "message",
        lambda row, _: Cell(str(row.number), "quiet"),
        7,
        align="right",
        keep=7,
        sort=lambda row, _: row.number,
        down=True,
    ),
    Column("sent", "sent", _at, 8, flex=1, most=12, keep=5, sort=lambda row, _: row.sent_at, down=True),
    Column(
        "state",
        "state",
        lambda row, _: Cell(state(row), _TONES.get(state(row), "")),
        13,
        keep=8,
        sort=lambda row, _: state(row),
    ),
    Column(
        "from", "from", lambda row, _: Cell(sender(row)), 6, flex=1, most=16, keep=6, sort=lambda row, _: sender(row)
    ),
    Column("to", "to", lambda row, _: Cell(target(row)), 10, flex=2, most=32, keep=9, sort=lambda row, _: target(row)),
    Column("mode", "mode", lambda row, _: Cell(row.mode.replace("_", " "), "quiet"), 9, keep=2),
    Column(
        "delivered",
        "there",
        lambda row, _: _count(row.delivered),
        6,
        align="right",
        keep=4,
        sort=lambda row, _: row.delivered,
        down=True,
    ),
    Column(
        "taken",
        "taken",
        lambda row, _: _count(row.taken, "completed"),
        6,
        align="right",
        keep=4,
        sort=lambda row, _: row.taken,
        down=True,
    ),
    Column(
        "lost",
        "lost",
        lambda row, _: _count(row.undeliverable, "failed"),
        5,
        align="right",
        keep=4,
        sort=lambda row, _: row.undeliverable,
        down=True,
    ),
    Column("value", "value", lambda row, _: Cell(row.value), 12, flex=6, keep=8, sort=lambda row, _: row.value),
    Column("recipients", "recipients", lambda row, _: Cell(recipients(row), "quiet"), 16, flex=3, keep=1),
)

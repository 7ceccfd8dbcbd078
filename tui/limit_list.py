"""The Limits tab: what of each limit is in use and by whom, and below it who waits, for how long and why. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from poolboard.engine.views import HolderView, LimitView

from .columns import Cell, Column
from .shape import Shape
from .units import count, duration


class LimitLine(NamedTuple):
    """One line: a limit (``n`` is None), or one who waits for it."""

    key: str
    name: str
    used: str
    waiting: int
    who: str
    told: str
    n: int | None
    since_s: float | None
    tone: str


def limit_lines(limits: Iterable[LimitView]) -> Iterator[LimitLine]:
    """Yield each limit and then the first who wait for it."""
    for limit in limits:
        full = limit.waiting > 0
        told = f"to be left alone for {limit.slow_s:.0f} s more" if limit.slow_s else _holders(limit)
        yield LimitLine(
            limit.name, limit.name, _used(limit), limit.waiting, _kind(limit), told, None, None, "warn" if full else ""
        )
        for waiter in limit.waiters:
            key = f"{limit.name}/{waiter.n}"
            who = person(waiter.n)
            yield LimitLine(key, "", "", 0, who, waiter.reason, waiter.n, waiter.since_s, "waiting")
        if limit.waiting > len(limit.waiters):
            more = f"and {count(limit.waiting - len(limit.waiters))} more wait behind them"
            yield LimitLine(f"{limit.name}/more", "", "", 0, "", more, None, None, "quiet")


def person(n: int) -> str:
    """Return how a run is called here."""
    return f"#{n}" if n else "the root"


def _used(limit: LimitView) -> str:
    if limit.per_s is None:
        return f"{limit.in_use} of {limit.most}"
    return limit.text if limit.left is None else f"{limit.left:g} of {limit.most} left"


def _kind(limit: LimitView) -> str:
    kind = "capacity" if limit.per_s is None else limit.text
    return f"{kind}, shared" if limit.shared else kind


def _holders(limit: LimitView) -> str:
    if not limit.holders:
        return "" if limit.per_s is not None else "nobody has it"
    named = ", ".join(_holder(holder) for holder in limit.holders)
    more = limit.holding - len(limit.holders)
    return f"in use by {named}" + (f" and {more} more" if more > 0 else "")


def _holder(holder: HolderView) -> str:
    amount = f" ({holder.amount})" if holder.amount > 1 else ""
    run = f" of run {holder.run_id[:8]}" if holder.run_id else ""
    return f"{person(holder.n)}{run}{amount}"


LIMIT_SHAPE: Final[Shape[LimitLine]] = Shape(
    key=lambda row: row.key,
    text=lambda row: f"{row.name} {row.who} {row.told}",
    fields={},
    kinds={},
    live=lambda row: False,
)

LIMIT_COLUMNS: Final[tuple[Column[LimitLine], ...]] = (
    Column("limit", "limit", lambda row, _: Cell(row.name), 8, flex=1, most=24, keep=9),
    Column("used", "in use", lambda row, _: Cell(row.used, row.tone), 8, flex=1, most=16, align="right", keep=8),
    Column(
        "waiting",
        "waiting",
        lambda row, _: Cell(
            count(row.waiting) if row.n is None and row.name else "", "warn" if row.waiting else "quiet"
        ),
        7,
        align="right",
        keep=7,
    ),
    Column("who", "who", lambda row, _: Cell(row.who, "quiet" if row.n is None else ""), 8, flex=1, most=20, keep=6),
    Column(
        "since",
        "for",
        lambda row, _: Cell("" if row.since_s is None else duration(row.since_s), "quiet"),
        7,
        align="right",
        keep=4,
    ),
    Column("told", "why", lambda row, _: Cell(row.told, row.tone), 24, flex=6, keep=8),
)

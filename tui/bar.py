"""Progress drawn with characters: a bar in parts, and a sparkline. Pure; colours are tones by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from poolboard.engine.views import Counts

from .units import count

_FULL: Final = ("━", "=")
_REST: Final = ("─", "-")
_SPARKS: Final = ("▁▂▃▄▅▆▇█", "_.-=+*#@")


class Part(NamedTuple):
    """A piece of a bar: its characters and its tone."""

    text: str
    tone: str


def parts(children: Counts, cells: int, ascii: bool = False) -> list[Part]:
    """Return the bar of a run, exactly ``cells`` wide: completed, failed, cancelled, in work, and the rest.

    What exists is never invisible: a single failure of 100,000 still takes one cell.
    """
    amounts = (
        (children.completed, "completed"),
        (children.failed, "failed"),
        (children.cancelled, "cancelled"),
        (children.leased + children.waiting, "running"),
    )
    total = max(children.total, 1)
    widths = [0 if not amount else max(1, amount * cells // total) for amount, _ in amounts]
    while sum(widths) > cells:
        widths[widths.index(max(widths))] -= 1
    if children.ready == 0 and children.total:
        widths[widths.index(max(widths))] += cells - sum(widths)  # nothing is left: no gap from rounding down
    full, rest = _FULL[ascii], _REST[ascii]
    drawn = [Part(full * wide, tone) for wide, (_, tone) in zip(widths, amounts, strict=True) if wide]
    left = cells - sum(widths)
    return [*drawn, Part(rest * left, "pending")] if left else drawn


def strip(children: Counts, cells: int, ascii: bool = False) -> str:
    """Return a one-colour bar for a list: what is done, then the rest."""
    filled = cells * children.done // children.total if children.total else 0
    return _FULL[ascii] * filled + _REST[ascii] * (cells - filled)


def spark(values: Sequence[float], cells: int, ascii: bool = False) -> str:
    """Return the last ``cells`` values as a sparkline over zero; empty before there are two."""
    shown = list(values)[-cells:]
    top = max(shown, default=0.0)
    if len(shown) < 2 or top <= 0:
        return ""
    levels = _SPARKS[ascii]
    return "".join(
        levels[min(len(levels) - 1, int(max(0.0, value) / top * (len(levels) - 1) + 0.5))] for value in shown
    )


def legend(children: Counts) -> list[Part]:
    """Return the counts behind the bar in words, the empty ones left out."""
    named = (
        (children.leased, "leased", "running"),
        (children.waiting, "waiting", "waiting"),
        (children.ready, "ready", "pending"),
        (children.completed, "completed", "completed"),
        (children.failed, "failed", "failed"),
        (children.cancelled, "cancelled", "cancelled"),
    )
    return [Part(f"{count(number)} {word}", tone) for number, word, tone in named if number]

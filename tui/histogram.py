"""A stage's durations drawn with characters: a bar per octave, and where the percentiles lie. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from poolboard.engine.views import StageDurations

from .text_pane import PaneLine
from .units import count, milliseconds, percent

_LABEL: Final = 16
_NUMBER: Final = 9
_FULL: Final = ("█", "#")
#: Eighths of a cell, so that small counts can be told apart; ASCII has none.
_PARTS: Final = " ▏▎▍▌▋▊▉"


def bar(amount: int, most: int, cells: int, ascii: bool) -> str:
    """Return a bar of at most ``cells`` cells; what is not nothing is never invisible."""
    if amount <= 0 or most <= 0 or cells <= 0:
        return ""
    eighths = max(1, amount * cells * 8 // most)
    whole, part = divmod(eighths, 8)
    if ascii:
        return _FULL[1] * max(1, whole)
    return _FULL[0] * whole + (_PARTS[part] if part else "")


def lines(durations: StageDurations, cells: int, ascii: bool) -> Iterator[PaneLine]:
    """Yield the numbers, then a line per octave: its bounds, its bar, its count, and the percentiles that lie in it."""
    calls = sum(amount for _, _, amount in durations.octaves)
    if not calls:
        yield PaneLine("No call of this stage has been recorded yet.", "quiet")
        return
    yield PaneLine(
        f"{count(durations.done)} done, {count(durations.failed)} failed; "
        f"mean {milliseconds(durations.mean_ms)}, p50 {milliseconds(durations.p50_ms)}, "
        f"p95 {milliseconds(durations.p95_ms)}, p99 {milliseconds(durations.p99_ms)}"
    )
    yield PaneLine("")
    most = max(amount for _, _, amount in durations.octaves)
    named = (("p50", durations.p50_ms), ("p95", durations.p95_ms), ("p99", durations.p99_ms))
    width = max(4, cells - _LABEL - _NUMBER - 20)
    for low_ms, high_ms, amount in durations.octaves:
        label = f"{milliseconds(low_ms)} to {milliseconds(high_ms)}"
        here = " ".join(name for name, at_ms in named if at_ms is not None and low_ms <= at_ms < high_ms)
        drawn = bar(amount, most, width, ascii)
        yield PaneLine(
            f"{label:>{_LABEL}} {drawn:<{width}} {count(amount):>{_NUMBER - 5}} {percent(amount, calls):>4} {here}"
        )
    yield PaneLine("")
    yield PaneLine("Each line: up to twice the one above. Percentiles are within 9 %.", "quiet")

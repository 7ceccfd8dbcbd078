"""The two pictures of a report page as SVG text: how long stages took, and when children ran."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Final

from poolboard.journal.durations import PER_OCTAVE, SMALLEST_MS
from poolboard.tui.units import duration, milliseconds
from poolboard.words import shown

if TYPE_CHECKING:
    from poolboard.journal.model import StageRow, WorkRow

WIDTH: Final = 960
PLOT_HEIGHT: Final = 160
#: Bars of the timeline; of more children the earliest are drawn.
MOST_BARS: Final = 2_000
LANE: Final = 7
#: Lanes below each other; children that would need more share the last ones.
MOST_LANES: Final = 64


def histogram(stages: Sequence[StageRow]) -> str:
    """Return all stages' durations as one histogram of kept buckets; empty text if nothing was counted."""
    sums = [sum(column) for column in zip(*(stage.buckets for stage in stages), strict=True)]
    counted = [index for index, number in enumerate(sums) if number]
    if not counted:
        return ""
    first, last = counted[0], counted[-1]
    return "\n".join(_histogram(sums[first : last + 1], first)) + "\n"


def _histogram(numbers: list[int], first: int) -> Iterator[str]:
    step, most = WIDTH / len(numbers), max(numbers)
    yield f'<svg viewBox="0 0 {WIDTH} {PLOT_HEIGHT + 30}" role="img" aria-label="histogram of stage durations">'
    for index, number in enumerate(numbers):
        height = PLOT_HEIGHT * number / most
        low, high = _bound_ms(first + index), _bound_ms(first + index + 1)
        title = f"{milliseconds(low)} to {milliseconds(high)}: {number}"
        yield (
            f'<rect class="bar" x="{index * step:.1f}" y="{PLOT_HEIGHT - height:.1f}" width="{max(step - 1, 0.5):.1f}" '
            f'height="{height:.1f}"><title>{title}</title></rect>'
        )
    yield f'<line class="axis" x1="0" y1="{PLOT_HEIGHT}" x2="{WIDTH}" y2="{PLOT_HEIGHT}"/>'
    yield f'<text x="0" y="{PLOT_HEIGHT + 16}">{milliseconds(_bound_ms(first))}</text>'
    end = milliseconds(_bound_ms(first + len(numbers)))
    yield f'<text x="{WIDTH}" y="{PLOT_HEIGHT + 16}" text-anchor="end">{end}</text>'
    yield f'<text x="0" y="12">{most} at most</text>'
    yield "</svg>"


def _bound_ms(index: int) -> float:
    return float(SMALLEST_MS * 2 ** (index / PER_OCTAVE))


def timeline(rows: Sequence[WorkRow]) -> str:
    """Return when children ran, packed into lanes; empty text if none has started."""
    begun = sorted((row for row in rows if row.started_at is not None), key=lambda row: row.started_at or 0)
    if not begun:
        return ""
    return "\n".join(_timeline(begun[:MOST_BARS], len(begun))) + "\n"


def _timeline(rows: Sequence[WorkRow], total: int) -> Iterator[str]:
    start = rows[0].started_at or 0
    end = max(max(row.ended_at or row.started_at or 0 for row in rows), start + 1)
    scale = WIDTH / (end - start)
    lanes = _lanes(rows)
    height = (max(lanes) + 1) * LANE
    yield f'<svg viewBox="0 0 {WIDTH} {height + 20}" role="img" aria-label="when each child ran">'
    for row, lane in zip(rows, lanes, strict=True):
        began = row.started_at or 0
        took = max((row.ended_at or end) - began, 0)
        state = " failed" if row.state == "failed" else ""
        title = escape(f"#{row.n} {shown(row.label)}: {row.state}, {duration(took / 1000)}")
        yield (
            f'<rect class="bar{state}" x="{(began - start) * scale:.1f}" y="{lane * LANE}" '
            f'width="{max(took * scale, 0.7):.1f}" height="{LANE - 1}"><title>{title}</title></rect>'
        )
    cut = f", the first {len(rows)} of {total} children" if total > len(rows) else ""
    yield f'<text x="0" y="{height + 14}">0s{cut}</text>'
    yield f'<text x="{WIDTH}" y="{height + 14}" text-anchor="end">{duration((end - start) / 1000)}</text>'
    yield "</svg>"


def _lanes(rows: Sequence[WorkRow]) -> list[int]:
    """Return a lane for each row (by start): the first that is free by then."""
    free_at: list[int] = []
    found: list[int] = []
    for row in rows:
        began = row.started_at or 0
        lane = next((index for index, free in enumerate(free_at) if free <= began), len(free_at))
        if lane >= MOST_LANES:
            lane = min(range(MOST_LANES), key=lambda index: free_at[index])
        until = row.ended_at if row.ended_at is not None else 1 << 62
        if lane == len(free_at):
            free_at.append(until)
        else:
            free_at[lane] = max(free_at[lane], until)
        found.append(lane)
    return found

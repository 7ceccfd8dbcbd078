"""Children as bars over time: which are shown, over which window, and what a line of them looks like. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from poolboard.engine.views import ChildRow
from poolboard.journal.states import WorkState

from .units import duration

#: Children kept for a timeline; more than any terminal has lines.
KEPT: Final = 1000
_STEPS_S: Final = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400)
_TICK_CELLS: Final = 12
_BODIES: Final = ("━─", "=-")
_FAILED: Final = ("✗", "x")
_LIVE: Final = ("▸", ">")
_BEFORE: Final = ("◂", "<")
_IDLE: Final = ("·", ".")


class Span(NamedTuple):
    """One child's time: from its start to its end, None while it runs. Times in ms."""

    n: int
    label: str
    state: WorkState
    worker: str
    start_ms: int
    end_ms: int | None


class Window(NamedTuple):
    """The time that a line shows, ms."""

    start_ms: int = 0
    end_ms: int = 1


class Lane(NamedTuple):
    """What one slot of a worker did. A worker's slots have no names: lanes are filled from the first that is free."""

    worker: str
    place: int
    spans: tuple[Span, ...]


class Recent:
    """The children that started last, and all that still run."""

    def __init__(self) -> None:
        self._spans: dict[int, Span] = {}

    def take(self, rows: Iterable[ChildRow]) -> None:
        """Take children that changed; one that is ready again has no bar."""
        for row in rows:
            if row.started_at is None or row.state == "ready":
                self._spans.pop(row.n, None)
            else:
                self._spans[row.n] = Span(row.n, row.label, row.state, row.worker or "", row.started_at, row.ended_at)
        if len(self._spans) > 2 * KEPT:
            self._spans = {span.n: span for span in self.newest(KEPT)}

    def newest(self, limit: int) -> list[Span]:
        """Return at most so many: the running ones first, then the newest."""
        return sorted(self._spans.values(), key=lambda span: (span.end_ms is not None, -span.start_ms, -span.n))[:limit]


def window(spans: Sequence[Span], now_ms: int | None) -> Window:
    """Return the window that shows the ended spans whole; a running one that began long before is cut at its left.

    Its length is rounded up to a step, so that it does not move with every refresh.
    """
    if not spans:
        return Window()
    ends = [span.end_ms for span in spans if span.end_ms is not None]
    end = max([*ends, *([now_ms] if now_ms is not None else []), max(span.start_ms for span in spans) + 1])
    start = min(span.start_ms for span in spans if not ends or span.end_ms is not None)
    length_s = max(0.1, (end - start) / 1000)
    step_s = _step_s(length_s, 8)
    return Window(start, start + max(1, round(-(-length_s // step_s) * step_s * 1000)))


def lanes(spans: Iterable[Span]) -> list[Lane]:
    """Return the spans by worker and lane, each lane without overlaps, ordered by worker."""
    found: dict[str, list[list[Span]]] = {}
    for span in sorted(spans, key=lambda span: (span.start_ms, span.n)):
        places = found.setdefault(span.worker or "no worker", [])
        free = next((lane for lane in places if _ended(lane[-1]) <= span.start_ms), None)
        if free is None:
            places.append([span])
        else:
            free.append(span)
    return [Lane(worker, place, tuple(lane)) for worker in sorted(found) for place, lane in enumerate(found[worker], 1)]


def _ended(span: Span) -> float:
    return float("inf") if span.end_ms is None else span.end_ms


def bar(spans: Sequence[Span], shown: Window, cells: int, now_ms: int | None, *, ascii: bool = False) -> str:
    """Return a line of exactly ``cells`` characters; neighbours differ in weight, a failure ends in its own sign."""
    line = [" "] * cells
    for order, span in enumerate(spans):
        end_ms = span.end_ms if span.end_ms is not None else max(now_ms or shown.end_ms, span.start_ms)
        if end_ms < shown.start_ms or span.start_ms > shown.end_ms:
            continue
        first, last = _cell(span.start_ms, shown, cells), _cell(end_ms, shown, cells)
        body = _BODIES[ascii][order % 2]
        line[first : last + 1] = body * (last + 1 - first)
        if span.start_ms < shown.start_ms:
            line[first] = _BEFORE[ascii]
        if span.end_ms is None:
            line[last] = _LIVE[ascii]
        elif span.state == "failed":
            line[last] = _FAILED[ascii]
    return "".join(line)


def idle(line: str, *, ascii: bool = False) -> str:
    """Return a lane with its gaps made visible."""
    return line.replace(" ", _IDLE[ascii])


def _cell(at_ms: int, shown: Window, cells: int) -> int:
    place = (at_ms - shown.start_ms) * cells // max(1, shown.end_ms - shown.start_ms)
    return max(0, min(cells - 1, place))


def axis(shown: Window, cells: int) -> str:
    """Return the scale over the bars: time since the window's start, as often as there is room."""
    length_s = (shown.end_ms - shown.start_ms) / 1000
    step_s = _step_s(length_s, max(1, cells // _TICK_CELLS))
    line = ""
    tick = 0
    while tick * step_s <= length_s and tick <= cells:
        at = int(tick * step_s / length_s * cells)
        text = f"|{_plain(tick * step_s)}"
        if at >= len(line) and at + len(text) <= cells:
            line = line.ljust(at) + text
        tick += 1
    return line.ljust(cells)


def _plain(seconds: float) -> str:
    return "0" if not seconds else duration(seconds).replace(".0s", "s")


def _step_s(length_s: float, most: int) -> float:
    """Return the smallest round step of which at most ``most`` fill the length."""
    for step_s in _STEPS_S:
        if length_s / step_s <= most:
            return step_s
    days = -(-length_s // (86400 * most))
    return max(1.0, days) * 86400

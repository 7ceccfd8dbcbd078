"""What the top of the board says: is it moving, when will it be done. Pure: pieces in, no widget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from poolboard.engine.views import ShownStatus, Summary

from .bar import parts, spark
from .glyphs import ACTIVE, RUN_MARKS
from .line import Piece, Sides
from .text import width
from .units import count, duration, eta, percent, rate, several, span_ms

#: Statuses in which the active time grows; paused and dead time is not elapsed time.
TICKING: Final[frozenset[ShownStatus]] = frozenset({"running", "waiting", "awaiting_input", "pausing", "stopping"})

_SPARK_CELLS: Final = 12
#: A run rests for less than this when its processes start: not worth a second number.
_TOLD_S: Final = 3.0


class Facts(NamedTuple):
    """What the header needs beside the summary. ``late_s``: seconds since the summary was taken in.

    ``from_runs``: the list of runs is below this screen. ``now_ms``: the store's time."""

    short_id: str
    late_s: float = 0.0
    ascii: bool = False
    rates: Sequence[float] = ()
    from_runs: bool = False
    now_ms: int | None = None


def elapsed_s(summary: Summary, late_s: float) -> float:
    """Return the active time now: it grows between summaries only while the run is really going on."""
    ticking = summary.run.status in TICKING and summary.coordinator.alive
    return summary.run.elapsed_s + (max(0.0, late_s) if ticking else 0.0)


def status_words(summary: Summary) -> str:
    """Return the status as it is told: ``pausing 3/16``, ``paused 16/17``, ``crashed · resumable``."""
    run = summary.run
    word = RUN_MARKS[run.status].word
    if run.status == "pausing":
        return f"{word} {summary.parked}/{summary.in_flight}"
    if run.status == "paused":
        return f"{word} {count(run.children.done)}/{count(run.children.total)}"
    if run.prompts and run.status == "awaiting_input":
        return f"{word} {count(run.prompts)}"
    if run.status in ("crashed", "stopped", "blocked") and run.resumable:
        return f"{word} · resumable"
    return word


def identity(summary: Summary, facts: Facts) -> Sides:
    """First line: how it is, what it is, for how long."""
    run = summary.run
    mark = RUN_MARKS[run.status]
    left = [
        Piece(f"{mark.sign(facts.ascii)} {status_words(summary)}", f"bold $state-{mark.tone}", keep=9),
        Piece(run.name, "bold", keep=8, elastic=True),
        Piece(facts.short_id, "$quiet", keep=4),
    ]
    if facts.from_runs:
        left.insert(0, Piece("runs >" if facts.ascii else "runs ›", "$quiet", 3, "back"))
    control = _control_note(summary)
    if control:
        left.append(Piece(control, "$quiet", keep=2, elastic=True))
    return Sides(left, _times(summary, facts))


def _times(summary: Summary, facts: Facts) -> list[Piece]:
    """Return the active time, and the time since the start where pauses or dead time make it another one.

    A run that rests has only the first: what grows there would have to be painted every second.
    """
    active_s = elapsed_s(summary, facts.late_s)
    pieces = [Piece(f"elapsed {duration(active_s)}", "", keep=6)]
    run = summary.run
    ticking = run.status in TICKING and summary.coordinator.alive
    since_s = span_ms(run.created_at, run.ended_at, facts.now_ms if ticking else None)
    if since_s is not None and since_s - active_s >= _TOLD_S:
        pieces.append(Piece(f"of {duration(since_s)} since the start", "$quiet", keep=3))
    return pieces


def _control_note(summary: Summary) -> str:
    control = summary.run.control
    if control.state == "running" or not control.by:
        return ""
    return f"by {control.by}" + (f": {control.why}" if control.why else "")


def progress(summary: Summary, facts: Facts, cells: int) -> Sides:
    """Second line: the bar fills what the numbers leave free."""
    children = summary.run.children
    words = [
        Piece(percent(children.done, children.total), "bold", keep=9),
        Piece(f"{count(children.done)} of {count(children.total)}", "", keep=6),
    ]
    if children.failed:
        words.append(Piece(f"{count(children.failed)} failed", "bold $state-failed", keep=8))
    if children.cancelled:
        words.append(Piece(f"{count(children.cancelled)} cancelled", "", keep=5))
    if summary.run.status in ACTIVE and children.settled < children.total:
        words.append(Piece(f"ETA {eta(summary.eta_s)}", "", keep=7))
    least = min(10, cells // 8)
    while len(words) > 1 and _width(words) + least + 2 > cells:
        words.remove(min(words, key=lambda piece: piece.keep))
    bar = parts(children, max(1, cells - _width(words) - 2), facts.ascii)
    return Sides(
        [Piece(part.text, f"$state-{part.tone}", keep=10, glued=bool(index)) for index, part in enumerate(bar)], words
    )


def _width(words: Sequence[Piece]) -> int:
    return sum(width(piece.text) for piece in words) + 2 * max(0, len(words) - 1)


def numbers(summary: Summary, facts: Facts) -> Sides:
    """Third line: speed, and who does it."""
    going = summary.run.status in ACTIVE and summary.coordinator.alive
    slots = sum(worker.slots for worker in summary.workers)
    busy = sum(worker.active for worker in summary.workers)
    left: list[Piece] = []
    if going:
        left.append(Piece(f"rate {rate(summary.rate_per_s)}", "", keep=9))
        left.append(Piece(spark(facts.rates, _SPARK_CELLS, facts.ascii), "$primary", keep=1))
    if summary.workers:
        left.append(Piece(several(len(summary.workers), "worker"), "", keep=7))
        left.append(Piece(f"{busy} of {several(slots, 'slot')} busy", "", keep=8))
    if summary.parked:
        left.append(Piece(f"{count(summary.parked)} parked", "$state-paused", keep=6))
    coordinator = summary.coordinator
    if coordinator.alive and coordinator.pid is not None:
        right = [
            Piece(f"coordinator pid {coordinator.pid}", "$quiet", keep=2),
            Piece(f"epoch {coordinator.epoch}", "$quiet", keep=1),
        ]
    else:
        right = [Piece("no coordinator", "$quiet", keep=2)]
    return Sides(left or [Piece("no workers", "$quiet", keep=3)], right)

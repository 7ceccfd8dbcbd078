"""Numbers as people read them. Monotone: a longer input never shows a smaller text; nothing reads ``60s`` or ``24h``.

Knows no clock: every age is computed from two times that the caller passes.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, tzinfo
from typing import Final

from humanize import intcomma, naturalsize

NOTHING: Final = "–"

_MINUTE_S: Final = 60
_HOUR_S: Final = 3600
_DAY_S: Final = 86400


def duration(seconds: float | None) -> str:
    """Return ``40ms``, ``0.5s``, ``59.9s``, ``1m59s``, ``2h59m``, ``3d04h``; negative is ``0s``, None a dash.

    Rounding carries before the unit is chosen, so 59.96 and 60 both read ``1m00s``; hours drop their seconds
    rather than round them, so 2:59:59 never reads as three hours.
    """
    if seconds is None or math.isnan(seconds):
        return NOTHING
    if seconds <= 0:
        return "0s"
    if seconds < 0.0995:
        milliseconds = round(seconds * 1000)
        return f"{milliseconds}ms" if milliseconds else "<1ms"
    if seconds < 59.95:
        return f"{seconds:.1f}s"
    if math.isinf(seconds):
        return "∞"
    whole = round(seconds)
    if whole < _HOUR_S:
        return f"{whole // _MINUTE_S}m{whole % _MINUTE_S:02d}s"
    if whole < _DAY_S:
        return f"{whole // _HOUR_S}h{whole % _HOUR_S // _MINUTE_S:02d}m"
    return f"{whole // _DAY_S}d{whole % _DAY_S // _HOUR_S:02d}h"


def milliseconds(value_ms: float | None) -> str:
    """Return a duration given in milliseconds."""
    return duration(None if value_ms is None else value_ms / 1000)


def span_ms(started_at: int | None, ended_at: int | None, now_ms: int | None) -> float | None:
    """Return seconds from start to end, or to ``now_ms`` while it runs; None where neither is known. Never negative."""
    end = ended_at if ended_at is not None else now_ms
    if started_at is None or end is None:
        return None
    return max(0, end - started_at) / 1000


def age(seconds: float) -> str:
    """Return ``now``, ``12s ago``, ``3m ago``, ``2h ago``, ``5d ago``: always rounded down."""
    whole = int(max(0.0, seconds))
    for unit_s, letter in ((_DAY_S, "d"), (_HOUR_S, "h"), (_MINUTE_S, "m"), (1, "s")):
        if whole >= unit_s:
            return f"{whole // unit_s}{letter} ago"
    return "now"


def size(size_bytes: int) -> str:
    """Return a decimal size: ``999 B``, ``1.0 MB``."""
    return naturalsize(max(0, size_bytes)).replace(" Bytes", " B").replace(" Byte", " B")


def count(number: int) -> str:
    """Return a count with separators: ``12,345``."""
    return intcomma(number)


def several(number: int, noun: str, plural: str | None = None) -> str:
    """Return ``1 child``, ``1,204 children``: a number that says what it counts."""
    return f"{count(number)} {noun if number == 1 else plural or noun + 's'}"


def percent(done: int, total: int) -> str:
    """Return ``68%``, always rounded down: 100% means all of it, and nothing of nothing is a dash."""
    if total <= 0:
        return NOTHING
    return f"{min(100, max(0, done) * 100 // total)}%"


def rate(per_s: float) -> str:
    """Return ``41/s``, ``2.5/s``, ``12/min``; nothing moving is a dash."""
    if not per_s > 0:
        return NOTHING
    if per_s >= 9.95:
        return f"{count(round(per_s))}/s"
    if per_s >= 0.95:
        return f"{per_s:.1f}/s"
    per_min = per_s * 60
    return f"{per_min:.0f}/min" if per_min >= 0.95 else "<1/min"


def eta(span_s: tuple[float, float] | None) -> str:
    """Return ``36s to 52s``, one value where both ends read the same, ``unsure`` while there is no guess."""
    if span_s is None:
        return "unsure"
    low, high = (_rough(value) for value in span_s)
    return low if low == high else f"{low} to {high}"


def _rough(seconds: float) -> str:
    """Return a guess without tenths: they would claim to know them."""
    return duration(float(round(seconds))).replace(".0s", "s")


def clock_time(at_ms: int | None, now_ms: int, zone: tzinfo | None = None) -> str:
    """Return local ``14:03:27`` for the last day, ``30 Nov 14:03`` before; ``zone`` None is the machine's own."""
    if at_ms is None:
        return NOTHING
    try:
        moment = datetime.fromtimestamp(at_ms / 1000, UTC).astimezone(zone)
    except (OverflowError, ValueError, OSError):
        return NOTHING
    if abs(now_ms - at_ms) < _DAY_S * 1000:
        return moment.strftime("%H:%M:%S")
    return f"{moment.day} {moment.strftime('%b %H:%M')}"

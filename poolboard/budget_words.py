"""``--max-duration 2h``, ``--max-failures 50``, ``--max-usage tokens=1e6``: what they say, as limits by name."""

from __future__ import annotations

from collections.abc import Sequence

from poolboard.each_job import seconds
from poolboard.engine.budget import DURATION, FAILURES, OWN_NAMES
from poolboard.engine.errors import UserMistake


def table(duration: str | None, failures: int | None, usage: Sequence[str]) -> dict[str, float]:
    """Return the limits; 0 lifts one. Raises UserMistake."""
    found: dict[str, float] = {}
    if duration is not None:
        found[DURATION] = 0.0 if duration == "0" else seconds(duration, "--max-duration")
    if failures is not None:
        found[FAILURES] = failures
    for word in usage:
        name, amount = _pair(word)
        if name in found:
            raise UserMistake(f"--max-usage {name}: given twice")
        found[name] = amount
    return found


def _pair(word: str) -> tuple[str, float]:
    name, equals, text = word.partition("=")
    try:
        amount = float(text)
    except ValueError:
        amount = -1.0
    if not equals or not name or not 0 <= amount < 1e18:
        raise UserMistake(f"--max-usage {word!r}: write NAME=N, such as tokens=1e6; 0 lifts it")
    if name in OWN_NAMES:
        raise UserMistake(f"--max-usage {name}: Poolboard counts that itself: --max-duration, --max-failures")
    return name, amount

"""How fast the screen may be fed: not faster than eyes, than the line, or than a fifth of the loop's time."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

#: Of all time, at most one part in this many goes into feeding.
_SHARE = 5


@dataclass(frozen=True, slots=True)
class Pace:
    """``interval_s`` is the least time between two refreshes, ``lists_s`` between two changes of a list's order.

    Nobody can read rows that change places ten times a second, and every one that does costs a painted line.
    """

    interval_s: float = 0.1
    lists_s: float = 0.3

    def rest_s(self, spent_s: float) -> float:
        """Return how long to rest after ``spent_s`` of work: at least the interval, at least four times the work."""
        return max(self.interval_s, spent_s * (_SHARE - 1))


def pace_for(environment: Mapping[str, str] = os.environ) -> Pace:
    """Return 10 refreshes a second, 4 over SSH, where every painted byte costs latency."""
    return Pace(0.25, 0.5) if environment.get("SSH_CONNECTION") else Pace()


def backoff_s(failures: int) -> float:
    """Return how long to wait after so many failed reads in a row: half a second, doubling, at most five."""
    return float(min(5.0, 0.5 * 2 ** min(8, max(0, failures - 1))))

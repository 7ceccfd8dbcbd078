"""The screen's two clocks, as one value: pictures and tests give other ones."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class Clock:
    """``wall_ms`` for times that the journal holds (ms since 1970 UTC), ``steady_s`` for lengths of time on screen."""

    wall_ms: Callable[[], int] = _wall_ms
    steady_s: Callable[[], float] = time.monotonic

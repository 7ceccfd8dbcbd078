"""How much is measured: little enough for ten minutes on two cores, or with ``FULL=1`` what the numbers deserve."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator


def is_full() -> bool:
    """Whether the environment asks for the large sizes."""
    return os.environ.get("FULL", "") not in ("", "0")


def rounds(most: int, budget_s: float) -> Iterator[int]:
    """Yield the numbers of rounds while there is time for another of the same length: one at least, ``most`` at most.

    A slow machine gets fewer rounds, never none; with ``FULL=1`` it gets them all.
    """
    started_s = time.monotonic()
    for number in range(most):
        spent_s = time.monotonic() - started_s
        if number and not is_full() and spent_s + spent_s / number > budget_s:
            return
        yield number

"""The two numbers that carry their run: ``events.position = run * 2^40 + seq`` and ``work.id = run * 2^40 + n``."""

from __future__ import annotations

from typing import Final

#: One more than the largest seq or n of a run; also the distance between two runs.
SPAN: Final = 1 << 40
#: ``work`` of operations whose key belongs to the run and not to a work item.
OF_THE_RUN: Final = -1


def base(run: int) -> int:
    """Return the number to which a run's seq or n is added."""
    return run * SPAN

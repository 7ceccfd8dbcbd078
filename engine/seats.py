"""The slots of one worker, as the worker itself counts them: who holds one, and who was sent ahead to wait."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

#: Begins an attempt, which takes its slot.
Start = Callable[[], None]


class Seats:
    """Starts what was sent ahead, in order, the moment a run gives its slot back.

    The coordinator counts the same way by the same messages (pool_ahead.py), so the two agree on who holds a slot.
    """

    __slots__ = ("_ahead", "_slots", "_taken")

    def __init__(self, slots: int) -> None:
        self._slots = slots
        self._taken = 0
        self._ahead: Final[dict[int, Start]] = {}

    def arrive(self, n: int, start: Start) -> None:
        """An attempt was assigned: ``start`` is called now, or once there is a slot for it."""
        self._ahead[n] = start
        self._fill()

    def take(self) -> None:
        """A run has a slot: it begins, or was granted it again."""
        self._taken += 1

    def leave(self) -> None:
        """A run gave its slot back."""
        self._taken -= 1
        self._fill()

    def resize(self, slots: int) -> None:
        """The worker has so many slots from now on."""
        self._slots = slots
        self._fill()

    def give_up(self, n: int) -> bool:
        """Take one out that waits; say whether it did."""
        return self._ahead.pop(n, None) is not None

    def empty(self) -> list[int]:
        """Take all out that wait, and return them."""
        waiting = list(self._ahead)
        self._ahead.clear()
        return waiting

    def _fill(self) -> None:
        while self._ahead and self._taken < self._slots:
            self._ahead.pop(next(iter(self._ahead)))()

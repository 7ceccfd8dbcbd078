"""The slots of one worker, as the worker itself counts them: who computes in one, and who waits for one here."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final

#: Lets a run compute; it says ``take``.
Start = Callable[[], None]


class Seats:
    """Starts what was sent ahead, in order, the moment a run gives its slot back or lends it.

    The coordinator counts the same way by the same messages (pool_ahead.py), so the two agree on who has been granted a
    slot. What it does not hear of: while the outcome of a stage is being recorded, its run computes nothing, and lends
    its slot to one that was sent ahead. Never more compute at once than there are slots.
    """

    __slots__ = ("_ahead", "_back", "_slots", "_taken")

    def __init__(self, slots: int) -> None:
        self._slots = slots
        self._taken = 0
        self._ahead: Final[dict[int, Start]] = {}
        self._back: Final[dict[Hashable, Start]] = {}

    def arrive(self, n: int, start: Start) -> None:
        """An attempt was assigned: ``start`` is called now, or once there is a slot for it."""
        self._ahead[n] = start
        self._fill()

    def take(self) -> None:
        """A run has a slot: it begins, or was granted it again."""
        self._taken += 1

    @property
    def free(self) -> bool:
        """Whether a run may compute now."""
        return self._taken < self._slots

    def come_back(self, who: Hashable, start: Start) -> None:
        """A run that lent its slot wants it: ``start`` is called now, or as soon as there is one, before all others."""
        self._back[who] = start
        self._fill()

    def stay_away(self, who: Hashable) -> None:
        """A run that lent its slot does not want it any more."""
        self._back.pop(who, None)

    def leave(self) -> None:
        """A run gave its slot back, or lends it."""
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
        while self.free and (self._back or self._ahead):
            if self._back:
                self._back.pop(next(iter(self._back)))()
            else:
                self._ahead.pop(next(iter(self._ahead)))()

"""How many workers the person wants while the run has not got them yet. Pure."""

from __future__ import annotations

from typing import Final

#: A wish that has not come true by then (a worker that will not start) no longer counts for the next key press.
WISH_LIMIT_S: Final = 60.0


class WorkerWish:
    """Adds up key presses: ``+`` three times is three more, however long the first takes to start."""

    def __init__(self) -> None:
        self._wished: int | None = None
        self._until_s = 0.0

    def count(self, shown: int, now_s: float) -> int:
        """Return the number that the next step counts from: the wish, or what is ``shown`` once that came true."""
        if self._wished == shown or now_s >= self._until_s:
            self._wished = None
        return shown if self._wished is None else self._wished

    def step(self, by: int, shown: int, now_s: float) -> int:
        """Wish for so many more (or less) and return the new number."""
        self._wished = self.count(shown, now_s) + by
        self._until_s = now_s + WISH_LIMIT_S
        return self._wished

    def forget(self) -> None:
        """The wish was refused."""
        self._wished = None

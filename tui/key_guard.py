"""Keeps a key that was held down, or typed for something else, from answering what has only just appeared. Pure."""

from __future__ import annotations

from typing import Final

#: How long no key may have come before one counts.
QUIET_S: Final = 0.2


class KeyGuard:
    """Shut until ``QUIET_S`` have passed without a key; a key that repeats keeps it shut as long as it is held."""

    __slots__ = ("_since_s", "open")

    def __init__(self, now_s: float) -> None:
        self._since_s = now_s
        self.open = False

    def key(self, now_s: float) -> bool:
        """A key came; say whether it counts."""
        if not self.look(now_s):
            self._since_s = now_s
        return self.open

    def look(self, now_s: float) -> bool:
        """Say whether the next key counts."""
        if now_s - self._since_s >= QUIET_S:
            self.open = True
        return self.open

    def left_s(self, now_s: float) -> float:
        """Return how long it stays shut if no key comes."""
        return max(0.0, self._since_s + QUIET_S - now_s)

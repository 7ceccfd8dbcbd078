"""A token bucket: how much of a rate is left at a moment. Pure: the time is an argument, in seconds."""

from __future__ import annotations

#: Less than that much of a unit is rounding of the clock, not a debt.
GRAIN = 1e-9


class Bucket:
    """Fills by ``per_s`` up to ``most``; starts with ``left``."""

    __slots__ = ("at_s", "left", "most", "per_s")

    def __init__(self, per_s: float, most: int, left: float, at_s: float) -> None:
        self.per_s, self.most, self.left, self.at_s = per_s, most, left, at_s

    def fill(self, now_s: float) -> float:
        """Return what is there now. A clock that went back fills nothing and takes nothing."""
        if now_s > self.at_s:
            self.left = min(float(self.most), self.left + (now_s - self.at_s) * self.per_s)
            self.at_s = now_s
        return self.left

    def has(self, amount: int, now_s: float) -> bool:
        """Whether so much can be taken now."""
        return self.fill(now_s) + GRAIN >= amount

    def take(self, amount: int, now_s: float) -> None:
        """Take so much, which must be there."""
        self.left = max(0.0, self.fill(now_s) - amount)

    def ready_s(self, amount: int, now_s: float) -> float:
        """Return when so much will be there."""
        missing = amount - self.fill(now_s)
        return now_s if missing <= GRAIN else now_s + missing / self.per_s

    def change(self, per_s: float, most: int, now_s: float) -> None:
        """Go on with another rate; what is there stays there, up to the new most."""
        self.fill(now_s)
        self.per_s, self.most, self.left = per_s, most, min(self.left, float(most))

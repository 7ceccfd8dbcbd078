"""When to bring back a coordinator that crashed while somebody is attached. Pure: the time is an argument."""

from __future__ import annotations

from typing import Final, Literal

#: More crashes than that in the window have a cause that a restart does not mend.
MAX_RESTARTS: Final = 3
WINDOW_S: Final = 60.0
#: A refusal is tried again: the lease of the dead one may have to run out first.
MAX_REFUSALS: Final = 15
PAUSE_S: Final = 2.0

Decision = Literal["go", "wait", "give up"]


class Restarts:
    """What was tried so far."""

    __slots__ = ("_done_at", "_refusals", "_tried_at")

    def __init__(self) -> None:
        self._done_at: list[float] = []
        self._refusals = 0
        self._tried_at: float | None = None

    def decide(self, now: float) -> Decision:
        """Return what to do about a crash that is seen at ``now`` (monotonic seconds)."""
        if self._tried_at is not None and now - self._tried_at < PAUSE_S:
            return "wait"
        recent = [at for at in self._done_at if now - at < WINDOW_S]
        if len(recent) >= MAX_RESTARTS or self._refusals >= MAX_REFUSALS:
            return "give up"
        return "go"

    def restarted(self, now: float) -> None:
        """Note a restart that worked."""
        self._done_at.append(now)
        self._tried_at, self._refusals = now, 0

    def refused(self, now: float) -> None:
        """Note an attempt that was refused."""
        self._tried_at = now
        self._refusals += 1

"""What a new coordinator is started for, and what the person said with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

#: What a new coordinator is for. ``resume``: a person wants the run to go on. ``restart``: the last one crashed;
#: what was wished stays in force. ``retry``: what failed is tried again. ``stop``, ``cancel``: end what is left.
Intent = Literal["resume", "restart", "retry", "stop", "cancel"]
#: What a new coordinator does, by what it was started for.
BEGUN: dict[Intent, str] = {
    "resume": "a new coordinator goes on with the run",
    "restart": "a new coordinator took the run over",
    "retry": "a new coordinator tries again what failed",
    "stop": "stopping: a coordinator was started to end what is left",
    "cancel": "cancelling: a coordinator was started to end what is left",
}


@dataclass(frozen=True, slots=True)
class Errand:
    """The intent with who and why; ``only`` are the failed children to retry as ranges, empty for all.

    ``budget`` are limits to change before the run goes on, 0 to lift one. It comes on the coordinator's stdin as JSON.
    """

    intent: Intent
    by: str = "user"
    why: str | None = None
    accept_code: bool = False
    only: list[tuple[int, int]] = field(default_factory=list)
    budget: dict[str, float] = field(default_factory=dict)

    def encode(self) -> bytes:
        """Return what a new coordinator reads on its stdin."""
        import msgspec  # late: a screen that only looks sends no errand

        return msgspec.json.encode(self)

    @classmethod
    def decode(cls, data: bytes) -> Errand:
        """Return the errand that was encoded; raises ValueError for anything else."""
        import msgspec

        return msgspec.json.decode(data, type=cls)

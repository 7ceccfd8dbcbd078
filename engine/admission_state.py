"""What admission remembers: limits, and the claims that hold or wait for them. Data only."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Literal

from .admission_events import ClaimId, Needs
from .bucket import Bucket
from .limit_spec import LimitSpec

#: ``asking``: this run's own limits have room, the shared ones are being asked.
ClaimState = Literal["waiting", "asking", "held"]


@dataclass(slots=True)
class OpenClaim:
    """One claim from when it was wanted to when it is released."""

    id: ClaimId
    needs: Needs
    within: tuple[ClaimId, ...]
    since_s: float
    state: ClaimState = "waiting"
    told_to_wait: bool = False
    #: What the shared book said last, and when to ask it again.
    shared_reason: str | None = None
    ask_again_s: float = 0.0


@dataclass(slots=True)
class Limit:
    """One limit: who holds how much of it, who waits for it in which order, what is left of a rate."""

    spec: LimitSpec
    in_use: int = 0
    holders: dict[ClaimId, int] = field(default_factory=dict)
    #: In order of arrival; from the middle too a claim is taken out in constant time.
    queue: OrderedDict[ClaimId, None] = field(default_factory=OrderedDict)
    bucket: Bucket | None = None
    slow_until_s: float = 0.0

    @property
    def head(self) -> ClaimId | None:
        """Who is served next."""
        return next(iter(self.queue), None)

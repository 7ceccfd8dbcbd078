"""What is said about named limits. Only runs that have any say it."""

from __future__ import annotations

from typing import Literal

from .wire_message import Message


class HeldLimits(Message):
    """What an attempt holds of named limits, for a successor that cannot read it anywhere."""

    n: int
    generation: int
    claim: int
    needs: list[tuple[str, int]]


class WantLimit(Message, tag="want_limit"):
    """The attempt wants all of this; answered by LimitAnswer. ``within`` are its claims that it keeps meanwhile."""

    n: int
    generation: int
    claim: int
    needs: list[tuple[str, int]]
    within: list[int]
    what: str


class ReleaseLimit(Message, tag="release_limit"):
    """The claim is not needed any more, whether it was granted or not."""

    n: int
    generation: int
    claim: int


class ObserveLimit(Message, tag="observe_limit"):
    """A service asked to be left alone; everyone who shares these limits waits so long."""

    n: int
    names: list[str]
    retry_after_s: float


class LimitAnswer(Message, tag="limit_answer"):
    """What became of a claim; ``waits`` is followed by another answer, and the run needs no slot until then."""

    n: int
    generation: int
    claim: int
    state: Literal["granted", "waits", "refused"]
    reason: str = ""


class ChangeLimit(Message, tag="change_limit"):
    """Make a limit this, from now on; answered by ControlAnswer. ``text`` is in the words of limit_spec."""

    req: int
    name: str
    text: str
    by: str


LimitMessage = WantLimit | ReleaseLimit | ObserveLimit | LimitAnswer | ChangeLimit

"""What admission is told (events) and what it answers (actions): frozen values, compared by equality in tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from .limit_spec import LimitSpec


class ClaimId(NamedTuple):
    """One wish for limits: the run's number, its attempt, and the number of the wish within that attempt."""

    n: int
    generation: int
    number: int


Needs = tuple[tuple[str, int], ...]

# --- events --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Wanted:
    """Somebody wants all of this at once. ``within`` are claims that are kept until this one is granted."""

    claim: ClaimId
    needs: Needs
    within: tuple[ClaimId, ...] = ()
    what: str = "this"


@dataclass(frozen=True, slots=True)
class Holds:
    """A worker that came back to a new coordinator holds this already."""

    claim: ClaimId
    needs: Needs


@dataclass(frozen=True, slots=True)
class Released:
    """The claim is not needed any more, whether it was granted or not."""

    claim: ClaimId


@dataclass(frozen=True, slots=True)
class Changed:
    """The limit is this from now on."""

    spec: LimitSpec


@dataclass(frozen=True, slots=True)
class Observed:
    """A service said that it wants to be left alone for so long; everyone who shares the limit waits."""

    name: str
    retry_after_s: float


@dataclass(frozen=True, slots=True)
class Closed:
    """Nothing is granted for now; ``why`` completes "waits for gpu: …"."""

    why: str


@dataclass(frozen=True, slots=True)
class Opened:
    """Granting goes on."""


@dataclass(frozen=True, slots=True)
class SharedAnswered:
    """What the user's other runs left of the shared limits: enough, or the reason why not."""

    claim: ClaimId
    reason: str | None


@dataclass(frozen=True, slots=True)
class Ticked:
    """Time has passed."""


Event = Wanted | Holds | Released | Changed | Observed | Closed | Opened | SharedAnswered | Ticked

# --- actions -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Grant:
    """Tell the claim's worker that it has all it wanted."""

    claim: ClaimId


@dataclass(frozen=True, slots=True)
class Wait:
    """Tell the claim's worker that it has to wait: its run needs no slot meanwhile."""

    claim: ClaimId


@dataclass(frozen=True, slots=True)
class Refuse:
    """Tell the claim's worker why it can never have that."""

    claim: ClaimId
    reason: str


@dataclass(frozen=True, slots=True)
class AskShared:
    """Ask the book that all runs of the user share; what is left of this run's own limits is enough."""

    claim: ClaimId
    needs: Needs


@dataclass(frozen=True, slots=True)
class GiveBackShared:
    """Take the claim out of the shared book."""

    claim: ClaimId


Action = Grant | Wait | Refuse | AskShared | GiveBackShared

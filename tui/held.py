"""What is held back inside a run, and how that is called: held, stopped, or blocked by its budget. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from poolboard.engine.views import OWN_NAME, HoldView, Part

#: How a part that does not go on is called on the screen.
HeldAs = Literal["held", "stopped", "blocked (budget)"]
BLOCKED: HeldAs = "blocked (budget)"


def held_as(hold: HoldView) -> HeldAs:
    """Return what a hold is: a stop, the pool's own answer to a used up budget, or a person's pause."""
    if hold.cut:
        return "stopped"
    return BLOCKED if hold.scope == "child" and hold.by == OWN_NAME else "held"


def children_held(holds: Iterable[HoldView]) -> dict[str, HeldAs]:
    """Return how each child that is held itself is called, by its number as text."""
    return {hold.name: held_as(hold) for hold in holds if hold.scope == "child"}


def is_held(part: Part, holds: Iterable[HoldView]) -> bool:
    """Say whether the whole part is held: every child of it, or its stage, or its worker."""
    held = {(hold.scope, hold.name) for hold in holds}
    if part.stage is not None:
        return ("stage", part.stage) in held
    if part.worker is not None:
        return ("worker", str(part.worker)) in held
    return bool(part.children) and all(("child", str(n)) in held for n, _ in part.children)


def stopped_among(scope: Literal["stage", "worker"], holds: Iterable[HoldView]) -> frozenset[str]:
    """Return the names of the stages or the places of the workers that are stopped."""
    return frozenset(hold.name for hold in holds if hold.scope == scope and hold.cut)

"""Whether what a person points at is held back already. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from poolboard.engine.views import HoldView, Part


def is_held(part: Part, holds: Iterable[HoldView]) -> bool:
    """Say whether the whole part is held: every child of it, or its stage, or its worker."""
    held = {(hold.scope, hold.name) for hold in holds}
    if part.stage is not None:
        return ("stage", part.stage) in held
    if part.worker is not None:
        return ("worker", str(part.worker)) in held
    return bool(part.children) and all(("child", str(n)) in held for n, _ in part.children)

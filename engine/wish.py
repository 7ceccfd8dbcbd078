"""What a person wants of a live run, before it becomes a message."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from .views import WHOLE, Part

Verb = Literal["pause", "resume", "stop", "cancel", "retry", "workers", "slots", "concurrency"]

#: The least and the most of each size; 0 lifts ``concurrency``.
SIZES: dict[str, tuple[int, int]] = {"workers": (1, 1024), "slots": (1, 4096), "concurrency": (0, 1_000_000)}


def size_mistake(size: str, count: int) -> str | None:
    """Return why a run cannot have so many, None if it can."""
    least, most = SIZES[size]
    return None if least <= count <= most else f"{size} must be {least} to {most}, not {count}"


@dataclass(frozen=True, slots=True)
class Wish:
    """A verb with who and why. ``count`` is how many workers, slots or runs; ``budget`` are limits to change."""

    verb: Verb
    by: str
    why: str | None = None
    now: bool = False
    count: int | None = None
    part: Part = WHOLE
    budget: dict[str, float] = field(default_factory=dict)

"""What the doctor says of one thing: how it stands, and in one line what to do about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

#: ``trouble`` will keep runs from working or lose something; ``note`` only costs comfort or speed.
Level = Literal["fine", "note", "trouble"]


@dataclass(frozen=True, slots=True)
class Ailment:
    """One line of the doctor's. ``mend`` is there only where mending is safe at any time; it may raise OSError."""

    level: Level
    about: str
    told: str
    advice: str | None = None
    mend: Callable[[], None] | None = None


def fine(about: str, told: str) -> Ailment:
    """Return that something is as it should be."""
    return Ailment("fine", about, told)


def note(about: str, told: str, advice: str, mend: Callable[[], None] | None = None) -> Ailment:
    """Return that something could be better."""
    return Ailment("note", about, told, advice, mend)


def trouble(about: str, told: str, advice: str, mend: Callable[[], None] | None = None) -> Ailment:
    """Return that something must be done."""
    return Ailment("trouble", about, told, advice, mend)

"""What a measurement comes to: figures with their spread, in sections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles


class Unmeasured(Exception):
    """A number could not be produced; the message names it and says why."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One number, measured several times. ``unit`` is in words, ``ratio`` for a quotient of two figures of a round."""

    name: str
    unit: str
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.values:
            raise Unmeasured(f"{self.name}: not measured once")

    @property
    def median(self) -> float:
        """The middle of the rounds."""
        return median(self.values)


@dataclass(frozen=True, slots=True)
class Grid:
    """Figures side by side, as text: for those that are compared by two things at once. The first column names rows."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Section:
    """Figures that belong together. ``about`` says what was done, ``notes`` what to know before believing them.

    Where there are grids, people are shown those instead of the list of figures.
    """

    name: str
    about: str
    figures: tuple[Figure, ...]
    notes: tuple[str, ...] = ()
    grids: tuple[Grid, ...] = ()


def percentile(values: Sequence[float], percent: int) -> float:
    """Return a percentile (1 to 99) of at least two values, interpolated between neighbours."""
    return quantiles(values, n=100, method="inclusive")[percent - 1]

"""The names of tabs on one line: those that fit, the one in front always among them, and signs for the rest. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from .line import Piece
from .text import width

#: Cells between two tabs.
_GAP: Final = 2
#: Signs that there are more tabs at the left and at the right, and what a click on them does.
_MORE: Final = (("‹", "›"), ("<", ">"))
_TURN: Final = ("view_previous", "view_next")


class Tab(NamedTuple):
    """A tab as it is named: the key that shows it, its words and their style, and the action of a click."""

    key: str
    words: str
    style: str
    action: str

    @property
    def cells(self) -> int:
        """How wide it is."""
        return width(self.key) + width(self.words) + (1 if self.key else 0)

    def pieces(self, keep: int) -> list[Piece]:
        """Return what is drawn."""
        if not self.key:
            return [Piece(self.words, self.style, keep, self.action)]
        key = Piece(self.key, "bold $primary", keep, self.action)
        gap = Piece(" ", "", keep, self.action, glued=True)
        return [key, gap, Piece(self.words, self.style, keep, self.action, glued=True)]


def fit_tabs(
    tabs: Sequence[Tab], here: int, cells: int, *, ascii: bool = False, calling: int | None = None
) -> list[Piece]:
    """Return the first tabs that fit; from further on where the one in front would not be among them.

    A tab that is ``calling`` is named behind the others if it is not one of those that fit.
    """
    start, end = _window(tabs, here, cells)
    called: list[Piece] = []
    if calling is not None and calling >= end:
        start, end = _window(tabs, here, cells - tabs[calling].cells - _GAP)
        called = tabs[calling].pieces(8)
    left, right = _MORE[ascii]
    pieces = [Piece(left, "$quiet", 7, _TURN[0])] if start else []
    for place in range(start, end):
        pieces += tabs[place].pieces(9 if place == here else 8)
    if end < len(tabs):
        pieces.append(Piece(right, "$quiet", 7, _TURN[1]))
    return pieces + called


def _window(tabs: Sequence[Tab], here: int, cells: int) -> tuple[int, int]:
    start = 0
    while start < here and _end(tabs, start, cells) <= here:
        start += 1
    return start, max(here + 1, _end(tabs, start, cells))


def _end(tabs: Sequence[Tab], start: int, cells: int) -> int:
    """Return behind which tab the line is full, if it begins with ``start``; signs need room, too."""
    used = (1 + _GAP) if start else 0
    for place in range(start, len(tabs)):
        used += tabs[place].cells
        rest = 0 if place == len(tabs) - 1 else _GAP + 1
        if used + rest > cells:
            return place
        used += _GAP
    return len(tabs)

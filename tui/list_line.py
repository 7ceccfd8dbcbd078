"""The line over a list: what it shows of how much, its order, its filter, its marks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from .line import Piece, Sides
from .rows import Rows
from .units import count

R = TypeVar("R")


def list_line(
    title: Sequence[Piece],
    rows: Rows[R],
    filter_text: str,
    *,
    ascii: bool = False,
    note: str = "",
    ranging: bool = False,
) -> Sides:
    """Return the pieces: the titles at the left, ``showing N of M`` and what chose those N at the right."""
    shown = rows.matching
    words = f"showing {count(shown)} of {count(rows.total)}" if shown != rows.total else f"{count(rows.total)} in all"
    right = [Piece(note, "$quiet", 6), Piece(words, "$quiet", 7)]
    if filter_text:
        right.insert(0, Piece(f"filter {filter_text}", "$warning", 6))
    if rows.folded_by is not None:
        right.append(Piece(f"groups by {rows.folded_by.id}", "$quiet", 3))
    if rows.marks:
        right.insert(0, Piece(f"{count(len(rows.marks))} marked", "$accent", 5))
    if ranging:
        right.insert(0, Piece("marking a range: v ends it", "bold $accent", 6))
    if rows.sorted_by:
        arrow = ("v" if rows.reverse else "^") if ascii else "▼" if rows.reverse else "▲"
        right.append(Piece(f"by {rows.sorted_by} {arrow}", "$quiet", 3))
    return Sides(title, right)

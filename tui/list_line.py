"""The line over a list: what it shows of how much, its order, its filter, its marks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from .line import Piece, Sides
from .table import Table
from .units import count

R = TypeVar("R")


def list_line(title: Sequence[Piece], table: Table[R], filter_text: str, *, note: str = "") -> Sides:
    """Return the pieces: the titles at the left, ``showing N of M`` and what chose those N at the right."""
    rows = table.rows
    shown = rows.matching
    words = f"showing {count(shown)} of {count(rows.total)}" if shown != rows.total else f"{count(rows.total)} in all"
    right = [Piece(note, "$quiet", 6), Piece(words, "$quiet", 7)]
    if filter_text:
        right.insert(0, Piece(f"filter {filter_text}", "$warning", 6, elastic=True, least=12))
    if rows.marks:
        right.insert(0, Piece(f"{count(len(rows.marks))} marked", "$accent", 5))
    if table.ranging:
        right.insert(0, Piece("marking a range: v ends it", "bold $accent", 6))
    if order := _order(table):
        right.append(Piece(order, "$quiet", 3))
    return Sides(title, right)


def _order(table: Table[R]) -> str:
    """Return by what the rows are in groups and in order, in the words of the header; what is both is said once."""
    rows = table.rows
    fold = rows.folded_by.id if rows.folded_by is not None else ""
    column = next((column for column in table.columns if column.id == rows.sorted_by), None)
    if column is None:
        return f"groups by {fold}" if fold else ""
    arrow = ("v" if rows.reverse else "^") if table.look.ascii else "▼" if rows.reverse else "▲"
    if not fold:
        return f"by {column.title} {arrow}"
    within = "" if column.id == fold else f", in them by {column.title}"
    return f"groups by {fold}{within} {arrow}"

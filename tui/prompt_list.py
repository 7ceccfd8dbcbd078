"""The Prompts tab: the oldest questions that wait for a person. Pure."""

from __future__ import annotations

from typing import Final

from poolboard.engine.views import PromptNote

from .columns import Cell, Column, Look
from .limit_list import person
from .shape import Shape
from .units import age

PROMPT_SHAPE: Final[Shape[PromptNote]] = Shape(
    key=lambda row: row.id, text=lambda row: row.message, fields={}, kinds={}, live=lambda row: True
)


def _since(row: PromptNote, look: Look) -> Cell:
    return Cell("" if look.now_ms is None else age((look.now_ms - row.asked_at) / 1000), "quiet")


PROMPT_COLUMNS: Final[tuple[Column[PromptNote], ...]] = (
    Column("glyph", "", lambda row, _: Cell("?", "asking"), 1, keep=8),
    Column("id", "id", lambda row, _: Cell(str(row.id), "quiet"), 5, flex=1, most=9, align="right", keep=5),
    Column("who", "who", lambda row, _: Cell(person(row.n)), 8, keep=7),
    Column("kind", "kind", lambda row, _: Cell(row.kind, "quiet"), 8, keep=4),
    Column("message", "question", lambda row, _: Cell(row.message), 24, flex=6, keep=9),
    Column("since", "asked", _since, 8, flex=1, most=12, align="right", keep=6, timed=True),
)

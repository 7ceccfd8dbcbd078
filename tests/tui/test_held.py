"""A child that a person holds back is seen to be held."""

from __future__ import annotations

from poolboard.engine.views import ChildRow
from poolboard.tui.child_list import CHILD_COLUMNS
from poolboard.tui.columns import Look

READY = ChildRow(7, 0, "one", "seven", 1, "ready", None, 0, 0, None, 0, None, None, None)


def told(row: ChildRow, look: Look) -> tuple[str, str]:
    cells = {column.id: column.cell(row, look).text for column in CHILD_COLUMNS if column.id in ("glyph", "state")}
    return cells["glyph"], cells["state"]


def test_a_held_child_says_so_and_its_siblings_do_not() -> None:
    look = Look(held=frozenset({"7"}))
    assert told(READY, look) == ("‖", "held")
    assert told(READY._replace(n=77), look) == ("○", "ready")
    assert told(READY, Look(ascii=True, held=frozenset({"7"}))) == ("=", "held")


def test_a_child_that_has_ended_is_not_held_any_more() -> None:
    ended = READY._replace(state="completed", started_at=1, ended_at=2)
    assert told(ended, Look(held=frozenset({"7"}))) == ("✓", "completed")

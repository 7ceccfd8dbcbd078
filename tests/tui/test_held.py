"""A part that is held back is seen to be, and called what it is: held, stopped, or blocked by its budget."""

from __future__ import annotations

from dataclasses import replace

from poolboard.engine.views import OWN_NAME, ChildRow, ControlView, Counts, HoldView, Part, RunView, StageView
from poolboard.tui.child_list import CHILD_COLUMNS
from poolboard.tui.columns import Look, place
from poolboard.tui.held import children_held, stopped_among
from poolboard.tui.questions import stop_part_question
from poolboard.tui.stage_list import stage_columns

READY = ChildRow(7, 0, "one", "seven", 1, "ready", None, 0, 0, None, 0, None, None, None)

CONTROL = ControlView("running", 0)
RUN = RunView("abc", "many", "running", True, "/", 0, 0, None, 1.0, Counts(2, 1, 1), CONTROL, None, None)
STAGE = StageView("fetch", 0, 1, 0, 0, None, None, paused=True)


def told(row: ChildRow, look: Look) -> tuple[str, str]:
    cells = {column.id: column.cell(row, look).text for column in CHILD_COLUMNS if column.id in ("glyph", "state")}
    return cells["glyph"], cells["state"]


def test_a_held_child_says_so_and_its_siblings_do_not() -> None:
    look = Look(held={"7": "held"})
    assert told(READY, look) == ("‖", "held")
    assert told(READY._replace(n=77), look) == ("○", "ready")
    assert told(READY, Look(ascii=True, held={"7": "held"})) == ("=", "held")


def test_a_child_that_has_ended_is_not_held_any_more() -> None:
    ended = READY._replace(state="completed", started_at=1, ended_at=2)
    assert told(ended, Look(held={"7": "held"})) == ("✓", "completed")


def test_a_stopped_child_is_called_stopped_and_a_blocked_one_names_its_budget() -> None:
    holds = [
        HoldView("child", "7", "ann", None, 0, 1, cut=True),
        HoldView("child", "8", OWN_NAME, "budget used up: tokens 9 of 8", 1, 0),
        HoldView("child", "9", "ann", None, 1, 0),
    ]
    look = Look(held=children_held(holds))
    assert told(READY, look) == ("■", "stopped")
    assert told(READY._replace(n=8), look) == ("↑", "blocked (budget)")
    assert told(READY._replace(n=9), look) == ("‖", "held")


def test_the_state_has_room_for_a_used_up_budget_only_where_there_is_one() -> None:
    (state,) = (column for column in CHILD_COLUMNS if column.id == "state")
    assert state.needs is not None
    for look, cells in ((Look(held={"7": "held"}), 9), (Look(held={"8": "blocked (budget)"}), 16)):
        placed = place(CHILD_COLUMNS, 160, {"state": state.needs(look)})
        assert [one.width for one in placed if one.column.id == "state"] == [cells]


def test_a_stopped_stage_has_the_mark_of_what_is_stopped_and_a_paused_one_that_of_a_pause() -> None:
    holds = [HoldView("stage", "fetch", "ann", None, 0, 0, cut=True), HoldView("stage", "store", "ann", None, 0, 0)]
    look = Look(stopped=stopped_among("stage", holds))
    glyph = stage_columns({})[0]
    rows = [STAGE, replace(STAGE, name="store")]
    assert [glyph.cell(row, look).text for row in rows] == ["■", "‖"]


def test_stopping_a_part_asks_by_name_and_says_how_much_is_at_work() -> None:
    children = stop_part_question(Part(children=tuple((n, n) for n in range(3, 9))), RUN, 2)
    assert children.title == "Stop 6 children, with all below?"
    assert children.name == "#3, #4, #5, #6 and 2 more"
    assert children.lines[0].startswith("2 children are active")
    stage, worker = (stop_part_question(part, RUN, 1) for part in (Part(stage="fetch"), Part(worker=2)))
    assert (stage.title, worker.title) == ("Stop stage fetch?", "Stop worker 2?")
    assert stage.name == "many  abc" and stage.lines[0].startswith("1 child is active")

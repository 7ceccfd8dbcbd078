"""What a person chooses in a list: marks, ranges, columns, order, groups; and that it is there the next time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from textual.pilot import Pilot

from poolboard.tui.app import PoolboardApp
from poolboard.tui.columns import Arrangement
from poolboard.tui.preferences import Preferences
from poolboard.tui.settings import config_folder
from poolboard.tui.table import Table

from .conftest import NAMES, Recorded, says, seen, until

ALL = f"{len(NAMES)} in all"


async def board(pilot: Pilot[int]) -> Table[object]:
    await until(pilot, says(pilot, ALL), "all children")
    return pilot.app.screen.query_one("#children", Table)


async def test_v_marks_from_where_it_was_pressed_to_wherever_the_cursor_goes(recorded: Recorded) -> None:
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(140, 40)) as pilot:
        table = await board(pilot)
        await pilot.press("g", "v", "j", "j", "j")
        await until(pilot, says(pilot, "4 marked"), "the range")
        await until(pilot, says(pilot, "marking a range: v ends it"), "what goes on")
        await pilot.press("k")
        await until(pilot, says(pilot, "3 marked"), "a shorter range")
        await pilot.press("v", "j", "j", "j")
        await until(pilot, lambda: not says(pilot, "marking a range")(), "the end of the range")
        assert len(table.rows.marks) == 3
        await pilot.press("escape")
        assert table.rows.marks == set()


async def test_shift_and_an_arrow_mark_on_the_way_and_moving_without_shift_ends_it(recorded: Recorded) -> None:
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(140, 40)) as pilot:
        table = await board(pilot)
        await pilot.press("g", "shift+down", "shift+down", "down", "down")
        assert table.rows.marks == table.rows.rows_at(0, 3)


async def test_a_star_marks_all_that_the_filter_shows_and_nothing_else(recorded: Recorded) -> None:
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(140, 40)) as pilot:
        table = await board(pilot)
        await pilot.press("slash", *"state:failed", "enter", "asterisk")
        await until(pilot, says(pilot, "2 marked"), "the failed ones")
        assert table.rows.marks == {17, 18}
        await pilot.press("asterisk")
        assert table.rows.marks == set()


async def test_z_folds_by_state_then_stage_and_enter_opens_a_group(recorded: Recorded) -> None:
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(140, 40)) as pilot:
        await board(pilot)
        await pilot.press("z")
        await until(pilot, says(pilot, "▸ failed  2"), "the group of the failed")
        assert says(pilot, "▸ completed  16")() and says(pilot, ALL)() and says(pilot, "groups by state")()
        await pilot.press("g", "enter")
        await until(pilot, says(pilot, "▾ failed  2"), "the open group")
        assert any("bad [red" in line for line in seen(app))
        await pilot.press("enter")
        await until(pilot, says(pilot, "▸ failed  2"), "the closed group")
        await pilot.press("z")
        await until(pilot, says(pilot, "groups by stage"), "the next way")
        await pilot.press("z")
        await until(pilot, says(pilot, "groups by error"), "the next way")
        await until(pilot, says(pilot, "▸ no error  16"), "those without")
        await pilot.press("z", "z")
        await until(pilot, lambda: not says(pilot, "groups by")(), "single rows")


async def test_columns_are_picked_moved_and_remembered(recorded: Recorded) -> None:
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(140, 40)) as pilot:
        table = await board(pilot)
        await pilot.press("C")
        await until(pilot, says(pilot, "[x] child"), "the columns")
        await pilot.press("j", "j", "space")
        await until(pilot, says(pilot, "[ ] child"), "the column that is left out")
        assert "label" not in [column.id for column in table.shown_columns]
        await pilot.press("k", "K", "enter")
        await pilot.pause()
        assert [column.id for column in table.shown_columns][:2] == ["n", "glyph"]
        await pilot.press("greater_than_sign")
        by = table.rows.sorted_by
    assert by is not None
    again = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with again.run_test(size=(140, 40)) as pilot:
        table = await board(pilot)
        assert [column.id for column in table.shown_columns][:2] == ["n", "glyph"]
        assert table.rows.sorted_by == by
        await pilot.press("C", "d", "enter")
        await pilot.pause()
        assert table.picked is None


async def test_leaving_the_column_picker_with_esc_changes_nothing(recorded: Recorded) -> None:
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(140, 40)) as pilot:
        table = await board(pilot)
        before = table.shown_columns
        await pilot.press("C", "j", "space", "j", "space", "escape")
        await pilot.pause()
        assert table.shown_columns == before
    assert Preferences(config_folder(), print).of_list("children") is None


async def test_a_click_on_a_title_sorts_and_that_is_remembered(recorded: Recorded) -> None:
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(140, 40)) as pilot:
        table = await board(pilot)
        header = next(line for line in seen(app) if "child" in line and "took" in line and "state" in line)
        await pilot.click(table, offset=(header.index("took"), 0))
        assert table.rows.sorted_by == "took" and table.rows.reverse
    kept = Preferences(config_folder(), print).of_list("children")
    assert kept == Arrangement(None, "took", True, None)


async def test_a_cell_a_row_or_the_id_can_be_copied(recorded: Recorded) -> None:
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(140, 40), notifications=True) as pilot:
        table = await board(pilot)
        await pilot.press("G", "Y")
        await until(pilot, says(pilot, f"{recorded.run_id}#"), "the id")
        n = table.rows.cursor
        await pilot.press("enter")
        await until(pilot, lambda: app.clipboard == f"{recorded.run_id}#{n}", "the copied id")
        await pilot.press("Y", "j", "enter")
        await until(pilot, lambda: "\t" in app.clipboard, "the copied row")
        assert NAMES[int(n or 0) - 1] in app.clipboard or "^" in app.clipboard
        await pilot.press("Y", "j", "j", "j", "enter")
        await until(pilot, lambda: app.clipboard == str(n), "the copied cell")


@pytest.mark.parametrize(
    "damage",
    ["{", "\x00" * 64, json.dumps({"lists": {"children": {"columns": 7}}}), json.dumps({"lists": "none"})],
)
async def test_damaged_preferences_are_ignored_with_one_notice(recorded: Recorded, damage: str) -> None:
    folder = config_folder()
    folder.mkdir(parents=True)
    (folder / "screen.json").write_text(damage)
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(140, 40), notifications=True) as pilot:
        await until(pilot, says(pilot, "are damaged and are ignored"), "the notice")
        await until(pilot, says(pilot, ALL), "all children")


async def test_columns_that_are_not_there_any_more_are_left_out(recorded: Recorded) -> None:
    wanted = Arrangement(("label", "moon", "took"), "moon", True, "moon")
    Preferences(config_folder(), print).keep_list("children", wanted)
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(140, 40)) as pilot:
        table = await board(pilot)
        assert [column.id for column in table.shown_columns] == ["label", "took"]
        assert table.rows.sorted_by is None and table.rows.folded_by is None


def test_a_choice_that_cannot_be_saved_holds_and_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    told: list[str] = []
    preferences = Preferences(tmp_path / "file", told.append)
    preferences.keep_theme("paper")
    assert preferences.theme == "paper" and "could not be saved" in told[-1]


def test_a_hint_is_shown_once(tmp_path: Path) -> None:
    assert Preferences(tmp_path, print).first_time("board")
    again = Preferences(tmp_path, print)
    assert not again.first_time("board") and again.first_time("log")

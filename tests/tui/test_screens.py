"""The dashboard over the journal of a real run: what a person sees and may do."""

from __future__ import annotations

from pathlib import Path

import pytest

from poolboard.engine.monitor import Monitor
from poolboard.tui.app import PoolboardApp
from poolboard.tui.board_screen import BoardScreen
from poolboard.tui.child_screen import ChildScreen
from poolboard.tui.filter_bar import FilterBar
from poolboard.tui.line import Line
from poolboard.tui.palette import ActionCommands
from poolboard.tui.runs_screen import RunsScreen
from poolboard.tui.session import Session
from poolboard.tui.table import Table
from poolboard.tui.text import visible

from .conftest import NAMES, Recorded, says, seen, until


async def test_an_empty_journal_says_how_to_start(tmp_path: Path) -> None:
    app = PoolboardApp(str(tmp_path / "none.sqlite"))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, says(pilot, "poolboard demo"), "advice on an empty list")
        await pilot.press("enter", "p", "x", "escape")
        assert isinstance(app.screen, RunsScreen)
        assert not (tmp_path / "none.sqlite").exists()


async def test_the_list_of_runs_tells_each_run_on_one_line(recorded: Recorded) -> None:
    app = PoolboardApp(str(recorded.journal))
    async with app.run_test(size=(120, 24)) as pilot:
        await until(pilot, says(pilot, "everything"), "the run")
        line = next(line for line in seen(app) if "everything" in line)
        for word in ("✓", recorded.run_id[:6], "completed", f"{len(NAMES)}/{len(NAMES)}"):
            assert word in line


async def test_enter_goes_in_and_esc_comes_back_and_never_quits(recorded: Recorded) -> None:
    app = PoolboardApp(str(recorded.journal))
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, says(pilot, "everything"), "the run")
        await pilot.press("enter")
        await until(pilot, says(pilot, f"{len(NAMES)} in all"), "the board and its children")
        assert isinstance(app.screen, BoardScreen)
        await pilot.press("enter")
        await until(pilot, says(pilot, "result or error"), "the child's stages")
        assert isinstance(app.screen, ChildScreen)
        await pilot.press("escape", "escape", "escape", "escape")
        await pilot.pause()
        assert isinstance(app.screen, RunsScreen)
        assert app.is_running


async def test_the_board_counts_what_the_journal_counts(recorded: Recorded) -> None:
    """B40, of a run that is read after it ended."""
    monitor = await Monitor.open(str(recorded.journal))
    summary = await monitor.status(recorded.run_id)
    await monitor.close()
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(100, 40)) as pilot:
        await until(pilot, says(pilot, f"{len(NAMES)} in all"), "all children")
        shown = "\n".join(seen(app))
        assert summary.run.children.failed == 2
        assert "✓ completed" in shown
        assert f"{summary.run.children.settled} of {summary.run.children.total}" in shown
        assert "2 failed" in shown
        for stage in summary.stages:
            line = next(line for line in seen(app) if stage.name in line)
            assert str(stage.done) in line.split() and str(stage.failed) in line.split()


@pytest.mark.parametrize("size", [(160, 48), (80, 24), (40, 12)])
async def test_every_size_shows_how_it_stands_and_the_keys(recorded: Recorded, size: tuple[int, int]) -> None:
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=size) as pilot:
        await until(pilot, says(pilot, "100%"), "the board")
        lines: list[str] = []

        def has_a_row() -> bool:
            lines[:] = seen(app)
            return "enter open" in lines[-1]

        await until(pilot, has_a_row, "a row under the cursor")
        assert "completed" in lines[0]
        assert "100%" in lines[1]
        assert "enter open" in lines[-1]
        assert all(len(line) <= size[0] for line in lines)


async def test_every_hostile_name_is_on_the_board_character_for_character(recorded: Recorded) -> None:
    """B38 and B64, in the table."""
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(160, 48)) as pilot:
        await until(pilot, says(pilot, f"{len(NAMES)} in all"), "all children")
        shown = "\n".join(seen(app))
        for name in NAMES:
            assert visible(name) in shown, name


@pytest.mark.parametrize(
    "name", [name if at % 4 == 0 else pytest.param(name, marks=pytest.mark.slow) for at, name in enumerate(NAMES)]
)
async def test_a_hostile_child_opens_and_every_tab_shows_it(recorded: Recorded, name: str) -> None:
    """B38 and B64, in the detail."""
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, says(pilot, f"{len(NAMES)} in all"), "all children")
        app.push_screen(ChildScreen(_session(app), recorded.run_id, NAMES.index(name) + 1, "short"))
        await until(pilot, lambda: visible(name) in "\n".join(seen(app)[:2]), "the child with its name")
        await pilot.press("l")
        await until(pilot, says(pilot, "weighing"), "its log")
        assert visible(f"weighing {name}") in "\n".join(seen(app)) or "\r" in name
        if name.startswith("bad"):
            await pilot.press("left_square_bracket")
            await until(pilot, says(pilot, "Traceback"), "its traceback")
            assert f"cannot weigh {visible(name)}" in "\n".join(seen(app))


def _session(app: PoolboardApp) -> Session:
    board = app.screen
    assert isinstance(board, BoardScreen)
    return board.session


async def test_hostile_toasts_are_shown_as_they_came(recorded: Recorded) -> None:
    """B38, in a notification."""
    app = PoolboardApp(str(recorded.journal))
    async with app.run_test(size=(100, 90), notifications=True) as pilot:
        await until(pilot, says(pilot, "everything"), "the run")
        assert isinstance(app.screen, RunsScreen)
        for name in NAMES:
            app.screen.say(f"toast {name}.")
        await until(pilot, says(pilot, f"toast {visible(NAMES[-1])}."), "the last toast")
        shown = "\n".join(seen(app))
        for name in NAMES:
            assert f"toast {visible(name)}." in shown


async def test_letters_in_the_filter_are_text_and_nothing_else(recorded: Recorded) -> None:
    """B47, typing."""
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, says(pilot, f"{len(NAMES)} in all"), "all children")
        await pilot.press("slash", *"stop-pq", "space", *"s", "question_mark")
        bar = app.screen.query_one(FilterBar)
        assert bar.text == "stop-pq s?"
        await until(pilot, says(pilot, f"showing 0 of {len(NAMES)}"), "the count")
        assert isinstance(app.screen, BoardScreen)
        await pilot.press("escape")
        await until(pilot, says(pilot, f"{len(NAMES)} in all"), "all children again")
        await pilot.press("slash", "enter")
        assert app.screen.focused is app.screen.query_one("#children", Table)
        assert not bar.has_class("-open")


async def test_a_click_on_the_key_bar_acts_and_types_nothing(recorded: Recorded) -> None:
    """B47, clicking."""
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, says(pilot, f"{len(NAMES)} in all"), "all children")
        await pilot.press("slash")
        bar = app.screen.query_one(FilterBar)
        keys = app.screen.query_one("#keys", Line)
        await pilot.click(keys, offset=(seen(app)[-1].index("help"), 0))
        await until(pilot, says(pilot, "On this screen"), "the help")
        assert bar.text == ""


async def test_the_filter_finds_children_by_state_and_by_error(recorded: Recorded) -> None:
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, says(pilot, f"{len(NAMES)} in all"), "all children")
        await pilot.press("slash", *"state:failed", "enter")
        await until(pilot, says(pilot, f"showing 2 of {len(NAMES)}"), "the failed ones")
        await pilot.press("slash", *" [red", "enter")
        await until(pilot, says(pilot, f"showing 1 of {len(NAMES)}"), "the one with the bracket")


async def test_a_key_that_cannot_be_used_says_why_and_changes_nothing(recorded: Recorded) -> None:
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await until(pilot, says(pilot, f"{len(NAMES)} in all"), "all children")
        await pilot.press("x")
        await until(pilot, says(pilot, "stop: the run is completed"), "the reason")
        assert isinstance(app.screen, BoardScreen)


async def test_the_help_lists_every_key_and_the_reasons(recorded: Recorded) -> None:
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(120, 70)) as pilot:
        await until(pilot, says(pilot, f"{len(NAMES)} in all"), "all children")
        await pilot.press("question_mark")
        await until(pilot, says(pilot, "(not now: the run is completed)"), "the help")
        await pilot.press("escape")
        assert isinstance(app.screen, BoardScreen)


async def test_the_palette_finds_an_action_by_name(recorded: Recorded) -> None:
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, says(pilot, f"{len(NAMES)} in all"), "all children")
        offered = [hit.text async for hit in ActionCommands(app.screen).discover()]
        assert any(text and text.startswith("freeze") for text in offered)
        await pilot.press("colon", *"slots")
        await until(pilot, says(pilot, "show what every slot is doing"), "the hit")
        await pilot.press("enter")
        await until(pilot, lambda: app.screen.focused is app.screen.query_one("#slots"), "the slots")


async def test_q_on_a_run_that_has_ended_leaves_with_zero(recorded: Recorded) -> None:
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, says(pilot, f"{len(NAMES)} in all"), "all children")
        await pilot.press("q")
        await pilot.pause()
    assert app.return_code == 0


async def test_the_display_can_be_frozen_and_says_so(recorded: Recorded) -> None:
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, says(pilot, f"{len(NAMES)} in all"), "all children")
        await pilot.press("Z")
        await until(pilot, says(pilot, "Z goes on"), "the banner")
        await pilot.press("Z")
        await until(pilot, lambda: not says(pilot, "Z goes on")(), "the banner to go")


async def test_marks_stay_on_their_rows_and_are_counted(recorded: Recorded) -> None:
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, says(pilot, f"{len(NAMES)} in all"), "all children")
        await pilot.press("space", "space")
        await until(pilot, says(pilot, "2 marked"), "the count of marks")
        table = app.screen.query_one("#children", Table)
        marked = set(table.rows.marks)
        await pilot.press("O")
        assert table.rows.marks == marked
        await pilot.press("U")
        await until(pilot, lambda: not says(pilot, "marked")(), "the marks to go")


@pytest.mark.parametrize("key", ["T"])
async def test_the_theme_can_be_changed_while_looking(recorded: Recorded, key: str) -> None:
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await until(pilot, says(pilot, f"{len(NAMES)} in all"), "all children")
        before = app.theme
        await pilot.press(key, "j")
        await until(pilot, lambda: app.theme != before, "the next theme")
        await until(pilot, says(pilot, f"▌ {app.theme}"), "its name")


async def test_ascii_is_enough_for_all_that_is_ours(recorded: Recorded) -> None:
    app = PoolboardApp(str(recorded.journal), recorded.run_id, ascii=True)
    async with app.run_test(size=(100, 40)) as pilot:
        await until(pilot, says(pilot, f"{len(NAMES)} in all"), "all children")
        theirs = set("".join(visible(name) for name in NAMES)) | set("…–")
        ours = set("".join(seen(app))) - theirs
        assert all(character.isascii() for character in ours), ours


async def test_what_is_not_a_journal_is_refused_before_anything_is_drawn(tmp_path: Path) -> None:
    (tmp_path / "letter.sqlite").write_text("Dear Ann, this is no database. " * 50)
    app = PoolboardApp(str(tmp_path / "letter.sqlite"))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
    assert app.return_code == 2
    assert "letter.sqlite" in str(app.refusal)


async def test_an_unknown_run_is_refused_by_name(recorded: Recorded) -> None:
    app = PoolboardApp(str(recorded.journal), "ffff0000")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
    assert app.return_code == 2
    assert "ffff0000" in str(app.refusal)


async def test_failures_are_grouped_and_enter_shows_the_children_of_a_group(recorded: Recorded) -> None:
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        await until(pilot, says(pilot, f"{len(NAMES)} in all"), "all children")
        await pilot.press("2")
        await until(pilot, says(pilot, "2 failed in 2 ways"), "the groups")
        await until(pilot, says(pilot, "cannot weigh bad [… ^"), "the first group's words")
        assert any("#17" in line for line in seen(app)) and any("#18" in line for line in seen(app))
        await pilot.press("y")
        await until(pilot, says(pilot, "copied a report of 1 failed child"), "the notice")
        assert "cannot weigh bad" in app.clipboard and "\x1b" not in app.clipboard
        assert f"poolboard logs {recorded.run_id} 1" in app.clipboard
        await pilot.press("enter")
        await until(pilot, says(pilot, f"showing 1 of {len(NAMES)}"), "the group's children")
        await pilot.press("escape")
        await until(pilot, says(pilot, "2 failed in 2 ways"), "the groups, where the person came from")
        await pilot.press("1")
        await until(pilot, says(pilot, f"{len(NAMES)} in all"), "all children again")


async def test_the_journal_tab_lists_events_filters_by_type_and_opens_one(recorded: Recorded) -> None:
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, says(pilot, f"{len(NAMES)} in all"), "all children")
        await pilot.press("6")
        await until(pilot, says(pilot, "follow: on"), "the events")
        events = app.screen.query_one("#events", Table)
        await until(pilot, lambda: len(events.rows) > 0, "the events")
        assert events.rows.index_of(events.rows.cursor) == len(events.rows) - 1
        kind = events.rows.get(events.rows.key_at(0)).type.lower()  # type: ignore[union-attr]
        await pilot.press("slash", *f"type:{kind}", "enter")
        # What the filter asks stands in its bar; beside the tabs there is no room for a long type.
        await until(pilot, lambda: 0 < len(events.rows) < events.rows.total, "the filter")
        await until(pilot, says(pilot, f"showing {len(events.rows)} of {events.rows.total} events"), "how many")
        assert any(line.strip() == f"/ type:{kind}" for line in seen(app))
        assert all(events.rows.get(events.rows.key_at(at)).type.lower() == kind for at in range(len(events.rows)))  # type: ignore[union-attr]
        await pilot.press("g", "enter")
        await until(pilot, says(pilot, "esc closes"), "the event")
        assert any("seq 1 " in line or "seq 1" in line.split("  ") for line in seen(app))
        await pilot.press("escape", "escape")
        await until(pilot, lambda: len(events.rows) == events.rows.total, "all events again")
        await pilot.press("1")
        await until(pilot, says(pilot, f"{len(NAMES)} in all"), "the children, unfiltered")


async def test_the_timeline_shows_bars_by_child_and_by_worker_and_opens_one(recorded: Recorded) -> None:
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, says(pilot, f"{len(NAMES)} in all"), "all children")
        await pilot.press("5")
        await until(pilot, says(pilot, "the newest 18 children"), "the bars")
        assert any("|0" in line for line in seen(app))
        assert any("━" in line and "[@click=app.quit]x[/]" in line for line in seen(app))
        assert any("✗" in line and "bad [red" in line for line in seen(app))
        await pilot.press("t")
        await until(pilot, says(pilot, "t by child"), "the lanes")
        assert any("·" in line and ("━" in line or "─" in line) for line in seen(app))
        await pilot.press("t")
        await until(pilot, says(pilot, "t by worker"), "the children")
        await pilot.press("enter")
        await until(pilot, says(pilot, "result or error"), "the child")
        assert isinstance(app.screen, ChildScreen)


async def test_a_filter_of_a_list_outlives_all_that_turns_the_list(recorded: Recorded) -> None:
    """B55, in a list: its order, groups, other tabs, columns, a frozen display, reading again."""
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, says(pilot, f"{len(NAMES)} in all"), "all children")
        table = app.screen.query_one("#children", Table)
        await pilot.press("slash", *"bad", "enter")
        for keys in ((), ("o",), ("O",), ("z",), ("z", "z", "z"), ("2", "1"), ("6", "1"), ("Z", "Z"), ("ctrl+r",)):
            await pilot.press(*keys)
            await until(pilot, says(pilot, f"showing 2 of {len(NAMES)}"), f"the filter after {keys}")
            assert table.rows.matching == 2
            assert any(line.strip() == "/ bad" for line in seen(app)), keys
        await pilot.press("escape")
        await until(pilot, says(pilot, f"{len(NAMES)} in all"), "all of them again")

"""What a newcomer is told, once; where one is, and how the words of the help are laid out."""

from __future__ import annotations

import asyncio

import pytest

from poolboard.engine.monitor import Monitor
from poolboard.tui import feed
from poolboard.tui.app import PoolboardApp
from poolboard.tui.board_screen import BoardScreen
from poolboard.tui.runs_screen import RunsScreen
from poolboard.tui.text_pane import TextPane

from .conftest import NAMES, Recorded, says, seen, until


async def test_the_first_time_a_screen_says_what_matters_and_then_never_again(recorded: Recorded) -> None:
    for times, told in ((1, True), (2, False)):
        app = PoolboardApp(str(recorded.journal), recorded.run_id)
        async with app.run_test(size=(80, 24), notifications=True) as pilot:
            await until(pilot, says(pilot, f"{len(NAMES)} in all"), "all children")
            await pilot.pause()
            hint = next((line for line in seen(app) if "p pauses the run" in line), "")
            assert bool(hint) == told, times
            if told:
                assert "enter opens a child" in hint and seen(app)[-2] == hint, (
                    "one line, over the keys: it hides nothing"
                )


async def test_breadcrumbs_say_where_one_came_from_and_a_click_goes_back(recorded: Recorded) -> None:
    app = PoolboardApp(str(recorded.journal))
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, says(pilot, "everything"), "the run")
        await pilot.press("enter")
        await until(pilot, says(pilot, "runs ›"), "the way back")
        await until(pilot, says(pilot, f"{len(NAMES)} in all"), "all children")
        await pilot.press("enter")
        await until(pilot, says(pilot, f"{recorded.run_id[:6]} ›"), "the way back to the run")
        await pilot.click("#identity", offset=(3, 0))
        await until(pilot, lambda: isinstance(app.screen, BoardScreen), "the board")
        await pilot.click("#identity", offset=(2, 0))
        await until(pilot, lambda: isinstance(app.screen, RunsScreen), "the runs")


@pytest.mark.parametrize("size", [(100, 60), (80, 24), (60, 24), (40, 12)])
async def test_no_word_of_the_help_is_cut_in_two(recorded: Recorded, size: tuple[int, int]) -> None:
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=size) as pilot:
        await until(pilot, says(pilot, "100%"), "the board")
        await pilot.press("question_mark")
        await until(pilot, says(pilot, "Keys"), "the help")
        pane = app.screen.query_one(TextPane)
        await until(pilot, lambda: len(pane._rows) > 20, "the text")
        words = {word for action in seen(app) for word in action.split()}
        assert words
        shown = [row for row, _ in pane._rows]
        assert len(shown) == len(pane._lines), "the pane had to wrap what was wrapped between words"
        text = " ".join(" ".join(shown).split())
        for phrase in ("pause the run at the next stage boundaries, or resume it", "show what every slot is doing"):
            assert phrase in text


async def test_the_bar_offers_only_what_can_be_done_now(recorded: Recorded) -> None:
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(200, 30)) as pilot:
        await until(pilot, says(pilot, f"{len(NAMES)} in all"), "all children")
        bar = seen(app)[-1]
        assert "p pause" not in bar and "x stop" not in bar and "r retry failed" in bar


async def test_a_run_that_is_still_being_read_says_so_and_its_help_is_there(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_go_on, follow = asyncio.Event(), Monitor.follow

    async def held(*words: object, **options: object) -> object:
        await may_go_on.wait()
        async for summary in follow(*words, **options):  # type: ignore[arg-type]
            yield summary

    monkeypatch.setattr(Monitor, "follow", held)
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, says(pilot, "reading run"), "the board")
        await pilot.press("x")
        await until(pilot, says(pilot, "stop: the run is still being read"), "the reason")
        await pilot.press("question_mark")
        await until(pilot, says(pilot, "pause the run at the next stage boundaries"), "the help")
        await until(pilot, says(pilot, "(not now: the run is still being read)"), "the reason in the help")
        await pilot.press("escape")
        may_go_on.set()
        await until(pilot, says(pilot, f"{len(NAMES)} in all"), "all children")


async def test_a_run_that_fills_its_last_page_is_not_being_read_for_ever(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "_PAGE", len(NAMES) // 2)
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, says(pilot, f"{len(NAMES)} in all"), "all children")
        await until(pilot, lambda: not says(pilot, "reading…")(), "the note to go")


async def test_the_line_over_a_list_says_once_by_what_it_is_in_groups_and_in_order(recorded: Recorded) -> None:
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(160, 30)) as pilot:
        await until(pilot, says(pilot, "by state ▲"), "the order")
        await pilot.press("z")
        await until(pilot, says(pilot, "groups by state ▲"), "the groups")
        assert not says(pilot, "groups by state by state")()
        await pilot.press("less_than_sign")
        await until(pilot, says(pilot, "groups by state, in them by child ▲"), "the order in the groups")


async def test_an_error_does_not_repeat_the_stage_beside_it(recorded: Recorded) -> None:
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, says(pilot, f"{len(NAMES)} in all"), "all children")
        line = next(line for line in seen(app) if "✗" in line and "cannot weigh" in line)
        assert "weigh " in line and "stage weigh" not in line and "ValueError: cannot weigh" in line
        await pilot.press("2")
        await until(pilot, says(pilot, "2 failed in 2 ways"), "the groups")
        line = next(line for line in seen(app) if "cannot weigh" in line)
        assert "stage weigh" not in line

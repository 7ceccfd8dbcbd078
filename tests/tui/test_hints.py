"""What a newcomer is told, once; where one is, and how the words of the help are laid out."""

from __future__ import annotations

import pytest

from poolboard.tui.app import PoolboardApp
from poolboard.tui.board_screen import BoardScreen
from poolboard.tui.runs_screen import RunsScreen
from poolboard.tui.text_pane import TextPane

from .conftest import NAMES, Recorded, says, seen, until


async def test_the_first_time_a_screen_says_what_matters_and_then_never_again(recorded: Recorded) -> None:
    for times, told in ((1, True), (2, False)):
        app = PoolboardApp(str(recorded.journal), recorded.run_id)
        async with app.run_test(size=(100, 30), notifications=True) as pilot:
            await until(pilot, says(pilot, f"{len(NAMES)} in all"), "all children")
            await pilot.pause()
            assert says(pilot, "p pauses the run, not the screen")() == told, times


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

"""Questions and limits on the screen, beside runs that really ask and really wait."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from poolboard.engine.monitor import Monitor
from poolboard.engine.views import HolderView, LimitView, PromptView, RunView, Summary, WaiterView
from poolboard.tui.app import PoolboardApp
from poolboard.tui.board_screen import BoardScreen
from poolboard.tui.clock import Clock
from poolboard.tui.key_guard import QUIET_S, KeyGuard
from poolboard.tui.limit_list import limit_lines
from poolboard.tui.pace import Pace
from poolboard.tui.prompt_screen import PromptScreen
from poolboard.tui.value_screen import ValueScreen

from .conftest import says, seen, until

WORKFLOW = """
import asyncio
from pathlib import Path

from poolboard import Context, stage, workflow

HOSTILE = "Deploy \\x1b]0;PWN\\x07 [@click=app.quit]x[/] \\u202egnp?"


@workflow
async def child(ctx: Context, gate: str) -> list[object]:
    while not Path(gate).exists():
        await ctx.sleep(0.1)
    return [
        await ctx.ask.confirm(HOSTILE, default=True),
        await ctx.ask.select("Which region?", ["eu", "us", "[red]asia[/]"], default="us"),
        await ctx.ask.text("A note?", default="none"),
    ]


@workflow
async def asking(ctx: Context, gate: str) -> list[object]:
    return await ctx.child(child, gate)


@stage(needs={"gpu": 1})
def hold(gate: str) -> int:
    import time

    while not Path(gate).exists():
        time.sleep(0.02)
    return 1


@workflow
async def holder(ctx: Context, gate: str) -> int:
    return await ctx.stage(hold, gate)


@workflow(limits={"gpu": 1})
async def sharing(ctx: Context, gate: str) -> int:
    return sum(await ctx.map(holder, [gate, gate, gate]))
"""

Start = Callable[[str], "Going"]


class Going:
    """A run that goes on until its gate is opened."""

    def __init__(self, journal: Path, run_id: str, gate: Path) -> None:
        self.journal, self.run_id, self.gate = journal, run_id, gate

    async def status(self) -> Summary:
        monitor = await Monitor.open(str(self.journal))
        try:
            return await monitor.status(self.run_id)
        finally:
            await monitor.close()

    async def ended(self) -> RunView:
        async with asyncio.timeout(60):
            while (run := (await self.status()).run).ended_at is None:
                await asyncio.sleep(0.05)
        return run


@pytest.fixture
def start(poolboard: Callable[..., object], tmp_path: Path) -> Start:
    def begin(name: str) -> Going:
        (tmp_path / "work.py").write_text(WORKFLOW)
        journal, gate = tmp_path / "journal.sqlite", tmp_path / "gate"
        words = ("run", f"work.py:{name}", "--input", f"gate={gate}", "--workers", "1", "--detach", "--json")
        answer = poolboard(*words, "--journal", str(journal), cwd=tmp_path)
        assert getattr(answer, "code", None) == 0, answer
        return Going(journal, json.loads(getattr(answer, "out", ""))["run_id"], gate)

    return begin


@asynccontextmanager
async def board_of(going: Going, *, clock: Clock | None = None, read_only: bool = False) -> AsyncIterator[Pilot[int]]:
    app = PoolboardApp(str(going.journal), going.run_id, pace=Pace(0.05, 0.0), clock=clock, read_only=read_only)
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.screen, BoardScreen), "the board")
        await until(pilot, says(pilot, "running"), "the summary")
        yield pilot


async def card(pilot: Pilot[int], message: str) -> PromptScreen:
    """Return the card of a question once it is open and takes keys."""

    def open_now() -> bool:
        screen = pilot.app.screen
        if not isinstance(screen, PromptScreen) or message not in screen.prompt.message:
            return False
        return screen._guard.open and says(pilot, "later")()

    await until(pilot, open_now, f"the card: {message}")
    screen = pilot.app.screen
    assert isinstance(screen, PromptScreen)
    return screen


# --- questions -------------------------------------------------------------------------------------------------------


def test_a_key_that_is_held_down_keeps_the_card_shut() -> None:
    """U7: repeats come every 30 ms; only a pause of 200 ms without any key opens it."""
    guard = KeyGuard(10.0)
    assert not any(guard.key(10.0 + repeat * 0.03) for repeat in range(100))
    assert guard.left_s(12.97) == pytest.approx(QUIET_S)
    assert not guard.look(13.1)
    assert guard.look(13.2) and guard.key(13.21)


async def test_a_new_question_rings_and_takes_the_keys_and_a_held_enter_does_not_answer_it(start: Start) -> None:
    """U7: the card appears while the board is open and enter is held down."""
    steady_s = 0.0
    clock = Clock(steady_s=lambda: steady_s)
    going = start("asking")
    rung = 0
    async with board_of(going, clock=clock) as pilot:

        def ring() -> None:
            nonlocal rung
            rung += 1

        pilot.app.bell = ring  # type: ignore[method-assign]
        going.gate.touch()
        await until(pilot, lambda: isinstance(pilot.app.screen, PromptScreen), "the card")
        for _ in range(5):
            await pilot.press("enter", "y", "escape")
        assert isinstance(pilot.app.screen, PromptScreen)
        assert (await going.status()).run.prompts == 1
        steady_s = 1.0
        await card(pilot, "Deploy")
        assert rung == 1
        await pilot.press("y")
        await until(pilot, says(pilot, "Which region?"), "the next card")
        await pilot.press("enter", "enter", "enter")  # still held: the next card is as safe as the first
        assert (await going.status()).prompts[0].kind == "select"


@pytest.mark.slow
async def test_three_kinds_of_cards_are_answered_one_after_the_other(start: Start) -> None:
    going = start("asking")
    async with board_of(going) as pilot:
        going.gate.touch()
        await card(pilot, "Deploy")
        text = "\n".join(seen(pilot.app))
        assert "Deploy ^[]0;PWN^G [@click=app.quit]x[/] <U+202E>gnp?" in text  # shown, not obeyed
        assert "y yes (enter)" in text
        await pilot.press("n")
        await card(pilot, "Which region?")
        assert "[red]asia[/]" in "\n".join(seen(pilot.app))
        await pilot.press("down", "enter")  # the cursor begins on the default
        await card(pilot, "A note?")
        await pilot.press("ctrl+u", *"ok", "enter")
        run = await going.ended()
        assert json.loads(run.result or "") == [False, "[red]asia[/]", "ok"]


async def test_a_question_left_for_later_is_counted_on_the_board_and_answered_by_a(start: Start) -> None:
    """U10: also the list of runs shows it, with the count."""
    going = start("asking")
    async with board_of(going) as pilot:
        going.gate.touch()
        await card(pilot, "Deploy")
        await pilot.press("escape")
        await until(pilot, says(pilot, "1 question waits for an answer"), "the banner")
        assert any("awaiting input 1" in line for line in seen(pilot.app))
        assert any("8 prompts 1" in line for line in seen(pilot.app))
        await pilot.press("8")
        await until(pilot, says(pilot, "confirm"), "the list of questions")
        await pilot.press("enter")
        await card(pilot, "Deploy")
        await pilot.press("escape")
        app = PoolboardApp(str(going.journal), pace=Pace(0.05, 0.0))
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        await until(pilot, says(pilot, "asks 1"), "the run in the list, asking")
        await pilot.press("a")
        await card(pilot, "Deploy")
        await pilot.press("enter")  # the default
        async with asyncio.timeout(60):
            while not (asked := (await going.status()).prompts) or asked[0].kind != "select":
                await asyncio.sleep(0.05)


async def test_an_answer_that_came_too_late_is_told_on_the_card(start: Start) -> None:
    going = start("asking")
    async with board_of(going) as pilot:
        going.gate.touch()
        screen = await card(pilot, "Deploy")
        monitor = await Monitor.open(str(going.journal))
        await monitor.answer(going.run_id, screen.prompt.id, "no", "bob")
        await monitor.close()
        await pilot.press("y")
        await until(pilot, says(pilot, "was answered already by bob: no"), "who was first")
        assert pilot.app.screen is screen


@pytest.mark.slow
async def test_a_screen_that_may_only_look_shows_the_question_and_no_card(start: Start) -> None:
    going = start("asking")
    async with board_of(going, read_only=True) as pilot:
        going.gate.touch()
        await until(pilot, says(pilot, "1 question waits for an answer"), "the banner")
        await pilot.press("a")
        await until(pilot, says(pilot, "answer: read-only"), "why not")
        assert isinstance(pilot.app.screen, BoardScreen)


async def test_a_refused_answer_stays_on_the_card_and_can_be_given_again() -> None:
    sent: list[str] = []

    async def send(text: str) -> None:
        sent.append(text)
        if len(sent) == 1:
            raise ValueError("question 3 stays open: [red]no[/]")

    prompt = PromptView(3, "abc", 7, "a\x1b[31mb", "measure", "text", "Line 1\nLine 2", (), None, 0, None)
    app = PoolboardApp(str(Path("/nonexistent/journal.sqlite")))
    async with app.run_test(size=(40, 12)) as pilot:
        outcomes: list[object] = []
        await app.push_screen(PromptScreen(prompt, "abc", send, Clock(), ascii=True), outcomes.append)
        await until(pilot, says(pilot, "later"), "the keys")
        await pilot.press("x", "enter")
        await until(pilot, says(pilot, "[red]no[/]"), "the refusal")
        assert "\x1b" not in "".join(seen(app))
        await pilot.press("y", "enter")
        await until(pilot, lambda: outcomes == ["answered"], "the outcome")
        assert sent == ["x", "xy"]


# --- limits ----------------------------------------------------------------------------------------------------------


def test_the_limits_tab_names_holders_and_says_why_the_first_wait() -> None:
    waiters = (WaiterView(3, 1, 12.0, "waits for gpu: 2 of 2 in use by child 1 and child 2"),)
    holders = (HolderView(1, 1), HolderView(2, 2, "abcdef123456"))
    gpu = LimitView("gpu", "2", 2, None, True, 2, None, holders, 4, waiters, 9)
    api = LimitView("api", "60/min", 10, 1.0, False, 0, 3.5, (), 0, (), 0, slow_s=30.0)
    found = list(limit_lines([gpu, api]))
    assert [(line.name, line.used, line.waiting) for line in found] == [
        ("gpu", "2 of 2", 9), ("", "", 0), ("", "", 0), ("api", "3.5 of 10 left", 0),
    ]  # fmt: skip
    assert found[0].told == "in use by #1, #2 of run abcdef12 (2) and 2 more"
    assert (found[1].who, found[1].told, found[1].n) == ("#3", waiters[0].reason, 3)
    assert found[2].told == "and 8 more wait behind them"
    assert found[3].told == "to be left alone for 30 s more"


@pytest.mark.slow
async def test_the_limits_tab_shows_who_waits_and_why_and_a_limit_is_changed_there(start: Start) -> None:
    going = start("sharing")
    async with board_of(going) as pilot:
        await until(pilot, says(pilot, "7 limits 1"), "the tab")
        await pilot.press("7")
        await until(pilot, says(pilot, "waits for gpu: 1 of 1 in use by child"), "why they wait")
        assert sum("waits for gpu" in line for line in seen(pilot.app)) == 2
        await pilot.press("e")
        await until(pilot, lambda: isinstance(pilot.app.screen, ValueScreen), "the question")
        await pilot.press("ctrl+u", *"x", "enter")
        await until(pilot, says(pilot, "limit gpu: a capacity is a"), "the refusal")
        await pilot.press("e")
        await until(pilot, lambda: isinstance(pilot.app.screen, ValueScreen), "the question again")
        await pilot.press("ctrl+u", *"3", "enter")
        await until(pilot, says(pilot, "3 of 3"), "all of them in")
        going.gate.touch()
        assert (await going.ended()).result == "3"


async def test_a_child_that_waits_says_why(start: Start) -> None:
    going = start("sharing")
    async with board_of(going) as pilot:
        await pilot.press("7")
        await until(pilot, says(pilot, "waits for gpu"), "why they wait")
        await pilot.press("down", "enter")
        await until(pilot, says(pilot, "waits for gpu: 1 of 1 in use by child"), "the child says it too")

"""The dashboard beside a run that is really going on: asking, and saying only what the journal says."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from textual.pilot import Pilot

from poolboard.engine.monitor import Monitor
from poolboard.engine.views import Counts, Summary
from poolboard.tui.app import PoolboardApp
from poolboard.tui.board_screen import BoardScreen
from poolboard.tui.clock import Clock
from poolboard.tui.pace import Pace
from poolboard.tui.table import Table

from .conftest import WORKFLOW, says, seen, until

PICKY = """
from pathlib import Path

from poolboard import Context, stage, workflow


@stage
def look(number: int, fixed: str) -> int:
    if number >= 4 and not Path(fixed).exists():
        raise ValueError(f"number {number} is not fixed yet")
    return number


@workflow
async def one(ctx: Context, number: int, fixed: str) -> int:
    return await ctx.stage(look, number, fixed)


@workflow
async def every(ctx: Context, fixed: str) -> int:
    items = [{"number": number, "fixed": fixed} for number in range(6)]
    return sum(result.ok for result in await ctx.map(one, items, on_error="collect"))
"""


@dataclass(frozen=True)
class Going:
    """A run of three children, each waiting in its first stage for a gate."""

    journal: Path
    run_id: str
    gate: Path

    def open_gates(self) -> None:
        self.gate.touch()
        Path(f"{self.gate}.2").touch()

    async def status(self) -> Summary:
        monitor = await Monitor.open(str(self.journal))
        try:
            return await monitor.status(self.run_id)
        finally:
            await monitor.close()


@pytest.fixture
def going(poolboard: Callable[..., object], tmp_path: Path) -> Going:
    (tmp_path / "weights.py").write_text(WORKFLOW)
    journal, gate = tmp_path / "journal.sqlite", tmp_path / "gate"
    return Going(journal, launch(poolboard, tmp_path, gate), gate)


def launch(poolboard: Callable[..., object], folder: Path, gate: Path) -> str:
    """Start another such run; returns its id."""
    answer = poolboard(
        "run",
        "weights.py:gated",
        *("--input", f"gate={gate}", "--workers", "1", "--detach", "--json"),
        *("--journal", str(folder / "journal.sqlite")),
        cwd=folder,
    )
    assert getattr(answer, "code", None) == 0, answer
    return str(json.loads(getattr(answer, "out", ""))["run_id"])


_WORDS = ("paused", "running", "stopped")


async def opened(pilot: Pilot[int]) -> BoardScreen:
    await until(pilot, says(pilot, "● running"), "the run")
    await until(pilot, says(pilot, "3 in all"), "its children")
    board = pilot.app.screen
    assert isinstance(board, BoardScreen)
    return board


async def test_pausing_parks_the_children_and_the_clock_and_resuming_goes_on(going: Going) -> None:
    steady_s = 0.0
    clock, pace = Clock(steady_s=lambda: steady_s), Pace(lists_s=0.0)
    app = PoolboardApp(str(going.journal), going.run_id, clock=clock, pace=pace)
    async with app.run_test(size=(100, 30)) as pilot:
        board = await opened(pilot)
        await pilot.press("p")
        await until(pilot, says(pilot, "‖ pausing 0/3"), "the run to be pausing")
        going.gate.touch()
        await until(pilot, says(pilot, "‖ paused 0/3"), "the run to be paused")
        assert (await going.status()).run.status == "paused"
        await until(pilot, says(pilot, "0 of 4 slots busy"), "parked children not to be called busy")
        assert says(pilot, "3 parked")() or says(pilot, "parked")()
        first = seen(app)[0]
        steady_s += 5.0
        board._show_lines()
        await pilot.pause()
        assert seen(app)[0] == first
        assert "p resume" in seen(app)[-1]
        await pilot.press("p")
        await until(pilot, says(pilot, "● running"), "the run to go on")
        going.open_gates()
        await until(pilot, says(pilot, "✓ completed"), "the end")
        assert "3 of 3" in seen(app)[1]
    assert (await going.status()).run.result == "6"


async def test_stopping_asks_names_the_run_and_no_means_no(going: Going) -> None:
    app = PoolboardApp(str(going.journal), going.run_id)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await opened(pilot)
        control = (await going.status()).run.control
        for no in ("enter", "n", "escape"):
            await pilot.press("x")
            await until(pilot, says(pilot, f"gated  {going.run_id}"), "the question")
            await pilot.press(no)
            await until(pilot, lambda: isinstance(app.screen, BoardScreen), "the board")
        assert (await going.status()).run.control == control
        await pilot.press("x", "y")
        going.open_gates()
        await until(pilot, says(pilot, "stopped · resumable"), "the run to stop")
        assert (await going.status()).run.status == "stopped"
        await until(pilot, says(pilot, "p resumes it"), "the way back")


async def test_the_part_that_the_question_named_is_stopped_whatever_moved_meanwhile(going: Going) -> None:
    """B46: the order of the list changes under the open question; h lets the child go on."""
    app = PoolboardApp(str(going.journal), going.run_id, pace=Pace(lists_s=0.0))
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        board = await opened(pilot)
        table = board.query_one("#children", Table)
        table.rows.move_to(1)
        n = table.rows.cursor
        await pilot.press("S")
        await until(pilot, says(pilot, "Stop 1 child, with all below?"), "the question")
        assert says(pilot, f"#{n}")()
        table.choose_order("n", reverse=True)
        table.rows.settle(None)
        table.rows.move_to(2 if table.rows.key_at(2) != n else 0)
        assert table.rows.cursor != n
        await pilot.press("y")
        await until(pilot, says(pilot, "■"), "the mark of what is stopped")
        holds = (await going.status()).holds
        assert [(hold.scope, hold.name, hold.cut) for hold in holds] == [("child", str(n), True)]
        await until(pilot, lambda: sum(" stopped " in line for line in seen(app)) == 1, "one child that is stopped")
        table.rows.move_to(table.rows.index_of(n) or 0)
        await pilot.press("h")
        going.open_gates()
        await until(pilot, says(pilot, "✓ completed"), "the end")
    assert (await going.status()).run.result == "6"


async def test_a_killed_coordinator_is_replaced_while_somebody_watches(going: Going) -> None:
    """And B40: in every frame on the way each child counts once, in one state, and has one row."""
    counted: list[Counts] = []

    def counting(board: BoardScreen, text: str) -> Callable[[], bool]:
        def holds() -> bool:
            summary, table = board.summary, board.query_one("#children", Table)
            assert summary is not None
            counted.append(summary.run.children)
            assert sorted(table.rows.keys(0, 99)) == [1, 2, 3]
            return any(text in line for line in seen(board.app))

        return holds

    app = PoolboardApp(str(going.journal), going.run_id)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        board = await opened(pilot)
        pid = (await going.status()).coordinator.pid
        assert pid is not None
        psutil.Process(pid).kill()
        await until(pilot, counting(board, "the coordinator was gone"), "the notice")
        await until(pilot, counting(board, "epoch 2"), "the new coordinator")
        going.open_gates()
        await until(pilot, counting(board, "✓ completed"), "the end")
        assert "3 of 3" in seen(app)[1]
    summary = await going.status()
    assert (summary.run.result, summary.coordinator.epoch) == ("6", 2)
    for counts in counted:
        states = (counts.ready, counts.leased, counts.waiting, counts.completed, counts.failed, counts.cancelled)
        assert sum(states) == counts.total == 3 and min(states) >= 0 and counts.leased <= 4, counts
    assert counted[-1] == summary.run.children


async def test_a_screen_that_may_only_look_shows_a_crash_and_starts_nothing(going: Going) -> None:
    app = PoolboardApp(str(going.journal), going.run_id, read_only=True)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await opened(pilot)
        pid = (await going.status()).coordinator.pid
        assert pid is not None
        psutil.Process(pid).kill()
        await until(pilot, says(pilot, "the coordinator is gone"), "the banner")
        assert "! crashed" in seen(app)[0]
        await pilot.press("p")
        await until(pilot, says(pilot, "resume: read-only"), "the reason")
    summary = await going.status()
    assert (summary.run.status, summary.coordinator.epoch) == ("crashed", 1)


async def test_a_run_gets_another_worker_and_gives_it_back(going: Going) -> None:
    app = PoolboardApp(str(going.journal), going.run_id)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await opened(pilot)
        await pilot.press("-")
        await until(pilot, says(pilot, "one worker is the least"), "the reason")
        await pilot.press("+")
        await until(pilot, says(pilot, "2 workers"), "the second worker")
        await pilot.press("-")
        await until(pilot, says(pilot, "1 worker "), "the first worker alone")


async def test_cancelling_names_the_danger_and_ends_the_run_for_good(going: Going) -> None:
    app = PoolboardApp(str(going.journal), going.run_id)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await opened(pilot)
        await until(pilot, says(pilot, "0 of 3"), "the children, which the question counts")
        await pilot.press("X")
        await until(pilot, says(pilot, "Danger  final"), "the danger")
        assert any(f"gated  {going.run_id}" in line for line in seen(app))
        assert any("3 children will not end" in line for line in seen(app))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, BoardScreen), "the board")
        assert (await going.status()).run.status in ("running", "waiting")
        await pilot.press("X", "y")
        going.open_gates()
        await until(pilot, says(pilot, "⊘ cancelled"), "the end")
        await pilot.press("r")
        await until(pilot, says(pilot, "retry failed: the run is cancelled"), "the reason")
    assert (await going.status()).run.status == "cancelled"


async def test_retry_asks_with_the_exact_count_and_tries_again_just_those(
    poolboard: Callable[..., object], tmp_path: Path
) -> None:
    (tmp_path / "picky.py").write_text(PICKY)
    journal, fixed = tmp_path / "journal.sqlite", tmp_path / "fixed"
    where = ("--workers", "1", "--headless", "--json", "--journal", str(journal))
    done = poolboard("run", "picky.py:every", "--input", f"fixed={fixed}", *where, cwd=tmp_path)
    run_id = json.loads(getattr(done, "out", "").splitlines()[-1])["run_id"]
    app = PoolboardApp(str(journal), run_id)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await until(pilot, says(pilot, "2 failed"), "the run")
        await pilot.press("r")
        await until(pilot, says(pilot, "2 failed children: exactly these are tried again"), "the question")
        assert any("4 completed children stay as they are" in line for line in seen(app))
        fixed.touch()
        await pilot.press("y")
        await until(pilot, says(pilot, "2 failed children tried again"), "the answer")
        await until(pilot, says(pilot, "✓ completed"), "the end")
        await until(pilot, lambda: "6 of 6" in seen(app)[1] and "failed" not in seen(app)[1], "all done")
    monitor = await Monitor.open(str(journal))
    page = await monitor.children(run_id)
    await monitor.close()
    assert sorted((row.n, row.state) for row in page.rows) == [(n, "completed") for n in range(1, 7)]


async def test_leaving_asks_and_a_detached_run_goes_on(going: Going) -> None:
    app = PoolboardApp(str(going.journal), going.run_id)
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(pilot)
        await pilot.press("q")
        await until(pilot, says(pilot, "detach: it goes on without this screen"), "the question")
        await pilot.press("escape")
        assert app.is_running
        await pilot.press("q", "d")
        await pilot.pause()
    assert app.return_code == 0
    summary = await going.status()
    assert summary.run.status in ("running", "waiting") and summary.coordinator.alive


@pytest.mark.slow
async def test_of_three_runs_one_runs_one_is_paused_one_is_stopped_in_the_list_and_in_status(
    going: Going, poolboard: Callable[..., object], tmp_path: Path
) -> None:
    """B37: counts and rows tell the control, not "not finished"; the clock of a paused run stands still."""
    monitor = await Monitor.open(str(going.journal))
    steady_s = 0.0
    app = PoolboardApp(str(going.journal), clock=Clock(steady_s=lambda: steady_s), pace=Pace(lists_s=0.0))
    try:
        for _ in range(2):
            launch(poolboard, tmp_path, going.gate)
        paused, stopped = (run.run_id for run in await monitor.runs() if run.run_id != going.run_id)
        await monitor.pause(paused)
        await monitor.stop(stopped, now=True)
        going.gate.touch()  # a pause lets the first stage end
        async with app.run_test(size=(110, 20)) as pilot:
            await until(pilot, says(pilot, "1 running  1 paused  1 stopped"), "the count of each")
            rows = [line for line in seen(app) if "gated" in line]
            assert sorted(word for line in rows for word in line.split() if word in _WORDS) == sorted(_WORDS)
            (before,) = (line for line in rows if "paused" in line)
            assert before.lstrip("▌ ").startswith("‖")
            steady_s += 5.0
            app.screen.refresh()
            await pilot.pause()
            assert [line for line in seen(app) if "gated" in line and "paused" in line] == [before]
        told = {run.run_id: run.status for run in await monitor.runs()}
        assert told == {going.run_id: "running", paused: "paused", stopped: "stopped"}
    finally:
        await monitor.close()


async def test_a_screen_that_may_only_look_refuses_and_says_so(going: Going) -> None:
    app = PoolboardApp(str(going.journal), going.run_id, read_only=True)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await opened(pilot)
        control = (await going.status()).run.control
        await pilot.press("p", "x")
        await until(pilot, says(pilot, "stop: read-only"), "the reason")
    assert (await going.status()).run.control == control

"""Ways out of the dashboard, and verbs on several runs at once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from poolboard.engine.monitor import Monitor
from poolboard.tui.app import PoolboardApp
from poolboard.tui.board_screen import BoardScreen
from poolboard.tui.quit_screen import QuitScreen

from .conftest import NAMES, WORKFLOW, Recorded, says, until


async def test_ctrl_c_asks_our_own_question_on_every_screen_and_esc_stays(recorded: Recorded) -> None:
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, says(pilot, f"{len(NAMES)} in all"), "all children")
        await pilot.press("ctrl+c")
        await until(pilot, says(pilot, "Leave the dashboard?"), "the question")
        await pilot.press("escape")
        assert isinstance(app.screen, BoardScreen)
        await pilot.press("enter")
        await until(pilot, says(pilot, "result or error"), "a child")
        await pilot.press("ctrl+c")
        await until(pilot, says(pilot, "Leave the dashboard?"), "the question there too")
        await pilot.press("ctrl+c")
        await pilot.pause()
    assert app.return_code == 0


async def test_ctrl_c_in_a_dialog_closes_the_dialog(recorded: Recorded) -> None:
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, says(pilot, f"{len(NAMES)} in all"), "all children")
        await pilot.press("question_mark", "ctrl+c")
        await pilot.pause()
        assert isinstance(app.screen, BoardScreen) and not isinstance(app.screen, QuitScreen)


@pytest.mark.slow
async def test_marked_runs_are_stopped_together_after_one_question_that_counts_them(
    poolboard: Callable[..., object], tmp_path: Path
) -> None:
    (tmp_path / "weights.py").write_text(WORKFLOW)
    journal, gate = tmp_path / "journal.sqlite", tmp_path / "gate"
    ids = []
    for _ in range(2):
        answer = poolboard(
            "run",
            "weights.py:gated",
            *("--input", f"gate={gate}", "--workers", "1", "--detach", "--json", "--journal", str(journal)),
            cwd=tmp_path,
        )
        ids.append(json.loads(getattr(answer, "out", ""))["run_id"])
    app = PoolboardApp(str(journal))
    async with app.run_test(size=(140, 30), notifications=True) as pilot:
        await until(pilot, says(pilot, "2 running"), "both runs")
        await pilot.press("asterisk")
        await until(pilot, says(pilot, "2 marked"), "the marks")
        await pilot.press("x")
        await until(pilot, says(pilot, "Stop these 2 runs?"), "the question")
        await pilot.press("y")
        gate.touch()
        Path(f"{gate}.2").touch()
        await until(pilot, lambda: not says(pilot, "2 running")(), "the stop to begin")
        await until(pilot, says(pilot, "2 of 2 runs answered"), "both answers")
    monitor = await Monitor.open(str(journal))
    try:
        controls = {run.run_id: run.control.state for run in await monitor.runs()}
    finally:
        await monitor.close()
    assert set(controls) == set(ids) and set(controls.values()) <= {"stopping", "stopped"}

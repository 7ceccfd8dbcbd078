"""The bell: when it rings, and that a name of a run cannot drive the terminal through it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from poolboard.engine.views import ControlView, Counts, RunView, ShownStatus
from poolboard.tui.app import PoolboardApp
from poolboard.tui.bell import comes_to_rest, ringing
from poolboard.tui.messages import SummaryRead

from .conftest import Recorded, says, until

RUN = RunView(
    "r1", "x\x1b\\\x07\x1b[2J", "failed", False, "/", 0, 0, 0, 1.0, Counts(), ControlView("running", 1), None, None
)


def test_what_rings_is_one_sequence_and_a_bell_whatever_the_runs_name() -> None:
    told = ringing(RUN)
    assert told.startswith("\x1b]9;poolboard: x^[") and told.endswith(" is failed\x1b\\\x07")
    assert told.count("\x1b") == 2 and told.count("\x07") == 1


@pytest.mark.parametrize(
    ("before", "now", "rings"),
    [
        ("running", "completed", True),
        ("running", "blocked", True),
        ("pausing", "paused", True),
        ("running", "pausing", False),
        ("paused", "running", False),
        ("completed", "completed", False),
        (None, "completed", False),
    ],
)
def test_it_rings_once_when_a_run_that_moved_comes_to_rest(
    before: ShownStatus | None, now: ShownStatus, rings: bool
) -> None:
    assert comes_to_rest(before, now) is rings


@pytest.mark.parametrize("notify", [True, False])
async def test_the_board_rings_only_if_it_was_asked_to(
    recorded: Recorded, notify: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    app = PoolboardApp(str(recorded.journal), recorded.run_id, notify=notify)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, says(pilot, "completed"), "the board of the run")
        assert app._driver is not None
        monkeypatch.setattr(app._driver, "write", written.append)
        screen = app.screen
        summary = screen.summary  # type: ignore[attr-defined]
        for status in ("running", "completed", "completed"):
            screen.post_message(SummaryRead(replace(summary, run=replace(summary.run, status=status))))
        await pilot.pause()
    assert "".join(written).count("\x1b]9;poolboard: everything is completed") == notify

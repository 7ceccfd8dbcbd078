"""A run's processes are started before the run is recorded, to load beside each other and beside who starts them."""

from __future__ import annotations

import asyncio
import os

import pytest

from poolboard.engine.coordinator_process import Begun
from poolboard.engine.errors import UserMistake
from poolboard.engine.launch import RunRequest, start_run
from tests.engine.rig import PATIENCE_S, WORKFLOWS, Rig

SQUARES = WORKFLOWS / "squares.py"


async def first_worker(begun: Begun) -> str:
    """Return the id of the worker that is there before anybody has recorded the run."""
    async with asyncio.timeout(PATIENCE_S):
        while not (found := list(begun.folder.workers.glob("1.*.log"))):
            await asyncio.sleep(0.01)
    return found[0].stem


async def test_the_worker_that_loads_before_the_run_is_recorded_is_the_one_that_works_on_it(rig: Rig) -> None:
    begun = Begun.now(str(rig.journal), 1)
    worker = await first_worker(begun)
    assert not rig.journal.exists()
    rig.run_id = await start_run(
        RunRequest(f"{SQUARES}:many", {"n": 3, "trace": str(rig.trace)}, str(rig.journal), 1, 2), begun
    )
    assert rig.run_id == begun.run_id
    summary = await rig.until(lambda seen: seen.run.ended_at is not None)
    assert (summary.run.status, summary.run.children.completed) == ("completed", 3)
    await rig.gone()
    assert [path.stem for path in begun.folder.workers.iterdir()] == [worker]


async def test_of_a_run_that_turns_out_wrong_nothing_is_left(rig: Rig) -> None:
    begun = Begun.now(str(rig.journal), 2)
    await first_worker(begun)
    with pytest.raises(UserMistake, match="cuont"):
        await start_run(RunRequest(f"{SQUARES}:many", {"cuont": 3, "trace": ""}, str(rig.journal), 2, 2), begun)
    await rig.gone()
    assert not begun.folder.path.exists()
    assert not rig.journal.exists()


@pytest.mark.slow
async def test_a_worker_that_was_started_for_a_place_that_is_not_wanted_goes_away(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    begun = Begun.now(str(rig.journal), 2)
    monkeypatch.undo()
    monkeypatch.setenv("POOLBOARD_TEST_RIG", str(rig.folder))
    await first_worker(begun)
    rig.run_id = await start_run(
        RunRequest(f"{SQUARES}:many", {"n": 3, "trace": str(rig.trace)}, str(rig.journal), 1, 2), begun
    )
    summary = await rig.until(lambda seen: seen.run.ended_at is not None)
    assert (summary.run.status, len(list(begun.folder.workers.glob("2.*.log")))) == ("completed", 1)
    await rig.gone()

"""Stop of a part of a run: what runs there is cut off after the grace, and done anew once it may go on."""

from __future__ import annotations

from collections import Counter

import pytest

from poolboard.engine.views import ChildRow, Part, Summary
from tests.engine.rig import Rig, kill

CHILD = Part(children=((1, 1),))
PATIENT = Part(stage="patient")


async def row(rig: Rig, n: int) -> ChildRow:
    page = await (await rig.monitor()).children(rig.run_id)
    return next(child for child in page.rows if child.n == n)


def is_cut(summary: Summary) -> bool:
    return [(hold.cut, hold.active) for hold in summary.holds] == [(True, 0)]


def began_and_ended(rig: Rig) -> Counter[str]:
    return Counter(line for line in rig.traces() if not line.startswith("fetch"))


async def patients(rig: Rig, n: int, workers: int = 1, slots: int = 4, grace_s: float = 10.0) -> None:
    """Start a run, and return when every child waits in its second stage."""
    await rig.start("parts:patients", workers, slots, n=n, folder=str(rig.folder), grace_s=grace_s)
    await rig.until(lambda s: sum(active.stage == "patient" for active in s.active) == n)


async def test_a_stopped_child_is_cut_off_and_begins_its_stage_anew_when_it_may_go_on(rig: Rig) -> None:
    await patients(rig, 3)
    monitor = await rig.monitor()
    told = await monitor.stop(rig.run_id, "ann", "it blocks the card", now=True, part=CHILD)
    assert told.message == "child 1 stopped, with all below; what still runs there is cut off"
    await rig.until(is_cut)
    await rig.until(lambda s: s.run.children.ready == 1)
    child = await row(rig, 1)
    assert (child.state, child.starts) == ("ready", 0), "its start is given back"
    assert (await monitor.stop(rig.run_id, part=CHILD)).message == "child 1 already stopped"
    (rig.folder / "open").touch()
    await rig.until(lambda s: s.run.children.completed == 2)
    assert (await monitor.resume(rig.run_id, part=CHILD)).message == "child 1 going on"
    assert (await rig.ended()).run.result == "3"
    assert began_and_ended(rig) == {
        "began:0": 2,
        **{f"began:{i}": 1 for i in (1, 2)},
        **{f"ended:{i}": 1 for i in range(3)},
    }
    assert Counter(line.rpartition(":")[0] for line in rig.traces() if "fetch" in line).most_common(1)[0][1] == 1, (
        "what was recorded is not done again"
    )


@pytest.mark.slow
async def test_a_pause_becomes_a_stop_when_it_takes_too_long(rig: Rig) -> None:
    await patients(rig, 2)
    monitor = await rig.monitor()
    await monitor.pause(rig.run_id, part=CHILD)
    await monitor.stop(rig.run_id, now=True, part=CHILD)
    await rig.until(is_cut)
    (rig.folder / "open").touch()
    await rig.until(lambda s: s.run.children.completed == 1)
    await monitor.resume(rig.run_id, part=CHILD)
    assert (await rig.ended()).run.result == "1"


async def test_a_stopped_stage_is_cut_off_in_every_child_and_in_no_other_stage(rig: Rig) -> None:
    await rig.start("parts:patients", 1, 2, n=3, folder=str(rig.folder))
    await rig.until(lambda s: sum(active.stage == "patient" for active in s.active) == 2)
    monitor = await rig.monitor()
    told = await monitor.stop(rig.run_id, now=True, part=PATIENT)
    assert told.message == "stage patient stopped: runs park before it; what still runs there is cut off"
    await rig.until(lambda s: not s.active and s.run.children.completed == 0 and s.parked == 3)
    (rig.folder / "open").touch()
    assert not any(line.startswith("ended") for line in rig.traces())
    await monitor.resume(rig.run_id, part=PATIENT)
    assert (await rig.ended()).run.result == "3"


@pytest.mark.slow
async def test_what_runs_at_a_stopped_worker_is_taken_up_by_another_without_losing_a_start(rig: Rig) -> None:
    await patients(rig, 4, workers=2, slots=2)
    monitor = await rig.monitor()
    await monitor.stop(rig.run_id, now=True, part=Part(worker=1))
    # Two slots are left for four children: two are in the stage, nobody else can be.
    await rig.until(lambda s: len(s.workers) == 1 and s.run.children.ready == 2)
    (rig.folder / "open").touch()
    assert (await rig.ended()).run.result == "6"
    assert {(child.state, child.starts) for child in (await monitor.children(rig.run_id)).rows} == {("completed", 1)}


async def test_a_coordinator_killed_within_the_grace_leaves_the_stop_to_its_successor(rig: Rig) -> None:
    await patients(rig, 2, grace_s=1.0)
    monitor = await rig.monitor()
    told = await monitor.stop(rig.run_id, part=CHILD)
    assert told.message.endswith("what still runs there has 1 s")
    await kill((await rig.until(lambda s: True)).coordinator.pid)
    await rig.resume()
    await rig.until(lambda s: s.run.children.ready == 1)
    child = await row(rig, 1)
    assert (child.state, child.starts) == ("ready", 0)
    (rig.folder / "open").touch()
    await monitor.resume(rig.run_id, part=CHILD)
    assert (await rig.ended()).run.result == "1"


@pytest.mark.slow
async def test_a_child_that_parks_within_the_grace_is_not_cut_off(rig: Rig) -> None:
    await patients(rig, 1)
    monitor = await rig.monitor()
    await monitor.stop(rig.run_id, part=CHILD)
    (rig.folder / "open").touch()
    summary = await rig.ended()
    assert (summary.run.result, began_and_ended(rig)["began:0"]) == ("0", 1)

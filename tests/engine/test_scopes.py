"""Control of a part of a run: children, a stage, a worker, sizes; with kills in between."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable

import pytest

from poolboard.engine.errors import UserMistake
from poolboard.engine.views import HoldView, Part, Summary
from tests.engine.rig import Rig, kill


def held(summary: Summary, scope: str, name: str) -> HoldView | None:
    return next((hold for hold in summary.holds if (hold.scope, hold.name) == (scope, name)), None)


def parked_at(stage: str, count: int) -> Callable[[Summary], bool]:
    def holds(summary: Summary) -> bool:
        return not summary.active and any(
            (one.name, one.waiting, one.active) == (stage, count, 0) for one in summary.stages
        )

    return holds


def open_gate(rig: Rig) -> None:
    (rig.folder / "open").touch()


def counted(rig: Rig) -> Counter[str]:
    return Counter(line.rpartition(":")[0] for line in rig.traces())


async def test_a_paused_stage_is_not_entered_and_what_waits_for_it_holds_no_slot(rig: Rig) -> None:
    await rig.start("parts:all_of_them", workers=1, slots=2, n=6, folder=str(rig.folder))
    monitor = await rig.monitor()
    await rig.until(lambda s: sum(active.stage == "store" for active in s.active) == 2)
    told = await monitor.pause(rig.run_id, "ann", "the disk is full", part=Part(stage="store"))
    assert told.message == "stage store paused: runs park before it"
    open_gate(rig)
    summary = await rig.until(parked_at("store", 4))
    # Two had entered the stage before; all others got through the first one, two slots for four of them.
    hold = held(summary, "stage", "store")
    assert hold is not None
    assert (hold.by, hold.why, hold.parked, hold.active) == ("ann", "the disk is full", 4, 0)
    assert summary.run.status == "running", "only the stage is paused"
    assert (summary.in_flight - summary.parked, summary.active) == (0, ()), "who is parked is not busy (B37)"
    assert {stage.name: stage.paused for stage in summary.stages} == {"fetch": False, "store": True}
    assert (await monitor.pause(rig.run_id, part=Part(stage="store"))).message == "stage store is paused already"
    await monitor.resume(rig.run_id, part=Part(stage="store"))
    assert (await rig.ended()).run.result == "15"
    assert set(counted(rig).values()) == {1}


async def test_a_paused_child_stands_with_all_below_it_and_its_siblings_go_on(rig: Rig) -> None:
    await rig.start("parts:groups", workers=1, slots=1, n=2, folder=str(rig.folder))
    await rig.until(lambda s: s.run.children.total == 8 and any(active.stage == "store" for active in s.active))
    monitor = await rig.monitor()
    told = await monitor.pause(rig.run_id, "ann", part=Part(children=((1, 1),)))
    assert told.message == "child 1 paused, with all below"
    open_gate(rig)
    summary = await rig.until(lambda s: s.run.children.completed == 5)
    hold = held(summary, "child", "1")
    assert hold is not None and hold.by == "ann"
    rows = (await monitor.children(rig.run_id)).rows
    assert [(row.parent, row.starts) for row in rows if row.state == "ready"] == [(1, 0), (1, 0)]
    with pytest.raises(UserMistake, match="held through a child above"):
        left = next(row.n for row in rows if row.state == "ready")
        await monitor.resume(rig.run_id, part=Part(children=((left, left),)))
    await monitor.resume(rig.run_id, part=Part(children=((1, 1),)))
    assert (await rig.ended()).run.result == "6"


async def test_a_child_that_was_held_before_it_started_is_never_claimed(rig: Rig) -> None:
    await rig.start("parts:all_of_them", workers=1, slots=1, n=4, folder=str(rig.folder))
    await rig.until(lambda s: any(active.stage == "store" for active in s.active))
    monitor = await rig.monitor()
    await monitor.pause(rig.run_id, part=Part(children=((2, 3),)))
    open_gate(rig)
    await rig.until(lambda s: s.run.children.completed == 2)
    assert [(row.n, row.starts) for row in (await monitor.children(rig.run_id)).rows if row.state == "ready"] == [
        (2, 0),
        (3, 0),
    ]
    with pytest.raises(UserMistake, match="child 1: ended already, or not there"):
        await monitor.pause(rig.run_id, part=Part(children=((1, 1),)))
    await monitor.resume(rig.run_id, part=Part(children=((2, 3),)))
    assert (await rig.ended()).run.result == "6"


async def test_every_hold_outlives_a_kill_of_all_processes(rig: Rig) -> None:
    """B35: the wish is a fact in the journal; the successor reads it."""
    await rig.start("parts:all_of_them", workers=2, slots=1, n=6, folder=str(rig.folder))
    monitor = await rig.monitor()
    await rig.until(lambda s: len(s.workers) == 2 and s.run.children.total == 6)
    await monitor.pause(rig.run_id, "ann", "a", part=Part(stage="store"))
    await monitor.pause(rig.run_id, "bob", "b", part=Part(children=((6, 6),)))
    await monitor.pause(rig.run_id, "cy", "c", part=Part(worker=2))
    await monitor.set_concurrency(rig.run_id, 3, "dan")
    await monitor.set_slots(rig.run_id, 2, "dan")
    summary = await rig.until(lambda s: s.coordinator.alive)
    await kill(summary.coordinator.pid, *(worker.pid for worker in summary.workers))
    await rig.resume()
    after = await rig.until(lambda s: s.coordinator.epoch == 2 and len(s.workers) == 1 and s.workers[0].slots == 2)
    assert {(h.scope, h.name, h.by, h.why) for h in after.holds} == {
        ("stage", "store", "ann", "a"),
        ("child", "6", "bob", "b"),
        ("worker", "2", "cy", "c"),
    }
    assert after.concurrency == 3
    open_gate(rig)
    for part in (Part(stage="store"), Part(children=((6, 6),)), Part(worker=2)):
        await monitor.resume(rig.run_id, part=part)
    assert (await rig.ended()).run.result == "15"


@pytest.mark.slow
async def test_a_drained_worker_takes_nothing_goes_home_and_comes_back_when_it_is_resumed(rig: Rig) -> None:
    await rig.start("parts:all_of_them", workers=2, slots=2, n=8, folder=str(rig.folder))
    before = await rig.until(lambda s: sum(active.stage == "store" for active in s.active) == 4)
    monitor = await rig.monitor()
    told = await monitor.pause(rig.run_id, part=Part(worker=1))
    assert told.message == "worker 1 takes nothing new; its runs move on at their next stage boundary"
    with pytest.raises(UserMistake, match="there is no worker 9: the run has 1 to 2"):
        await monitor.pause(rig.run_id, part=Part(worker=9))
    await monitor.pause(rig.run_id, part=Part(stage="store"))
    open_gate(rig)
    await rig.until(lambda s: [worker.id[:2] for worker in s.workers] == ["2."])
    gone = next(worker.pid for worker in before.workers if worker.id.startswith("1."))
    await monitor.resume(rig.run_id, part=Part(worker=1))
    await rig.until(lambda s: len(s.workers) == 2)
    await monitor.resume(rig.run_id, part=Part(stage="store"))
    summary = await rig.ended()
    assert summary.run.result == "28"
    assert set(counted(rig).values()) == {1}, "moving costs no start and does nothing twice"
    assert gone not in rig.pids()


@pytest.mark.slow
async def test_a_cancelled_child_ends_with_all_below_it_and_its_parent_is_told(rig: Rig) -> None:
    await rig.start("parts:groups", workers=2, slots=8, n=2, folder=str(rig.folder))
    await rig.until(lambda s: sum(active.stage == "store" for active in s.active) == 6)
    monitor = await rig.monitor()
    told = await monitor.cancel(rig.run_id, "ann", "wrong input", part=Part(children=((1, 1),)))
    assert told.message == "4 children cancelled, with what was below"
    with pytest.raises(UserMistake, match="ended already"):
        await monitor.cancel(rig.run_id, part=Part(children=((1, 1),)))
    open_gate(rig)
    summary = await rig.ended()
    assert (summary.run.status, summary.run.result) == ("completed", "3")
    assert (summary.run.children.cancelled, summary.run.children.completed) == (4, 4)
    reader = await rig.rows()
    [event] = await reader.events(1, 0, 100, types=["WorkCancelled"])
    assert json.loads(event.event.payload) == {"count": 4, "by": "ann", "why": "wrong input"}
    await reader.close()


@pytest.mark.slow
async def test_exactly_the_chosen_failures_are_tried_again_while_the_run_goes_on(rig: Rig) -> None:
    (rig.folder / "broken").touch()
    await rig.start("parts:some_fail", workers=2, slots=2, n=8, folder=str(rig.folder))
    await rig.until(lambda s: s.run.children.failed == 4)
    (rig.folder / "broken").unlink()
    monitor = await rig.monitor()
    told = await monitor.retry(rig.run_id, "ann", "mended", only=[2, 6, 7])
    assert told.message == "2 failed children tried again"
    await rig.until(lambda s: s.run.children.failed == 2 and s.run.children.completed == 5)
    open_gate(rig)
    summary = await rig.ended()
    assert summary.run.result == str(0 + 1 + 2 + 4 + 5 + 6), "2 and 6 were tried again: 1 and 5; 3 and 7 stay failed"
    assert counted(rig)["fragile"] == 7 + 2


@pytest.mark.slow
async def test_failures_of_before_a_new_coordinator_are_tried_again_too_while_their_parent_waits(rig: Rig) -> None:
    (rig.folder / "broken").touch()
    await rig.start("parts:some_fail", workers=2, slots=2, n=4, folder=str(rig.folder))
    summary = await rig.until(lambda s: s.run.children.failed == 2 and s.run.children.completed == 1)
    await kill(summary.coordinator.pid)
    (rig.folder / "broken").unlink()
    await rig.resume()
    monitor = await rig.monitor()
    await rig.until(lambda s: any(active.stage == "store" for active in s.active))
    assert (await monitor.retry(rig.run_id)).message == "2 failed children tried again"
    await rig.until(lambda s: s.run.children.completed == 3)
    open_gate(rig)
    assert (await rig.ended()).run.result == "6"


@pytest.mark.slow
async def test_the_chosen_failures_of_an_ended_run_are_tried_again_and_no_others(rig: Rig) -> None:
    (rig.folder / "broken").touch()
    open_gate(rig)
    await rig.start("parts:some_fail", workers=2, slots=2, n=8, folder=str(rig.folder))
    assert (await rig.ended()).run.children.failed == 4
    (rig.folder / "broken").unlink()
    monitor = await rig.monitor()
    with pytest.raises(UserMistake, match="none of these has failed"):
        await monitor.retry(rig.run_id, only=[1, 3])
    assert (await monitor.retry(rig.run_id, only=[4, 8])).message == "2 failed children tried again"
    summary = await rig.ended()
    assert (summary.run.children.failed, summary.run.result) == (2, str(2 + 4 + 6 + 3 + 7))


@pytest.mark.slow
async def test_concurrency_and_slots_change_what_runs_at_once(rig: Rig) -> None:
    await rig.start("parts:all_of_them", workers=1, slots=2, n=12, folder=str(rig.folder))
    monitor = await rig.monitor()
    await rig.until(lambda s: len(s.active) == 2)
    assert (await monitor.set_slots(rig.run_id, 5)).message == "5 slots in each worker"
    await rig.until(lambda s: len(s.active) == 5 and s.workers[0].slots == 5)
    assert (await monitor.set_concurrency(rig.run_id, 7)).message == "7 runs at once"
    await monitor.set_slots(rig.run_id, 9)
    await rig.until(lambda s: len(s.active) == 7)
    assert (await monitor.set_concurrency(rig.run_id, 0)).message == "as many runs at once as there are slots"
    await rig.until(lambda s: len(s.active) == 9)
    for size, count in (("slots", 0), ("slots", 4097), ("workers", 0)):
        with pytest.raises(UserMistake, match=f"{size} must be 1 to"):
            await (monitor.set_slots if size == "slots" else monitor.set_workers)(rig.run_id, count)
    open_gate(rig)
    assert (await rig.ended()).run.result == "66"

"""Whole runs with real processes, undisturbed."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from poolboard.engine.errors import UserMistake
from tests.engine.rig import Rig


async def test_a_fan_out_returns_the_sum_and_every_stage_has_one_checkpoint(rig: Rig) -> None:
    await rig.start("squares:many", n=50, trace=str(rig.trace), steps=3)
    summary = await rig.ended()
    assert (summary.run.status, summary.run.result) == ("completed", "40425")
    assert (summary.run.children.total, summary.run.children.completed) == (50, 50)
    assert Counter(rig.traces()) == Counter(f"{i}:{k}" for i in range(50) for k in range(3))
    assert [(stage.name, stage.done, stage.failed) for stage in summary.stages] == [("square", 150, 0)]
    reader = await rig.rows()
    for n in (1, 25, 50):
        assert [entry.event.type for entry in await reader.checkpoints(1, n)] == ["CheckpointRecorded"] * 3
    await reader.close()


@pytest.mark.parametrize(("branches", "leaves", "workers", "slots"), [(8, 5, 2, 2), (8, 5, 1, 1), (2, 2, 1, 2)])
async def test_nested_fan_out_ends_at_any_pool_size(
    rig: Rig, branches: int, leaves: int, workers: int, slots: int
) -> None:
    """B11: a parent that waits for children holds no slot."""
    await rig.start("squares:tree", workers, slots, branches=branches, leaves=leaves)
    summary = await rig.ended()
    assert summary.run.result == str(branches * leaves)
    assert summary.run.children.total == branches + branches * leaves


async def test_every_way_to_end_badly_is_a_failure_with_its_reason_and_harms_nobody_else(rig: Rig) -> None:
    """B25, and the path of a value that JSON cannot hold."""
    ways = ["exit 0", "exit 3", "interrupt", "generator", "stop iteration", "mute", "score", "in the workflow"]
    ways += ["async exit 0", "async interrupt", "async generator", "os._exit"] + [f"fine {i}" for i in range(15)]
    await rig.start("faults:all_ways", ways=ways)
    summary = await rig.ended()
    assert summary.run.status == "completed"
    assert summary.run.result is not None
    told = {how: (value, error) for how, value, error in json.loads(summary.run.result)}
    assert all(told[how] == (how, "") for how in ways if how.startswith("fine"))
    reasons = {how: error for how, (value, error) in told.items() if not how.startswith("fine")}
    for how, part in {
        "exit 0": "SystemExit(0)",
        "exit 3": "SystemExit(3)",
        "interrupt": "KeyboardInterrupt",
        "generator": "GeneratorExit",
        "stop iteration": "StopIteration: over",
        "mute": "its text cannot be had",
        "score": "$.score is nan",
        "in the workflow": "SystemExit(4)",
        "async exit 0": "SystemExit(0)",
        "async interrupt": "KeyboardInterrupt",
        "async generator": "GeneratorExit",
        "os._exit": "worker_lost (exit code 0)",
    }.items():
        assert part in reasons[how], f"{how}: {reasons[how]}"
    assert summary.run.children.failed == 12


async def test_a_child_that_kills_its_worker_is_started_three_times_and_its_siblings_complete(rig: Rig) -> None:
    """B10."""
    await rig.start("faults:all_ways", workers=1, slots=1, ways=["a", "b", "kill", "c", "d"])
    summary = await rig.ended()
    assert (summary.run.children.completed, summary.run.children.failed) == (4, 1)
    monitor = await rig.monitor()
    child = await monitor.child(rig.run_id, 3)
    assert (child.row.starts, child.row.error) == (3, "worker_lost (signal 9)")


@pytest.mark.parametrize(("workers", "slots"), [(1, 4), (2, 4)])
@pytest.mark.slow
async def test_a_child_that_kills_its_worker_takes_nobody_along(rig: Rig, workers: int, slots: int) -> None:
    await rig.start("faults:all_ways", workers, slots, ways=[f"nap {i}" for i in range(6)] + ["kill"] + ["nap 9"] * 6)
    summary = await rig.ended()
    assert summary.run.status == "completed"
    assert (summary.run.children.completed, summary.run.children.failed) == (12, 1)


@pytest.mark.slow
async def test_a_workflow_can_catch_the_failure_of_a_stage(rig: Rig) -> None:
    await rig.start("faults:caught")
    assert (await rig.ended()).run.result == '"caught SystemExit(3)"'


@pytest.mark.slow
async def test_a_map_that_raises_names_the_first_failed_item(rig: Rig) -> None:
    await rig.start("faults:raising_map")
    summary = await rig.ended()
    assert summary.run.status == "failed"
    assert summary.run.error is not None and "ChildError: one #2: stage end: SystemExit(3)" in summary.run.error


async def test_workflows_nest_three_deep_and_no_deeper(rig: Rig) -> None:
    await rig.start("squares:too_deep")
    summary = await rig.ended()
    assert summary.run.status == "failed"
    assert "workflows nest 3 deep at most" in (summary.run.error or "")


async def test_a_wrong_input_is_refused_before_anything_is_made(rig: Rig) -> None:
    with pytest.raises(UserMistake, match="many has no parameter 'm'"):
        await rig.start("squares:many", n=3, m=4, trace="x")
    with pytest.raises(UserMistake, match=r"many\(n\).*'three'"):
        await rig.start("squares:many", n="three", trace="x")
    assert not rig.journal.exists()
    assert rig.pids() == []


async def test_calls_that_start_together_all_wait_for_what_was_recorded_before(rig: Rig) -> None:
    await rig.start("squares:many_forked", n=10, trace=str(rig.trace))
    summary = await rig.ended()
    assert (summary.run.status, summary.run.error) == ("completed", None)
    assert summary.run.result == str(sum(13 * i * i for i in range(10)))
    assert sorted(Counter(rig.traces()).values()) == [1] * 130
    assert [(usage.name, usage.used) for usage in summary.usage] == [("rounds", 30)]

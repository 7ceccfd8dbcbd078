"""SIGKILL for every process of a run, at random moments and at each named fault point."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections import Counter
from contextlib import suppress

import pytest

from poolboard.engine.coordinator_process import CoordinatorProcess
from poolboard.engine.folder import RunFolder
from poolboard.engine.intent import Errand
from poolboard.engine.views import Summary
from tests.engine.rig import Rig, kill, try_resume

POINTS = [
    pytest.param("coordinator:journal.begun:9", marks=pytest.mark.slow),
    "coordinator:journal.committed:9",
    pytest.param("coordinator:coordinator.claimed:7", marks=pytest.mark.slow),
    "coordinator:coordinator.committed:7",
    "coordinator:coordinator.enqueued:1",
    pytest.param("coordinator:coordinator.ended:7", marks=pytest.mark.slow),
    "worker:worker.computed:5",
    pytest.param("worker:worker.recorded:5", marks=pytest.mark.slow),
    pytest.param("worker:worker.returned:5", marks=pytest.mark.slow),
]


async def settled_rightly(rig: Rig, children: int, steps: int, total: int) -> Summary:
    """Assert what must be true after any kill: the sum, one checkpoint for each stage, no process left."""
    summary = await rig.ended()
    assert (summary.run.status, summary.run.result) == ("completed", str(total))
    assert summary.run.children.completed == children == summary.run.children.total
    assert set(rig.traces()) == {f"{i}:{k}" for i in range(children) for k in range(steps)}
    reader = await rig.rows()
    for n in range(1, children + 1):
        assert len(await reader.checkpoints(1, n)) == steps
    await reader.close()
    assert rig.pids() == []
    return summary


@pytest.mark.parametrize("victim", ["worker", "coordinator", "all"])
async def test_after_a_kill_nothing_recorded_is_lost_or_done_twice(rig: Rig, victim: str) -> None:
    """C2, C3, R11, by who is killed: the recorded is never done again, the half done is done whole."""
    await rig.start("squares:many", n=40, trace=str(rig.trace), steps=2, delay_s=0.05)
    summary = await rig.completed(random.randint(3, 25))
    workers = [worker.pid for worker in summary.workers]
    in_flight = sum(worker.active for worker in summary.workers)
    before = len(rig.traces())
    if victim == "worker":
        await kill(workers[0])
    elif victim == "coordinator":
        await kill(summary.coordinator.pid)
        await try_resume(rig)
    else:
        await kill(summary.coordinator.pid, *workers)
        await try_resume(rig)
    await settled_rightly(rig, 40, 2, 20540)
    repeated = {line: count for line, count in Counter(rig.traces()).items() if count > 1}
    assert all(count == 2 for count in repeated.values())
    if victim == "coordinator":
        assert not repeated, "the workers lived on: nothing may be computed again"
    else:
        assert len(repeated) <= in_flight + 4, (before, repeated)


async def test_half_the_output_of_a_killed_stage_is_nobodys_result(rig: Rig) -> None:
    """B26: killed at part 2 of 3, it is run again from its start, and the next stage is given what that made."""
    stop, half = rig.folder / "stop", rig.folder / "half"
    stop.touch()
    await rig.start("chain:two_steps", workers=1, slots=1, folder=str(rig.folder))
    shown = await rig.until(lambda s: half.exists() and bool(s.workers))
    await kill(shown.coordinator.pid, *(worker.pid for worker in shown.workers))
    assert (rig.folder / "growing.txt").read_text() == "part 1/3\npart 2/3\n"
    assert not (rig.folder / "whole.txt").exists()
    stop.unlink()
    await try_resume(rig)
    summary = await rig.ended()
    assert (summary.run.status, summary.run.result) == ("completed", "3")
    assert rig.traces() == ["count:3:3"], "nobody was given one part or two"
    monitor = await rig.monitor()
    files = [file for file in (await monitor.child(rig.run_id, 0)).logs if file.stage == "write"]
    assert [file.attempt for file in files] == [1, 2]
    assert [await monitor.read_log(file.path) for file in files] == [
        b"part 1/3\npart 2/3\n",
        b"part 1/3\npart 2/3\npart 3/3\n",
    ]


async def test_a_dead_coordinators_workers_are_adopted_with_the_stages_they_run(rig: Rig) -> None:
    """B16."""
    await rig.start("squares:many", n=8, trace=str(rig.trace), delay_s=1.5, slots=4)
    summary = await rig.until(lambda s: sum(w.active for w in s.workers) == 8)
    workers = {worker.pid for worker in summary.workers}
    await kill(summary.coordinator.pid)
    await try_resume(rig)
    again = await rig.until(lambda s: len(s.workers) == 2 and s.coordinator.epoch == 2)
    assert {worker.pid for worker in again.workers} == workers
    await settled_rightly(rig, 8, 1, 140)
    assert len(rig.traces()) == 8


async def test_a_root_that_waits_is_adopted_and_told_of_children_that_settled_meanwhile(rig: Rig) -> None:
    """B31: three waves, the coordinator killed in each of the first two."""
    await rig.start("squares:waves", workers=1, slots=4, trace=str(rig.trace), delay_s=0.15)
    for count in (4, 14):
        summary = await rig.completed(count)
        await kill(summary.coordinator.pid)
        await try_resume(rig)
    summary = await rig.ended()
    assert summary.run.result == "8555"
    assert Counter(rig.traces()) == Counter(f"{i}:0" for i in range(30))


@pytest.mark.slow
async def test_without_a_successor_the_workers_end(rig: Rig) -> None:
    """C2, B29: nothing keeps running, and the run is found, told as crashed and resumable."""
    await rig.start("squares:many", n=400, trace=str(rig.trace), delay_s=0.1)
    summary = await rig.completed(2)
    await kill(summary.coordinator.pid)
    await rig.gone()
    shown = await rig.until(lambda s: True)
    assert (shown.run.status, shown.run.resumable) == ("crashed", True)


@pytest.mark.parametrize(("items", "killed_at"), [(60, 30), pytest.param(500, 427, marks=pytest.mark.slow)])
async def test_b29_everything_killed_late_in_a_run_is_found_again_and_only_the_rest_is_run(
    rig: Rig, items: int, killed_at: int
) -> None:
    """B29: after the kill the run is there under its id, with all that was done; none of that is done again."""
    await rig.start("squares:many", n=items, trace=str(rig.trace), delay_s=0.1)
    await rig.completed(killed_at)
    await kill(*rig.pids())
    shown = await rig.until(lambda s: True)
    done = shown.run.children.completed
    assert (shown.run.status, shown.run.resumable, killed_at <= done < items) == ("crashed", True, True)
    assert await (await rig.monitor()).resolve(rig.run_id[:8]) == rig.run_id
    page = await (await rig.monitor()).children(rig.run_id)
    recorded = [f"{row.n - 1}:0" for row in page.rows if row.state == "completed"]
    assert len(recorded) == done
    await try_resume(rig)
    summary = await rig.ended()
    assert (summary.run.status, summary.run.children.completed) == ("completed", items)
    assert summary.run.result == str(sum(i * i for i in range(items)))
    effects = Counter(rig.traces())
    assert set(effects) == {f"{i}:0" for i in range(items)}
    assert {effects[one] for one in recorded} == {1}
    # What had begun when the light went out, and had no outcome yet, is done anew.
    assert max(effects.values()) <= 2


async def test_a_frozen_worker_is_replaced_and_nothing_of_it_is_done_twice(rig: Rig) -> None:
    """B20: SIGSTOP for longer than a lease; SIGCONT comes too late."""
    await rig.start("squares:many", n=10, slots=1, lease_s=2.0, trace=str(rig.trace), steps=3, delay_s=0.4)
    summary = await rig.until(lambda s: sum(w.active for w in s.workers) == 2 and s.run.children.completed >= 1)
    frozen = summary.workers[0]
    os.kill(frozen.pid, signal.SIGSTOP)
    await rig.until(lambda s: bool(s.workers) and frozen.pid not in {w.pid for w in s.workers})
    with suppress(ProcessLookupError):
        os.kill(frozen.pid, signal.SIGCONT)
    await settled_rightly(rig, 10, 3, 285)
    assert all(count <= 2 for count in Counter(rig.traces()).values())


@pytest.mark.slow
async def test_a_worker_that_computes_in_silence_is_not_taken_for_frozen(rig: Rig) -> None:
    await rig.start("silent:one", workers=1, slots=1, lease_s=1.0, duration_s=4.0)
    summary = await rig.ended()
    assert summary.run.result == '"done in one start"'


@pytest.mark.parametrize("point", POINTS)
async def test_a_death_at_any_named_point_is_survived(rig: Rig, point: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """R10 among them (coordinator.enqueued): the same children, no orphan."""
    monkeypatch.setenv("POOLBOARD_FAULT", point)
    await rig.start("squares:many", n=12, trace=str(rig.trace), steps=2, delay_s=0.01)
    monkeypatch.delenv("POOLBOARD_FAULT")
    if point.startswith("coordinator"):
        await rig.until(lambda s: not s.coordinator.alive)
        await try_resume(rig)
    elif point.startswith("worker"):
        # Replacements inherit the armed fault from their coordinator: end it, so that its successor's are free of it.
        await rig.until(lambda s: any(w.restarts for w in s.workers) or s.run.ended_at is not None)
        summary = await rig.until(lambda s: True)
        if summary.run.ended_at is None:
            await kill(summary.coordinator.pid)
            await try_resume(rig)
    await settled_rightly(rig, 12, 2, 506)


@pytest.mark.slow
async def test_ten_kills_of_everything_in_a_row_change_nothing(rig: Rig) -> None:
    """R2, with every process."""
    await rig.start("squares:many", n=60, trace=str(rig.trace), delay_s=0.02)
    for _ in range(10):
        await asyncio.sleep(random.uniform(0.0, 0.4))
        summary = await rig.until(lambda s: True)
        if summary.run.ended_at is not None:
            break
        await kill(*rig.pids())
        await try_resume(rig)
    await settled_rightly(rig, 60, 1, 70210)


@pytest.mark.slow
async def test_a_late_writer_is_retained_then_adopted_or_refused_and_nothing_is_doubled(rig: Rig) -> None:
    """C4: a worker is frozen for three leases over the death of its coordinator; then it wakes and wants to write."""
    await rig.start("squares:many", n=8, workers=1, slots=2, lease_s=1.0, trace=str(rig.trace), delay_s=1.0)
    summary = await rig.until(lambda s: sum(active.stage == "square" for active in s.active) == 2)
    [worker] = [one.pid for one in summary.workers]
    os.kill(worker, signal.SIGSTOP)
    await kill(summary.coordinator.pid)
    await rig.resume()
    await rig.until(lambda s: s.coordinator.epoch == 2 and s.coordinator.alive)
    retained = await rig.until(lambda s: any("retained" in alert for alert in s.alerts))
    assert retained.run.children.completed == 0, "its work is given to nobody while it may still write"
    os.kill(worker, signal.SIGCONT)
    finished = await rig.ended()
    assert finished.run.result == "140"
    assert max(Counter(rig.traces()).values()) == 1


async def test_whoever_resumes_may_be_killed_while_the_run_comes_back(rig: Rig) -> None:
    """The coordinator's answer reaches nobody, and the run goes on: a screen that is killed takes nothing along."""
    await rig.start("squares:many", n=6, trace=str(rig.trace), steps=2, delay_s=0.05)
    await rig.completed(1)
    await kill(*rig.pids())
    begun = CoordinatorProcess.start(RunFolder.of(rig.run_id), [str(rig.journal), rig.run_id])
    os.close(begun.hear)
    with os.fdopen(begun.tell, "wb") as stdin:
        stdin.write(Errand("resume").encode())
    await settled_rightly(rig, 6, 2, 55)

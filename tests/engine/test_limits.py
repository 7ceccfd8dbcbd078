"""Limits in whole runs with real processes: never more than there is, nobody forgotten, whoever is killed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from poolboard.engine.errors import UserMistake
from poolboard.engine.views import LimitView, Summary
from tests.engine.rig import Rig, ended, kill, try_resume


def most_at_once(traces: list[str]) -> int:
    """Return how many were in at the same time at most, by the order of the lines."""
    inside, most = 0, 0
    for line in traces:
        inside += line.startswith("in:")
        inside -= line.startswith("out:")
        most = max(most, inside)
    return most


def gpu(summary: Summary) -> LimitView | None:
    return next((limit for limit in summary.limits if limit.name == "gpu"), None)


def waiting(count: int, holding: int = 1) -> Callable[[Summary], bool]:
    """Return whether so many wait for the gpu."""

    def holds(summary: Summary) -> bool:
        limit = gpu(summary)
        return limit is not None and limit.waiting == count and limit.holding == holding

    return holds


async def test_eight_slots_share_two_gpus(rig: Rig) -> None:
    await rig.start("limited:users", workers=2, slots=4, n=30, trace=str(rig.trace))
    summary = await rig.ended()
    assert (summary.run.status, summary.run.result) == ("completed", "30")
    assert most_at_once(rig.traces()) == 2


@pytest.mark.slow
async def test_what_is_given_at_the_start_goes_before_what_the_workflow_says(rig: Rig) -> None:
    await rig.start("limited:users", workers=2, slots=4, limits={"gpu": 1}, n=12, trace=str(rig.trace))
    await rig.ended()
    assert most_at_once(rig.traces()) == 1


async def test_a_run_that_waits_for_a_limit_holds_no_slot(rig: Rig) -> None:
    await rig.start("limited:one_slot", 1, 1, trace=str(rig.trace), gate=str(rig.folder / "gate"))
    summary = await rig.ended()
    assert summary.run.result == '["free","keeper","waiter"]'
    assert rig.traces() == ["in:keeper", "free:free", "out:keeper", "in:waiter", "out:waiter"]


async def test_why_a_child_waits_is_one_true_sentence(rig: Rig) -> None:
    gate = rig.folder / "gate"
    await rig.start("limited:users", 1, 8, n=4, trace=str(rig.trace), gate=str(gate))
    limit = gpu(await rig.until(waiting(2, holding=2)))
    assert limit is not None and (limit.in_use, limit.most, limit.text) == (2, 2, "2")
    first, second = (holder.n for holder in limit.holders)
    for waiter in limit.waiters:
        assert waiter.reason == f"waits for gpu: 2 of 2 in use by child {first} and child {second}"
    gate.touch()
    assert (await rig.ended()).run.status == "completed"


@pytest.mark.slow
async def test_a_limit_is_changed_live_and_stays_so_after_a_restart(rig: Rig) -> None:
    gate = rig.folder / "gate"
    await rig.start("limited:users", 1, 8, n=5, trace=str(rig.trace), gate=str(gate))
    await rig.until(waiting(3, holding=2))
    monitor = await rig.monitor()
    assert (await monitor.set_limit(rig.run_id, "gpu", "4", "ann")).message == "gpu = 4, from now on"
    summary = await rig.until(waiting(1, holding=4))
    for name, text, says in (
        ("tpu", "4", "no limit of this run"),
        ("gpu", "60/min", "is a capacity"),
        ("gpu", "x", "write"),
    ):
        with pytest.raises(UserMistake, match=says):
            await monitor.set_limit(rig.run_id, name, text)
    await kill(summary.coordinator.pid)
    await try_resume(rig)
    limit = gpu(await rig.until(waiting(1, holding=4)))
    assert limit is not None and limit.most == 4
    gate.touch()
    assert (await rig.ended()).run.result == "5"
    assert most_at_once(rig.traces()) == 4


@pytest.mark.slow
async def test_a_killed_coordinator_forgets_nobody_who_holds_and_nobody_who_waits(rig: Rig) -> None:
    gate = rig.folder / "gate"
    await rig.start("limited:users", 2, 4, n=7, trace=str(rig.trace), gate=str(gate))
    for _ in range(2):
        summary = await rig.until(waiting(5, holding=2))
        await kill(summary.coordinator.pid)
        await try_resume(rig)
    await rig.until(waiting(5, holding=2))
    gate.touch()
    assert (await rig.ended()).run.result == "7"
    assert most_at_once(rig.traces()) == 2
    assert len(rig.traces()) == 14  # nothing was done twice


@pytest.mark.slow
async def test_a_killed_worker_gives_back_what_it_held(rig: Rig) -> None:
    gate = rig.folder / "gate"
    await rig.start("limited:users", 1, 4, limits={"gpu": 1}, n=3, trace=str(rig.trace), gate=str(gate))
    summary = await rig.until(waiting(2))
    await kill(*(worker.pid for worker in summary.workers))
    gate.touch()
    assert (await rig.ended()).run.result == "3"


@pytest.mark.slow
async def test_paused_nobody_is_let_in(rig: Rig) -> None:
    gate = rig.folder / "gate"
    await rig.start("limited:users", 1, 4, limits={"gpu": 1}, n=3, trace=str(rig.trace), gate=str(gate))
    await rig.until(waiting(2))
    monitor = await rig.monitor()
    await monitor.pause(rig.run_id)
    gate.touch()
    summary = await rig.until(lambda s: s.run.status == "paused" and waiting(2, holding=0)(s))
    limit = gpu(summary)
    assert limit is not None and limit.waiters[0].reason == "waits for gpu: the run is paused"
    assert len(rig.traces()) == 2
    await monitor.resume(rig.run_id)
    assert (await rig.ended()).run.result == "3"


@pytest.mark.slow
async def test_what_can_never_be_had_is_refused_before_anything_is_made(rig: Rig, own_folders: Path) -> None:
    """An unknown name, and a need above the capacity."""
    for limits, says in (({"gpu": 1, "gpu.burst": 2}, "only a rate"), ({"gpu": "0"}, "whole number from 1")):
        with pytest.raises(UserMistake, match=says):
            await rig.start("limited:users", limits=limits, n=1, trace=str(rig.trace))
    (rig.folder / "greedy.py").write_text(
        "from poolboard import Context, stage, workflow\n"
        "@stage(needs={'gpu': 3})\ndef use() -> int:\n    return 1\n"
        "@workflow\nasync def one(ctx: Context) -> int:\n    return await ctx.stage(use)\n"
    )
    greedy = f"{rig.folder}/greedy"
    with pytest.raises(UserMistake, match="stage use needs 'gpu', which is no limit of this run"):
        await rig.start(f"{greedy}:one")
    with pytest.raises(UserMistake, match="stage use needs 3 of gpu, more than it can ever get: there are 2"):
        await rig.start(f"{greedy}:one", limits={"gpu": 2})
    settings = own_folders / "config_home" / "poolboard" / "config.toml"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text("[limits]\ngpu = 1\n")  # a name that only the person's settings know
    with pytest.raises(UserMistake, match="stage use needs 3 of gpu, more than it can ever get: there are 1"):
        await rig.start(f"{greedy}:one")
    settings.write_text("[limits]\ncpu = 1\n")
    with pytest.raises(UserMistake, match=r"stage use needs 'gpu', which is no limit of this run \(limits: cpu\)"):
        await rig.start(f"{greedy}:one")
    assert not rig.journal.exists()
    await rig.start(f"{greedy}:one", limits={"gpu": 3})
    assert (await rig.ended()).run.result == "1"


@pytest.mark.slow
async def test_what_is_asked_for_only_while_it_runs_is_refused_there_by_name(rig: Rig) -> None:
    await rig.start("limited:unheard_of", 1, 1)
    result = (await rig.ended()).run.result or ""
    assert "LimitError: ctx.limit needs 'tpu', which is no limit of this run (limits: disk, gpu)" in result


@pytest.mark.slow
async def test_a_run_that_waits_for_itself_is_told_so(rig: Rig) -> None:
    await rig.start("limited:knotted", 1, 1)
    assert "LimitError: waiting for gpu here would never end" in ((await rig.ended()).run.result or "")


@pytest.mark.slow
async def test_after_a_429_in_one_child_the_others_wait(rig: Rig) -> None:
    await rig.start("limited:told_to_wait", 1, 2, trace=str(rig.trace))
    limit = gpu(await rig.until(waiting(1, holding=0)))
    assert limit is not None and 3500 < limit.slow_s <= 3600
    assert limit.waiters[0].reason.startswith("waits for gpu: gpu is to be left alone for 3")
    assert rig.traces() == ["told", "off"]
    await (await rig.monitor()).cancel(rig.run_id)
    assert (await rig.ended()).run.status == "cancelled"


@pytest.mark.slow
async def test_a_limit_that_is_shared_holds_for_all_runs_and_the_dead_give_it_back(rig: Rig) -> None:
    gate = rig.folder / "gate"
    shared = {"gpu": 1, "gpu.shared": 1}
    first = await rig.start("limited:users", 1, 2, limits=shared, n=1, trace=str(rig.trace), gate=str(gate))
    one = await rig.until(lambda s: any(limit.holding for limit in s.limits))
    await rig.start("limited:users", 1, 2, limits=shared, n=1, trace=str(rig.trace))
    summary = await rig.until(waiting(1))
    limit = gpu(summary)
    assert limit is not None and limit.holders[0].run_id == first
    assert limit.waiters[0].reason == f"waits for gpu: 1 of 1, shared by all runs, in use by child 1 of run {first[:8]}"
    assert (Path(os.environ["XDG_STATE_HOME"]) / "poolboard" / "limits.sqlite").stat().st_mode & 0o777 == 0o600
    await kill(one.coordinator.pid, *(worker.pid for worker in one.workers))
    assert (await rig.until(ended)).run.status == "completed"
    assert rig.traces() == ["in:0", "in:0", "out:0"]


@pytest.mark.slow
async def test_a_429_in_one_run_is_for_all_runs_that_share_the_limit(rig: Rig) -> None:
    shared: dict[str, int | str] = {"gpu": "1000/s", "gpu.shared": 1}
    first = await rig.start("limited:told_to_wait", 1, 2, limits=shared, trace=str(rig.trace))
    await rig.until(waiting(1, holding=0))
    second = await rig.start("limited:users", 1, 1, limits=shared, n=1, trace=str(rig.trace))
    limit = gpu(await rig.until(waiting(1, holding=0)))
    assert limit is not None
    assert limit.waiters[0].reason.startswith("waits for gpu: gpu is to be left alone for 3")
    assert rig.traces() == ["told", "off"]  # what the second run's child would have written is not there
    for run_id in (first, second):
        await (await rig.monitor()).cancel(run_id)
    await rig.gone()


@pytest.mark.slow
async def test_a_run_without_limits_writes_no_file_for_them(rig: Rig) -> None:
    await rig.start("squares:many", n=3, trace=str(rig.trace), steps=1)
    await rig.ended()
    assert not (Path(os.environ["XDG_STATE_HOME"]) / "poolboard" / "limits.sqlite").exists()


async def test_a_limit_of_a_run_that_has_none_is_refused_by_name(rig: Rig) -> None:
    await rig.start("squares:many", workers=1, slots=1, n=20, trace=str(rig.trace), delay_s=0.1)
    await rig.completed(1)
    with pytest.raises(UserMistake, match="'gpu' is no limit of this run: it was started without any"):
        await (await rig.monitor()).set_limit(rig.run_id, "gpu", "2")
    assert (await rig.ended()).run.status == "completed", "and the run goes on"

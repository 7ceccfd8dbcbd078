"""Pause, resume and stop, as a person uses them, with kills in between states."""

from __future__ import annotations

import asyncio
import shutil
from collections import Counter
from pathlib import Path

import pytest

from poolboard.engine.errors import ChangedCode, CoordinatorGone, UserMistake
from poolboard.engine.launch import RunRequest, start_run
from poolboard.engine.monitor import Monitor
from tests.engine.rig import WORKFLOWS, Rig, kill, try_resume


async def test_a_paused_run_starts_nothing_and_its_time_stands_still(rig: Rig) -> None:
    await rig.start("squares:many", n=30, trace=str(rig.trace), delay_s=0.1)
    await rig.completed(4)
    monitor = await rig.monitor()
    told = await monitor.pause(rig.run_id, by="me", why="lunch")
    assert told.control.state == "pausing"
    paused = await rig.until(lambda s: s.run.status == "paused")
    assert (paused.run.control.state, paused.in_flight - paused.parked) == ("paused", 0)
    before = len(rig.traces())
    first = await monitor.status(rig.run_id)
    await asyncio.sleep(0.5)
    second = await monitor.status(rig.run_id)
    assert len(rig.traces()) == before
    assert first.run.elapsed_s == second.run.elapsed_s
    assert (await monitor.resume(rig.run_id)).control.state == "running"
    summary = await rig.ended()
    assert summary.run.result == "8555"
    assert Counter(rig.traces()).total() == 30


async def test_every_verb_may_be_said_twice(rig: Rig) -> None:
    await rig.start("squares:many", n=40, trace=str(rig.trace), delay_s=0.1)
    await rig.completed(1)
    monitor = await rig.monitor()
    await monitor.pause(rig.run_id)
    assert (await monitor.pause(rig.run_id)).message.startswith("already paus")
    await monitor.resume(rig.run_id)
    assert (await monitor.resume(rig.run_id)).message == "already running"
    await monitor.stop(rig.run_id)
    await monitor.stop(rig.run_id, now=True)
    await rig.until(lambda s: s.run.status == "stopped")


async def test_a_stopped_run_has_no_processes_and_goes_on_where_it_was(rig: Rig) -> None:
    await rig.start("squares:many", n=30, trace=str(rig.trace), delay_s=0.1)
    await rig.completed(5)
    monitor = await rig.monitor()
    await monitor.stop(rig.run_id, why="enough")
    await rig.until(lambda s: s.run.status == "stopped")
    await rig.gone()
    shown = await monitor.status(rig.run_id)
    assert (shown.run.status, shown.run.resumable, shown.run.children.leased) == ("stopped", True, 0)
    await rig.resume()
    summary = await rig.ended()
    assert summary.run.result == "8555"
    assert Counter(rig.traces()).total() == 30, "running stages had their grace: nothing was done twice"


async def test_stop_now_ends_a_stage_that_does_not_want_to_end(rig: Rig) -> None:
    """B34, P7: pause first, which waits for the stage; stop is a way out of it."""
    await rig.start("squares:many", n=4, workers=1, slots=1, trace=str(rig.trace), delay_s=300)
    await rig.until(lambda s: any(active.stage for active in s.active))
    monitor = await rig.monitor()
    await monitor.pause(rig.run_id)
    shown = await monitor.status(rig.run_id)
    assert (shown.run.status, shown.parked, shown.in_flight) == ("pausing", 0, 1)
    await monitor.stop(rig.run_id, now=True)
    await rig.until(lambda s: s.run.status == "stopped")
    await rig.gone()


@pytest.mark.parametrize("verb", [pytest.param("pause", marks=pytest.mark.slow), "stop"])
async def test_no_in_between_state_outlives_a_new_coordinator(rig: Rig, verb: str) -> None:
    """B35: the processes die while the run is pausing or stopping; a restart finishes the transition."""
    await rig.start("squares:many", n=6, trace=str(rig.trace), delay_s=1.0)
    summary = await rig.until(lambda s: any(active.stage for active in s.active))
    monitor = await rig.monitor()
    await (monitor.pause(rig.run_id) if verb == "pause" else monitor.stop(rig.run_id))
    await kill(summary.coordinator.pid, *(worker.pid for worker in summary.workers))
    await monitor.restart_crashed(rig.run_id)
    ending = {"pause": "paused", "stop": "stopped"}[verb]
    shown = await rig.until(lambda s: s.run.status == ending)
    assert shown.run.control.state == ending
    await try_resume(rig)
    assert (await rig.ended()).run.result == "55"


async def test_two_that_resume_at_once_make_one_coordinator(rig: Rig) -> None:
    """B14."""
    await rig.start("squares:many", n=30, trace=str(rig.trace), delay_s=0.1)
    summary = await rig.completed(3)
    await kill(summary.coordinator.pid, *(worker.pid for worker in summary.workers))
    monitors = [await Monitor.open(str(rig.journal)) for _ in range(2)]
    await asyncio.gather(*(m.resume(rig.run_id) for m in monitors), return_exceptions=True)
    again = await rig.until(lambda s: s.coordinator.alive)
    assert again.coordinator.epoch == 2
    for monitor in monitors:
        await monitor.close()
    assert (await rig.ended()).run.result == "8555"


async def test_comments_may_change_between_two_sessions_the_program_may_not(rig: Rig, tmp_path: Path) -> None:
    """B28, and the immutable configuration of a run (R4)."""
    file = tmp_path / "squares.py"
    shutil.copy(WORKFLOWS / "squares.py", file)
    inputs = {"n": 20, "trace": str(rig.trace), "delay_s": 0.1}
    rig.run_id = await start_run(RunRequest(f"{file}:many", inputs, str(rig.journal), 2, 2))
    for edit in ("comment", "program"):
        summary = await rig.completed(2)
        await kill(summary.coordinator.pid, *(worker.pid for worker in summary.workers))
        if edit == "comment":
            file.write_text(file.read_text() + "\n# a remark\n")
            await try_resume(rig)
    file.write_text(file.read_text().replace("return i * i", "return i * i * 1"))
    with pytest.raises(ChangedCode, match=r"squares\.py has changed since the run started .* --accept-code"):
        await rig.resume()
    monitor = await rig.monitor()
    await monitor.resume(rig.run_id, accept_code=True)
    assert (await rig.ended()).run.result == "2470"


async def test_a_run_that_asks_for_something_else_than_recorded_is_blocked(rig: Rig, tmp_path: Path) -> None:
    file = tmp_path / "two.py"
    source = (
        "from poolboard import Context, stage, workflow\nimport time\n"
        "@stage\ndef first() -> int:\n    return 1\n@stage\ndef second() -> int:\n    return 2\n"
        "@stage\ndef slow() -> int:\n    time.sleep(60)\n    return 3\n"
        "@workflow\nasync def both(ctx: Context) -> int:\n"
        "    await ctx.stage(first)\n    await ctx.stage(second)\n    return await ctx.stage(slow)\n"
    )
    file.write_text(source)
    rig.run_id = await start_run(RunRequest(str(file), {}, str(rig.journal), 1, 1))
    summary = await rig.until(lambda s: any(active.stage == "slow" for active in s.active))
    await kill(summary.coordinator.pid, *(worker.pid for worker in summary.workers))
    file.write_text(
        source.replace(
            "await ctx.stage(first)\n    await ctx.stage(second)", "await ctx.stage(second)\n    await ctx.stage(first)"
        )
    )
    monitor = await rig.monitor()
    await monitor.resume(rig.run_id, accept_code=True)
    shown = await rig.until(lambda s: s.run.status == "blocked")
    assert shown.run.error is not None
    assert "recorded stage first" in shown.run.error and "found stage second" in shown.run.error
    await rig.gone()


@pytest.mark.slow
async def test_workers_come_and_go_while_the_run_goes_on(rig: Rig) -> None:
    await rig.start("squares:many", n=80, trace=str(rig.trace), delay_s=0.2)
    await rig.completed(4)
    monitor = await rig.monitor()
    assert (await monitor.set_workers(rig.run_id, 4)).message == "4 workers"
    await rig.until(lambda s: len(s.workers) == 4 and all(w.slots for w in s.workers))
    await monitor.set_workers(rig.run_id, 1)
    summary = await rig.until(lambda s: len(s.workers) == 1 or s.run.ended_at is not None)
    assert [worker.id.partition(".")[0] for worker in summary.workers] == ["1"]
    await kill(summary.coordinator.pid)
    await try_resume(rig)
    again = await rig.until(lambda s: s.coordinator.epoch == 2 and len(s.workers) == 1)
    assert again.run.ended_at is None, "the wish outlives the coordinator that was asked"
    assert (await rig.ended()).run.result == "167480"
    assert Counter(rig.traces()).total() == 80


@pytest.mark.slow
async def test_an_ended_run_cannot_be_controlled(rig: Rig) -> None:
    await rig.start("squares:many", n=1, trace=str(rig.trace))
    await rig.ended()
    monitor = await rig.monitor()
    for verb in (monitor.pause, monitor.stop, monitor.resume):
        with pytest.raises(UserMistake, match="has ended: it is completed"):
            await verb(rig.run_id)


@pytest.mark.slow
async def test_a_coordinator_that_is_gone_is_told_so(rig: Rig) -> None:
    await rig.start("squares:many", n=30, trace=str(rig.trace), delay_s=0.2)
    summary = await rig.completed(1)
    await kill(summary.coordinator.pid, *(worker.pid for worker in summary.workers))
    monitor = await rig.monitor()
    with pytest.raises((UserMistake, CoordinatorGone), match="crashed"):
        await monitor.pause(rig.run_id)
    await try_resume(rig)
    await rig.ended()

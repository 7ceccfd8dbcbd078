"""Messages between persons, runs and stages, in real runs that are killed."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from poolboard.engine.errors import UserMistake
from poolboard.engine.views import MessagesView
from poolboard.journal.check import check
from tests.engine.rig import PATIENCE_S, Rig, kill, try_resume


async def say(rig: Rig, address: str, value: object, mode: str = "steer") -> str:
    monitor = await rig.monitor()
    told = await monitor.send(rig.run_id, address, json.dumps(value), mode, by="ann")  # type: ignore[arg-type]
    return told.message


async def until_messages(rig: Rig, holds: Callable[[MessagesView], bool]) -> MessagesView:
    monitor = await rig.monitor()
    async with asyncio.timeout(PATIENCE_S):
        while not holds(view := await monitor.messages(rig.run_id)):
            await monitor.wait_for_change(0.05)
    return view


async def traced(rig: Rig, line: str) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while line not in rig.traces():
            await asyncio.sleep(0.01)


async def result(rig: Rig) -> object:
    summary = await rig.ended()
    assert summary.run.status == "completed", summary.run.error
    return json.loads(summary.run.result or "null")


def children_waiting(count: int) -> Callable[..., bool]:
    return lambda summary: summary.run.children.waiting == count


async def test_children_read_what_is_sent_to_each_and_to_all_without_a_slot(rig: Rig) -> None:
    await rig.start("talk:readers", workers=1, slots=1, names=["a", "b", "c"], count=2, trace=str(rig.trace))
    await rig.until(children_waiting(3))
    assert "to child-*: 3 there now, those that start later get it then" in await say(rig, "child-*", "all")
    for n in (1, 2, 3):
        assert f"to child-{n}" in await say(rig, str(n), n)
    assert await result(rig) == [["all", 1], ["all", 2], ["all", 3]]
    assert Counter(rig.traces()) == Counter(f"{name}:{what}" for n, name in enumerate("abc", 1) for what in ("all", n))


@pytest.mark.parametrize("victim", ["worker", "coordinator", "all"])
@pytest.mark.slow
async def test_what_a_run_took_it_finds_again_after_a_kill(rig: Rig, victim: str) -> None:
    await rig.start("talk:readers", workers=1, slots=2, names=["a", "b"], count=4, trace=str(rig.trace))
    await rig.until(children_waiting(2))
    await say(rig, "**", 1)
    await say(rig, "1", 2)
    for line in ("a:1", "a:2", "b:1"):
        await traced(rig, line)
    summary = await rig.until(lambda s: bool(s.workers))
    workers = [worker.pid for worker in summary.workers]
    if victim == "worker":
        await kill(*workers)
        await rig.until(lambda s: bool(s.workers) and s.workers[0].pid not in workers)
    else:
        await kill(summary.coordinator.pid, *(workers if victim == "all" else []))
        await try_resume(rig)
    await say(rig, "2", 2)
    await say(rig, "child-*", 3)
    await say(rig, "child-*", 4)
    assert await result(rig) == [[1, 2, 3, 4], [1, 2, 3, 4]]
    assert all(count <= 2 for count in Counter(rig.traces()).values())
    view = await (await rig.monitor()).messages(rig.run_id)
    assert (view.total, view.open, view.taken, view.undeliverable) == (5, 0, 8, 0)


POINTS = [
    "coordinator:coordinator.posted:2",
    pytest.param("coordinator:coordinator.delivered:1", marks=pytest.mark.slow),
    "coordinator:coordinator.taken:2",
    pytest.param("coordinator:journal.committed:12", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("point", POINTS)
async def test_a_death_at_any_point_of_a_message_loses_none_and_doubles_none(
    rig: Rig, point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POOLBOARD_FAULT", point)
    await rig.start("talk:readers", workers=1, slots=2, names=["a", "b"], count=3, trace=str(rig.trace))
    monkeypatch.delenv("POOLBOARD_FAULT")

    async def said(value: int) -> None:
        for _ in range(100):
            view = await (await rig.monitor()).messages(rig.run_id)
            if any(row.value == str(value) for row in view.rows):
                return
            try:
                await say(rig, "child-*", value)
                return
            except Exception:
                await mend()

    async def mend() -> None:
        summary = await rig.until(lambda s: True)
        if not summary.coordinator.alive and summary.run.ended_at is None:
            await try_resume(rig)

    for value in (1, 2, 3):
        await said(value)
        await asyncio.sleep(0.2)
        await mend()
    while (await rig.until(lambda s: True)).run.ended_at is None:
        await mend()
        await asyncio.sleep(0.1)
    assert await result(rig) == [[1, 2, 3], [1, 2, 3]]


async def test_a_worker_that_dies_before_what_it_took_is_recorded_takes_it_again(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POOLBOARD_FAULT", "worker:worker.taking:2")
    await rig.start("talk:readers", workers=1, slots=2, names=["a", "b"], count=2, trace=str(rig.trace))
    monkeypatch.delenv("POOLBOARD_FAULT")
    await say(rig, "child-*", 1)
    summary = await rig.until(lambda s: any(worker.restarts for worker in s.workers))
    # Its replacement inherits the armed fault from the coordinator: end both, so that those that follow are free of it.
    await kill(summary.coordinator.pid, *(worker.pid for worker in summary.workers))
    await try_resume(rig)
    await say(rig, "child-*", 2)
    assert await result(rig) == [[1, 2], [1, 2]]


@pytest.mark.slow
async def test_m1_a_message_to_a_child_that_has_not_started_is_there_when_it_starts(rig: Rig) -> None:
    gates = [str(rig.folder / name) for name in ("x", "y")]
    await rig.start("talk:lookers", workers=1, slots=1, gates=gates, concurrency=1)
    await rig.until(lambda s: s.run.children.leased == 1)
    assert (await say(rig, "2", "early")).endswith("it waits until that starts")
    await say(rig, "child-*/**", "everybody")
    for gate in gates:
        Path(gate).touch()
        Path(f"{gate}.2").touch()
    assert await result(rig) == [[[], ["everybody"], []], [["early", "everybody"], [], []]]


@pytest.mark.slow
async def test_m1_it_is_there_again_for_a_new_attempt_after_its_worker_was_killed(rig: Rig) -> None:
    gate = str(rig.folder / "x")
    await rig.start("talk:lookers", workers=1, slots=1, gates=[gate], concurrency=1)
    summary = await rig.until(lambda s: any(a.stage == "wait_for" for a in s.active))
    await say(rig, "child-1", "for the next one")
    await until_messages(rig, lambda view: view.delivered == 1)
    await kill(summary.workers[0].pid)
    Path(gate).touch()
    Path(f"{gate}.2").touch()
    assert await result(rig) == [[[], ["for the next one"], []]]


@pytest.mark.slow
async def test_m11_a_message_waits_interrupts_or_follows_as_it_was_sent(rig: Rig) -> None:
    """Steer is read while a stage runs, by who reads then; follow_up only once that stage has ended."""
    gate = rig.folder / "gate"
    await rig.start("talk:both", workers=1, slots=1, gate=str(gate))
    await rig.until(lambda s: any(a.stage == "wait_for" for a in s.active))
    await say(rig, "", "last", "follow_up")
    await say(rig, "root", "now")
    await until_messages(rig, lambda view: view.taken == 1)
    gate.touch()
    assert await result(rig) == ["now", "last"]


@pytest.mark.slow
@pytest.mark.parametrize("threaded", [False, True])
async def test_m11_an_interruption_cancels_the_stage_and_is_the_same_after_a_kill(rig: Rig, threaded: bool) -> None:
    gate = rig.folder / "gate"
    await rig.start("talk:interruptible", workers=1, slots=1, gate=str(gate), trace=str(rig.trace), threaded=threaded)
    stage = "wait_in_thread" if threaded else "wait_for"
    await rig.until(lambda s: any(a.stage == stage for a in s.active))
    await say(rig, "", "stop that", "interrupt")
    await traced(rig, "interrupted")
    summary = await rig.until(lambda s: any(a.stage == "wait_for" for a in s.active))
    await kill(summary.coordinator.pid, *(worker.pid for worker in summary.workers))
    await try_resume(rig)
    Path(f"{gate}.2").touch()
    assert await result(rig) == [f"{stage} interrupted", "stop that"]


@pytest.mark.slow
async def test_m4_an_interruption_sent_while_the_worker_had_no_coordinator_still_interrupts(rig: Rig) -> None:
    """B2 and B7 too: the worker's connection is lost, its run waits for a successor and loses nothing."""
    gate = rig.folder / "gate"
    await rig.start("talk:interruptible", workers=1, slots=1, gate=str(gate), trace=str(rig.trace))
    summary = await rig.until(lambda s: any(a.stage == "wait_for" for a in s.active))
    await kill(summary.coordinator.pid)
    await try_resume(rig)
    await say(rig, "**", "stop that", "interrupt")
    await traced(rig, "interrupted")
    Path(f"{gate}.2").touch()
    assert await result(rig) == ["wait_for interrupted", "stop that"]


@pytest.mark.slow
async def test_a_stage_finds_what_was_sent_to_it_before_it_started_and_after(rig: Rig) -> None:
    gate = rig.folder / "gate"
    await rig.start("talk:listeners", workers=1, slots=1, gate=str(gate), trace=str(rig.trace))
    await rig.until(lambda s: any(a.stage == "wait_for" for a in s.active))
    assert (await say(rig, "child-1/listen", "first")).endswith("to that stage, now or when it starts")
    await say(rig, "child-*/listen", "second")
    gate.touch()
    await traced(rig, "listening:2")
    await say(rig, "1/listen", "third")
    await say(rig, "1/listen", "afterwards", "follow_up")
    await until_messages(rig, lambda view: view.delivered == 4)
    Path(f"{gate}.2").touch()
    assert await result(rig) == [[["third"], ["afterwards"]]]
    view = await (await rig.monitor()).messages(rig.run_id)
    assert (view.total, view.taken) == (4, 4)


@pytest.mark.slow
async def test_a_stage_that_died_with_its_worker_finds_its_messages_again(rig: Rig) -> None:
    gate = rig.folder / "gate"
    await rig.start("talk:listeners", workers=1, slots=1, gate=str(gate), trace=str(rig.trace))
    await rig.until(lambda s: any(a.stage == "wait_for" for a in s.active))
    await say(rig, "child-1/listen", "first")
    gate.touch()
    await traced(rig, "listening:1")
    summary = await rig.until(lambda s: any(a.stage == "listen" for a in s.active))
    await kill(summary.workers[0].pid)
    async with asyncio.timeout(PATIENCE_S):
        while rig.traces().count("listening:1") < 2:
            await asyncio.sleep(0.01)
    Path(f"{gate}.2").touch()
    assert await result(rig) == [[[], []]]


@pytest.mark.slow
async def test_a_pattern_of_stages_reaches_each_of_them_once_also_in_a_new_attempt(rig: Rig) -> None:
    gate = rig.folder / "gate"
    await rig.start("talk:hearers", workers=1, slots=1, gate=str(gate), trace=str(rig.trace))
    await traced(rig, "first")
    assert "to child-*/hear_*: 1 there now" in await say(rig, "child-*/hear_*", "all")
    await until_messages(rig, lambda view: view.delivered == 1)
    gate.touch()
    await traced(rig, "second")
    summary = await rig.until(lambda s: bool(s.workers))
    await kill(summary.workers[0].pid)
    async with asyncio.timeout(PATIENCE_S):
        while rig.traces().count("second") < 2:
            await asyncio.sleep(0.01)
    Path(f"{gate}.2").touch()
    assert await result(rig) == [[["all"], ["all"], []]]
    view = await (await rig.monitor()).messages(rig.run_id)
    assert (view.total, view.open, view.taken) == (1, 0, 1)
    assert not check(rig.journal).findings
    assert rig.traces().count("first") == 1


@pytest.mark.slow
async def test_what_is_sent_while_nobody_works_on_the_run_waits_in_the_journal_and_is_there_on_resume(rig: Rig) -> None:
    """M1 too: sent to a child and to a stage of it while the run is stopped, taken by their next attempts."""
    gate = rig.folder / "gate"
    await rig.start("talk:listeners", workers=1, slots=1, gate=str(gate), trace=str(rig.trace))
    await rig.until(lambda s: any(a.stage == "wait_for" for a in s.active))
    monitor = await rig.monitor()
    await monitor.stop(rig.run_id, now=True)
    stopped = await rig.until(lambda s: s.run.status == "stopped")
    await rig.gone()
    told = await say(rig, "child-1/listen", "while stopped")
    assert told.endswith(" to child-1/listen: recorded, and delivered once the run, which is stopped, goes on")
    await say(rig, "child-*", "to all")
    with pytest.raises(UserMistake, match="is not JSON"):
        await monitor.send(rig.run_id, "1", "{")
    again = await monitor.status(rig.run_id)
    assert (again.run.status, again.run.elapsed_s) == ("stopped", stopped.run.elapsed_s)
    assert (await monitor.messages(rig.run_id)).open == 2
    for path in (gate, Path(f"{gate}.2")):
        path.touch()
    await rig.resume()
    assert await result(rig) == [[[], ["to all"]]]
    assert rig.traces() == ["listening:1"]  # its stage had read it before it wrote that
    with pytest.raises(UserMistake, match="undeliverable: it has ended: it is completed"):
        await say(rig, "1", "too late")
    view = await monitor.messages(rig.run_id)
    assert (view.total, view.taken, view.undeliverable) == (2, 2, 0)
    assert not check(rig.journal).findings


@pytest.mark.slow
async def test_what_is_sent_to_a_crashed_run_is_taken_by_the_workers_that_outlived_its_coordinator(rig: Rig) -> None:
    await rig.start("talk:readers", workers=1, slots=2, names=["a"], count=1, trace=str(rig.trace))
    await rig.until(children_waiting(1))
    summary = await rig.until(lambda s: bool(s.workers))
    await kill(summary.coordinator.pid)
    assert "the run, which is crashed, goes on" in await say(rig, "1", 1)
    assert (await (await rig.monitor()).status(rig.run_id)).run.status == "crashed"
    await try_resume(rig)
    after = await rig.until(lambda s: bool(s.workers) or s.run.ended_at is not None)
    assert not after.workers or after.workers[0].pid == summary.workers[0].pid
    assert await result(rig) == [[1]]


@pytest.mark.slow
async def test_m13_who_sent_to_a_run_that_ended_is_told_once_also_after_a_restart(rig: Rig) -> None:
    gate = rig.folder / "gate"
    await rig.start("talk:sender", workers=1, slots=2, gate=str(gate))
    async with asyncio.timeout(PATIENCE_S):
        while not Path(f"{gate}.trace").exists():
            await asyncio.sleep(0.01)
    gate.touch()
    summary = await rig.until(lambda s: any(a.n == 0 and a.stage == "wait_for" for a in s.active))
    await kill(summary.coordinator.pid, *(worker.pid for worker in summary.workers))
    await try_resume(rig)
    Path(f"{gate}.2").touch()
    assert await result(rig) == [[True, {"undeliverable": "child 1 has ended: it is completed"}]]


@pytest.mark.slow
async def test_a_person_is_told_at_once_that_a_child_has_ended_and_nothing_is_recorded(rig: Rig) -> None:
    gates = [str(rig.folder / name) for name in ("x", "y")]
    await rig.start("talk:lookers", workers=1, slots=1, gates=gates, concurrency=1)
    Path(gates[0]).touch()
    Path(f"{gates[0]}.2").touch()
    await rig.until(lambda s: s.run.children.completed == 1 and s.run.children.leased == 1)
    with pytest.raises(UserMistake, match="undeliverable: child 1 has ended: it is completed"):
        await say(rig, "1", "too late")
    with pytest.raises(UserMistake, match="is no run"):
        await say(rig, "kid-3/x/y", "?")
    assert (await (await rig.monitor()).messages(rig.run_id)).total == 0
    await (await rig.monitor()).cancel(rig.run_id)
    await rig.ended()


async def test_m12_what_was_read_is_answered_in_turn_and_what_is_queued_but_unseen_is_not(rig: Rig) -> None:
    gate = rig.folder / "gate"
    await rig.start("talk:oracle", workers=1, slots=3, gate=str(gate))
    await rig.until(lambda s: any(a.n == 0 and a.stage == "wait_for" for a in s.active))
    await say(rig, "root", "and I?")
    await until_messages(rig, lambda view: view.total == 3 and view.delivered == 1)
    gate.touch()
    told = await result(rig)
    assert isinstance(told, list)
    heard, answers, left = told
    assert sorted(heard[:2]) == ["a?", "b?"]
    assert heard[2].startswith("ctx.reply: no run's message was read")
    assert answers == ["a?!", "b?!"]  # each its own, whichever came first
    assert left == ["and I?"]


@pytest.mark.slow
async def test_b5_a_pause_while_a_run_waits_for_messages_is_in_force_at_once(rig: Rig) -> None:
    await rig.start("talk:readers", workers=1, slots=1, names=["a"], count=1, trace=str(rig.trace))
    await rig.until(children_waiting(1))
    monitor = await rig.monitor()
    await monitor.pause(rig.run_id)
    await rig.until(lambda s: s.run.status == "paused")
    await say(rig, "1", "while paused")
    await until_messages(rig, lambda view: view.delivered == 1)
    assert rig.traces() == []  # it is with the run, whose program goes no further
    await monitor.resume(rig.run_id)
    assert await result(rig) == [["while paused"]]
    assert rig.traces() == ["a:while", "paused"]


@pytest.mark.slow
async def test_m14_when_the_run_ends_what_waits_leaves_the_queue(rig: Rig) -> None:
    gates = [str(rig.folder / name) for name in ("x",)]
    await rig.start("talk:lookers", workers=1, slots=1, gates=gates, concurrency=1)
    await rig.until(lambda s: any(a.stage == "wait_for" for a in s.active))
    await say(rig, "child-9*", "nobody")
    await say(rig, "77", "never there")
    for gate in gates:
        Path(gate).touch()
        Path(f"{gate}.2").touch()
    await result(rig)
    view = await (await rig.monitor()).messages(rig.run_id)
    assert (view.total, view.open, view.undeliverable) == (2, 0, 1)
    with pytest.raises(UserMistake, match="has ended"):
        await say(rig, "", "too late")


@pytest.mark.slow
async def test_children_that_send_patterns_reach_each_other_once_each(rig: Rig) -> None:
    await rig.start("talk:chatter", workers=2, slots=3, peers=12, rounds=3)
    assert await result(rig) == 12 * 36
    view = await (await rig.monitor()).messages(rig.run_id, limit=5)
    assert (view.total, view.omitted, view.taken) == (36, 31, 12 * 36)
    assert all(len(row.recipients) == 5 and row.omitted == 7 for row in view.rows)


@pytest.mark.slow
async def test_a_run_without_messages_pays_nothing_for_them(rig: Rig) -> None:
    await rig.start("squares:many", workers=1, n=5, trace=str(rig.trace))
    await rig.ended()
    reader = await rig.rows()
    types = {entry.event.type for entry in await reader.events(1, 0, 1000)}
    assert not {kind for kind in types if kind.startswith("Message")}
    assert (await reader.messages.totals(1)).messages == 0
    await reader.close()

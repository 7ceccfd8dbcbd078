"""Tries of a stage are facts: a kill grants no new ones, and a pause between two goes on where it was."""

from __future__ import annotations

import asyncio

import pytest

from tests.engine.rig import PATIENCE_S, Rig, kill


@pytest.mark.parametrize("fault", ["worker:worker.tried:2", "coordinator:coordinator.committed:2"])
async def test_a_kill_between_two_tries_grants_no_new_ones(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.setenv("POOLBOARD_FAULT", fault)
    await rig.start("spends:tries", workers=1, slots=1, folder=str(rig.folder))
    monkeypatch.delenv("POOLBOARD_FAULT")
    crashed = fault.startswith("coordinator")
    if crashed:
        await rig.until(lambda s: s.run.status == "crashed")
        await rig.resume()
    summary = await rig.ended()
    assert (summary.run.status, summary.run.error) == ("failed", "stage hopeless: OSError: still broken")
    assert rig.traces() == ["try"] * 4, "retries=3 are four tries in all"
    stages = (await (await rig.monitor()).child(rig.run_id, 0)).stages
    assert [(stage.attempt, stage.ok) for stage in stages] == [(1, False), (2, False), (3, False), (4, False)]


async def test_a_long_pause_between_two_tries_survives_a_kill_and_holds_no_slot(rig: Rig) -> None:
    await rig.start("spends:tries_later", workers=1, slots=1, folder=str(rig.folder))
    summary = await rig.until(lambda s: rig.traces() == ["try"] and s.in_flight == 0 and bool(s.workers))
    await kill(summary.coordinator.pid, *(worker.pid for worker in summary.workers))
    await rig.resume()
    reader = await rig.rows()
    async with asyncio.timeout(PATIENCE_S):
        while (row := await reader.work(1, 0)).generation < 2 or row.state != "waiting":
            await asyncio.sleep(0.05)
    await reader.close()
    assert rig.traces() == ["try"], "the hour is not over"
    await (await rig.monitor()).cancel(rig.run_id)
    await rig.ended()

"""A thousand kills: random processes die at random moments, then a checker reads journal and effects.

Reported, and all to be zero: acknowledged but missing, done again after it was recorded, stuck, left running.
``make torture`` kills 1,000 times (POOLBOARD_TORTURE_KILLS); the short form runs with the tests.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from poolboard.engine.views import Summary
from tests.engine.rig import Rig, kill, try_resume

COUNT, STEPS = 240, 2  # enough to last for ten kills, now that the pool is fast


@dataclass
class Verdict:
    """What went wrong, by kind, over all runs."""

    kills: int = 0
    runs: int = 0
    missing: list[str] = field(default_factory=list)
    again: list[str] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    def take(self, lines: list[str], recorded: dict[tuple[int, int], int]) -> None:
        """Hold what was done and told, in order, against what is recorded (in ms) under (i, k).

        A workflow is told of an outcome once that is durable: from then on no kill may have it done again.
        """
        acked: set[tuple[int, int]] = set()
        for line in lines:
            word, i, k, at = line.split()
            key = (int(i), int(k))
            if word == "acked":
                acked.add(key)
                if key not in recorded:
                    self.missing.append(line)
            elif key in acked or (key in recorded and int(at) > recorded[key] + 1):
                self.again.append(line)

    @property
    def clean(self) -> bool:
        return not (self.missing or self.again or self.stuck or self.left)


async def kill_somebody(rig: Rig, summary: Summary) -> None:
    """End one process, or all, and see to it that the run goes on."""
    victim = random.choice(["worker", "worker", "coordinator", "coordinator", "all"])
    workers = [worker.pid for worker in summary.workers]
    if victim == "worker" and workers:
        await kill(random.choice(workers))
    elif victim == "coordinator":
        await kill(summary.coordinator.pid)
        await asyncio.sleep(random.choice([0.0, 0.0, random.uniform(0.0, 0.5)]))
        await try_resume(rig)
    else:
        await kill(*rig.pids())
        await try_resume(rig)


async def one_run(rig: Rig, kills: int, verdict: Verdict) -> None:
    rig.trace.unlink(missing_ok=True)
    await rig.start("torture:all_of_it", workers=2, slots=3, count=COUNT, steps=STEPS, trace=str(rig.trace))
    verdict.runs += 1
    for _ in range(kills):
        await asyncio.sleep(random.uniform(0.0, 0.35))
        summary = await (await rig.monitor()).status(rig.run_id)
        if summary.run.ended_at is not None:
            break
        if summary.coordinator.alive:
            await kill_somebody(rig, summary)
            verdict.kills += 1
        else:
            await try_resume(rig)
    await check(rig, verdict)


async def check(rig: Rig, verdict: Verdict) -> None:
    """Hold the effects against the journal."""
    try:
        summary = await rig.ended()
    except TimeoutError:
        shown = await (await rig.monitor()).status(rig.run_id)
        verdict.stuck.append(f"{rig.run_id}: {shown.run.status} {shown.run.children}")
        verdict.left += [f"{rig.run_id}: process {pid}" for pid in rig.pids()]
        await kill(*rig.pids())
        return
    reader = await rig.rows()
    run = await reader.run(rig.run_id)
    recorded: dict[tuple[int, int], int] = {}
    unlucky = set()
    for row in await reader.work_page(run.number, 0, 10_000):
        for entry in await reader.checkpoints(run.number, row.n):
            payload = json.loads(entry.event.payload)
            if payload["kind"] != "stage":
                continue
            key = (payload["value"], payload["place"])
            recorded[key] = entry.at
        if row.state == "failed":
            assert row.starts == 3 and "worker_lost" in (row.error or ""), row
            unlucky.add(row.label)
    await reader.close()
    verdict.take(rig.trace.read_text().splitlines(), recorded)
    assert len(recorded) >= STEPS * (COUNT - len(unlucky)), "every completed child has recorded all its stages"
    assert summary.run.result is not None, (summary.run.status, summary.run.error)
    assert len(json.loads(summary.run.result)) == COUNT - len(unlucky)


async def torture(rig: Rig, kills: int) -> Verdict:
    verdict = Verdict()
    while verdict.kills < kills:
        await one_run(rig, min(10, kills - verdict.kills), verdict)
    return verdict


async def test_a_few_kills_leave_nothing_missing_doubled_stuck_or_running(rig: Rig) -> None:
    verdict = await torture(rig, 8)
    assert verdict.clean, verdict


def test_the_checker_sees_what_was_told_and_lost_and_what_was_told_and_done_again() -> None:
    verdict = Verdict()
    verdict.take(
        ["did 1 0 100", "acked 1 0 120", "did 2 0 130", "did 2 0 140", "acked 3 0 150"], {(1, 0): 110, (2, 0): 141}
    )
    assert (verdict.missing, verdict.again) == (["acked 3 0 150"], [])
    # The record is of the second time: the first was lost although the workflow had been told.
    verdict = Verdict()
    verdict.take(["did 1 0 100", "acked 1 0 101", "did 1 0 150", "acked 1 0 160"], {(1, 0): 155})
    assert (verdict.missing, verdict.again) == ([], ["did 1 0 150"])


@pytest.mark.torture
@pytest.mark.timeout(24 * 3600)
async def test_a_thousand_kills(rig: Rig, tmp_path: Path) -> None:
    verdict = await torture(rig, int(os.environ.get("POOLBOARD_TORTURE_KILLS", "1000")))
    print(f"{verdict.kills} kills over {verdict.runs} runs: clean={verdict.clean}")
    assert verdict.clean, verdict

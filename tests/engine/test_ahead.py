"""Real runs whose children are so short that they are claimed before a slot is free."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from poolboard.journal.model import WorkRow
from tests.engine.rig import Rig, kill


async def children(rig: Rig) -> list[WorkRow]:
    """Return every child's row."""
    reader = await rig.rows()
    try:
        run = await reader.run(rig.run_id)
        return await reader.work_page(run.number, 0, 1000)
    finally:
        await reader.close()


async def test_no_more_children_are_in_a_worker_at_once_than_it_has_slots(rig: Rig) -> None:
    await rig.start("crowd:crowd", workers=2, slots=3, n=300)
    summary = await rig.ended()
    visits = json.loads(summary.run.result or "null")
    assert len(visits) == 300
    most = Counter[int]()
    for pid, beside in visits:
        most[pid] = max(most[pid], beside)
    assert len(most) == 2 and set(most.values()) <= {1, 2, 3}


@pytest.mark.slow
async def test_a_pause_in_the_middle_costs_none_of_them_a_start(rig: Rig) -> None:
    await rig.start("crowd:crowd", workers=1, slots=4, n=400)
    await rig.completed(50)
    monitor = await rig.monitor()
    await monitor.pause(rig.run_id)
    summary = await rig.until(lambda s: s.run.status == "paused" or s.run.ended_at is not None)
    assert summary.run.status == "paused" and summary.run.children.leased == 0
    await monitor.resume(rig.run_id)
    await rig.ended()
    assert Counter((row.state, row.starts) for row in await children(rig)) == {("completed", 1): 400}


async def test_a_killed_worker_costs_a_start_only_those_that_had_a_slot_there(rig: Rig) -> None:
    await rig.start("crowd:crowd", workers=2, slots=3, n=400)
    summary = await rig.completed(50)
    await kill(summary.workers[0].pid)
    await rig.ended()
    rows = await children(rig)
    assert {row.state for row in rows} == {"completed"}
    assert sum(row.starts - 1 for row in rows) <= 3

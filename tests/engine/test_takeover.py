"""What a successor reads of a run before it goes on with it, and a child that can be given to nobody."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from poolboard.engine import takeover
from poolboard.journal import queue
from poolboard.journal.driver import connect
from poolboard.journal.model import Token
from tests.bench.office import office
from tests.engine.rig import Rig


async def test_a_successor_reads_what_is_left_and_nothing_of_what_completed(tmp_path: Path) -> None:
    """R1: 640 of 643 children have completed; the tests of kills show that none of those is run again."""
    async with office(tmp_path / "journal.sqlite", 643) as desk:
        verb = partial(queue.claim, lease=desk.lease, worker="w", ttl_ms=1_000)
        await desk.journal.submit([partial(verb, n=n) for n in range(1, 643)])
        done = partial(queue.complete, lease=desk.lease, result="1")
        await desk.journal.submit([partial(done, token=Token(n, 1, "w", 1)) for n in range(1, 641)])
        lease = await desk.journal.acquire_lease("bench", "successor", if_epoch=1)
        found = await takeover.load(desk.journal, lease)
    assert [(item.n, item.state) for item in found.work] == [
        (0, "leased"),
        (641, "leased"),
        (642, "leased"),
        (643, "ready"),
    ]
    assert (found.gone, found.failed) == ({"w"}, frozenset())


async def test_a_child_that_cannot_be_dispatched_fails_with_its_reason_and_the_others_complete(rig: Rig) -> None:
    """B17: the bytes of one input are damaged, another names a workflow that is not there any more."""
    await rig.start("parts:all_of_them", n=20, workers=1, slots=1, folder=str(rig.folder))
    monitor = await rig.monitor()
    await rig.until(lambda s: s.run.children.total == 20)
    await monitor.pause(rig.run_id)
    file = connect(rig.journal, readonly=False)
    file.execute("UPDATE events SET payload = CAST(x'7b22ff7d' AS TEXT) WHERE work = 5 AND type = 'ChildEnqueued'")
    file.execute("UPDATE work SET workflow = 'gone' WHERE id % 4096 = 6")
    file.close()
    (rig.folder / "open").touch()
    await monitor.resume(rig.run_id)
    summary = await rig.ended()
    assert (summary.run.children.failed, summary.run.children.completed) == (2, 18)
    rows = {row.n: row for row in (await monitor.children(rig.run_id)).rows if row.state == "failed"}
    assert "input unreadable" in (rows[5].error or "")
    assert "unknown function" in (rows[6].error or "")

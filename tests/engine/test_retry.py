"""Cancel, and trying again exactly what failed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from poolboard.engine.errors import UserMistake
from tests.engine.rig import Rig, kill


@pytest.mark.slow
async def test_a_cancelled_run_has_ended_for_good(rig: Rig) -> None:
    await rig.start("squares:many", n=40, trace=str(rig.trace), delay_s=0.1)
    await rig.completed(4)
    monitor = await rig.monitor()
    told = await monitor.cancel(rig.run_id, why="wrong list")
    assert told.message.startswith("cancelling")
    summary = await rig.ended()
    counts = summary.run.children
    assert (summary.run.status, summary.run.resumable) == ("cancelled", False)
    assert counts.completed + counts.cancelled == counts.total == 40
    with pytest.raises(UserMistake, match="has ended: it is cancelled"):
        await monitor.resume(rig.run_id)
    with pytest.raises(UserMistake, match="was cancelled, which is final"):
        await monitor.retry(rig.run_id)


@pytest.mark.parametrize("verb", ["cancel", "stop"])
async def test_a_crashed_run_can_be_ended_without_going_on_with_it(rig: Rig, verb: str) -> None:
    await rig.start("squares:many", n=40, trace=str(rig.trace), delay_s=0.2)
    summary = await rig.completed(1)
    await kill(summary.coordinator.pid)
    monitor = await rig.monitor()
    await (monitor.cancel(rig.run_id) if verb == "cancel" else monitor.stop(rig.run_id))
    ending = {"cancel": "cancelled", "stop": "stopped"}[verb]
    await rig.until(lambda s: s.run.status == ending)
    await rig.gone()


@pytest.mark.parametrize("workflow", ["collecting", pytest.param("raising", marks=pytest.mark.slow)])
async def test_retry_runs_exactly_the_failed_children_and_what_looks_at_them(
    rig: Rig, tmp_path: Path, workflow: str
) -> None:
    mended = tmp_path / "mended"
    await rig.start(f"flaky:{workflow}", n=10, mended=str(mended), trace=str(rig.trace))
    summary = await rig.ended()
    assert summary.run.children.failed == 4
    assert summary.run.status == {"collecting": "completed", "raising": "failed"}[workflow]
    before = Counter(rig.traces())
    mended.touch()
    monitor = await rig.monitor()
    told = await monitor.retry(rig.run_id)
    assert told.message == "4 failed children tried again"
    summary = await rig.ended()
    assert (summary.run.status, summary.run.result, summary.run.error) == ("completed", "45", None)
    assert (summary.run.children.completed, summary.run.children.failed) == (10, 0)
    assert Counter(rig.traces()) - before == Counter(f"second:{i}" for i in (0, 3, 6, 9)), "only what failed ran again"


@pytest.mark.slow
async def test_retry_reaches_into_nested_runs(rig: Rig, tmp_path: Path) -> None:
    mended = tmp_path / "mended"
    await rig.start("flaky:nested", mended=str(mended), trace=str(rig.trace))
    summary = await rig.ended()
    assert summary.run.result == "0" and summary.run.children.failed == 4
    mended.touch()
    await (await rig.monitor()).retry(rig.run_id)
    summary = await rig.ended()
    assert summary.run.result == str(0 + 1 + 2 + 10 + 11 + 12)
    assert (summary.run.children.completed, summary.run.children.failed) == (8, 0)


@pytest.mark.slow
async def test_where_nothing_failed_there_is_nothing_to_retry(rig: Rig) -> None:
    await rig.start("squares:many", n=2, trace=str(rig.trace))
    await rig.ended()
    monitor = await rig.monitor()
    with pytest.raises(UserMistake, match="nothing has failed"):
        await monitor.retry(rig.run_id)
    assert (await monitor.status(rig.run_id)).run.status == "completed"

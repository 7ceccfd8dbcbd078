"""Programs as stages, what they leave behind, retries, sleeps and logs."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from poolboard.engine.identity import ProcessIdentity
from tests.engine.rig import Rig, kill, try_resume


def living(file: Path) -> list[int]:
    pids = [int(word) for word in file.read_text().split()] if file.exists() else []
    return [pid for pid in pids if ProcessIdentity.of(pid) is not None]


async def until_living(file: Path, count: int) -> list[int]:
    async with asyncio.timeout(60):
        while len(living(file)) < count:
            await asyncio.sleep(0.05)
    return living(file)


async def until_started(file: Path, count: int) -> None:
    async with asyncio.timeout(60):
        while len(file.read_text().split()) < count:
            await asyncio.sleep(0.01)


async def until_none(file: Path) -> None:
    async with asyncio.timeout(60):
        while living(file):
            await asyncio.sleep(0.05)


async def test_programs_return_their_output_and_fail_with_a_reason(rig: Rig) -> None:
    await rig.start("programs:programs")
    summary = await rig.ended()
    assert summary.run.result is not None, summary.run.error
    told = json.loads(summary.run.result)
    assert told[:3] == ["hello you", "1", str(len("S3CR-77-VALUE"))]
    assert told[3] == "CommandFailed: exit code 3"
    assert told[4].startswith("FileNotFoundError: ") and "/no/such/program" in told[4]
    assert told[5] == "TimeoutError: took longer than 0.3 s"
    assert told[6] == "CommandFailed: ended by SIGKILL"


async def test_what_a_program_leaves_behind_never_outlives_its_worker(rig: Rig, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    await rig.start("programs:orphan_maker", workers=1, slots=1, pids=str(pids))
    before = await until_living(pids, 2)
    summary = await rig.until(lambda s: bool(s.workers))
    await kill(summary.workers[0].pid)
    await until_started(pids, 4)
    assert not set(before) & set(living(pids)), "the next attempt began while the old one's processes ran"
    monitor = await rig.monitor()
    await monitor.stop(rig.run_id, now=True)
    await rig.until(lambda s: s.run.status == "stopped")
    await until_none(pids)


async def test_after_everything_was_killed_the_strays_are_ended_before_work_is_given_out(
    rig: Rig, tmp_path: Path
) -> None:
    """C4: processes of user code outlive worker and coordinator, until somebody resumes."""
    pids = tmp_path / "pids"
    await rig.start("programs:own_children", workers=1, slots=1, pids=str(pids))
    before = await until_living(pids, 1)
    await kill(*rig.pids())
    assert living(pids) == before
    await try_resume(rig)
    await until_started(pids, 2)
    assert not set(before) & set(living(pids))
    monitor = await rig.monitor()
    await monitor.stop(rig.run_id, now=True)
    await rig.until(lambda s: s.run.status == "stopped")
    await until_none(pids)


@pytest.mark.slow
async def test_a_stage_is_tried_again_as_often_as_it_asks(rig: Rig, tmp_path: Path) -> None:
    await rig.start("programs:retried", counter=str(tmp_path / "counter"))
    summary = await rig.ended()
    assert summary.run.result == "3"
    assert [(stage.done, stage.failed) for stage in summary.stages] == [(1, 0)]
    monitor = await rig.monitor()
    root = await monitor.child(rig.run_id, 0)
    assert [(tried.attempt, tried.ok) for tried in root.stages] == [(1, False), (2, False), (3, True)]
    log = (await monitor.read_log(root.logs[0].path)).decode()
    assert "try 1\n[poolboard: try 1 failed: OSError: not yet; next try in" in log


async def test_sync_stages_that_take_too_long_are_given_up_and_their_workers_replaced(rig: Rig) -> None:
    """A thread cannot be ended: its worker is, and the runs beside it lose no start."""
    await rig.start("programs:many_stuck", workers=1, slots=2, n=48)
    summary = await rig.ended()
    assert summary.run.result is not None
    told = json.loads(summary.run.result)
    assert [text for i, text in enumerate(told) if i % 4] == ["fine"] * 36
    assert set(told[::4]) == {"stage stuck: TimeoutError: took longer than 0.3 s"}
    reader = await rig.rows()
    rows = await reader.work_page(1, 0, 100)
    assert {row.starts for row in rows} == {1}
    assert len({row.worker for row in rows}) > 1, "the worker was replaced"
    await reader.close()


async def test_sleeping_children_hold_no_slot(rig: Rig) -> None:
    await rig.start("programs:naps", workers=1, slots=1, count=40, duration_s=2.0)
    summary = await rig.until(lambda s: s.run.children.waiting >= 30)
    assert summary.in_flight <= 1
    assert (await rig.ended()).run.result == "40"


@pytest.mark.slow
async def test_a_sleep_goes_on_where_it_was_after_a_kill(rig: Rig) -> None:
    await rig.start("programs:nap", workers=1, slots=1, duration_s=4.0)
    await rig.until(lambda s: any(stage.name == "sleep" and stage.done for stage in s.stages))
    await asyncio.sleep(1.5)
    await kill(*rig.pids())
    await try_resume(rig)
    summary = await rig.ended()
    assert summary.run.result is not None
    assert 0 <= float(summary.run.result) < 3.5, "only what was left of it is slept again"


@pytest.mark.slow
async def test_what_is_printed_is_in_the_log_of_its_stage_byte_for_byte(rig: Rig) -> None:
    """B50 and B52, and prints that bypass Python are in the worker's own log."""
    await rig.start("programs:talker", workers=1)
    await rig.ended()
    monitor = await rig.monitor()
    root = await monitor.child(rig.run_id, 0)
    logs = {log.stage: await monitor.read_log(log.path) for log in root.logs}
    assert logs["run"] == b'outside {"count": 1}\n'
    assert logs["talk"] == b"from print\nto stderr\nno newline"
    assert logs["echo"] == b"from a program\n\xff\xfe"
    own = Path(root.logs[0].path).parents[3] / "workers"
    assert b"past Python" in b"".join(path.read_bytes() for path in own.iterdir())

"""Hooks: what is run when a run ends, what it is told, and that it is run at most once for each end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
from pathlib import Path

import pytest

from poolboard.engine.folder import RunFolder
from poolboard.journal.reader import Reader
from tests.engine.rig import PATIENCE_S, Rig


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let every hook add what it is told to a file; return that file."""
    path = tmp_path / "told"
    for name in ("COMPLETE", "FAILURE", "BLOCKED"):
        monkeypatch.setenv(f"POOLBOARD_ON_{name}", f"cat >> '{path}'; echo heard")
    return path


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


async def there(path: Path) -> None:
    """Return once a file is there."""
    async with asyncio.timeout(PATIENCE_S):
        while not path.exists():
            await asyncio.sleep(0.02)


async def due(rig: Rig) -> list[str]:
    """Return the hooks that the journal says were due."""
    reader = await Reader.open(rig.journal)
    try:
        row = await reader.run(rig.run_id)
        return [
            json.loads(entry.event.payload)["hook"]
            for entry in await reader.events(row.number, 0, 500)
            if entry.event.type == "HookDue"
        ]
    finally:
        await reader.close()


@pytest.mark.parametrize(
    ("how", "hook", "status"),
    [("", "on_complete", "completed"), ("failed", "on_failure", "failed"), ("blocked", "on_blocked", "blocked")],
)
async def test_a_run_that_ends_tells_its_hook_how(rig: Rig, told: Path, how: str, hook: str, status: str) -> None:
    await rig.start("endings:ending", how=how)
    summary = await rig.until(lambda s: s.run.status == status)
    await rig.gone()
    (message,) = lines(told)
    assert (message["version"], message["hook"], message["run_id"]) == (1, hook, rig.run_id)
    assert (message["status"], message["name"], message["journal"]) == (status, "ending", str(rig.journal))
    assert message["result_json"] == ("7" if status == "completed" else None)
    assert message["error"] == summary.run.error
    assert message["resumable"] is (status == "blocked")
    output = RunFolder.of(rig.run_id).path / "hooks" / f"{hook}.1.log"
    assert output.read_text() == "heard\n"
    assert stat.S_IMODE(output.stat().st_mode) == 0o600 and stat.S_IMODE(output.parent.stat().st_mode) == 0o700
    assert await due(rig) == [hook]
    assert (await (await rig.monitor()).status(rig.run_id)).alerts == ()


@pytest.mark.slow
async def test_a_stopped_or_cancelled_run_has_no_hook(rig: Rig, told: Path, tmp_path: Path) -> None:
    await rig.start("squares:many", n=40, trace=str(rig.trace), delay_s=0.1)
    await rig.completed(1)
    monitor = await rig.monitor()
    await monitor.stop(rig.run_id, now=True)
    await rig.until(lambda s: s.run.status == "stopped")
    await rig.gone()
    await monitor.cancel(rig.run_id)
    await rig.ended()
    assert lines(told) == [] and await due(rig) == []


@pytest.mark.slow
async def test_each_end_of_a_run_that_is_retried_has_its_hook_once(rig: Rig, told: Path, tmp_path: Path) -> None:
    mended = tmp_path / "mended"
    await rig.start("endings:ending", how="mended", path=str(mended))
    await rig.ended()
    await (await rig.monitor()).retry(rig.run_id)
    await rig.ended()
    mended.touch()
    await (await rig.monitor()).retry(rig.run_id)
    await rig.ended()
    assert [message["hook"] for message in lines(told)] == ["on_failure", "on_failure", "on_complete"]
    assert await due(rig) == ["on_failure", "on_failure", "on_complete"]


@pytest.mark.slow
async def test_a_hook_that_fails_is_told_and_the_run_is_as_it_was(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POOLBOARD_ON_COMPLETE", "echo no luck; exit 3")
    await rig.start("endings:ending", how="")
    await rig.ended()
    summary = await (await rig.monitor()).status(rig.run_id)
    (alert,) = summary.alerts
    assert summary.run.status == "completed" and summary.run.result == "7"
    assert alert.startswith("the hook on_complete failed: exit code 3; what it wrote: ")
    assert Path(alert.rpartition(": ")[2]).read_text() == "no luck\n"


@pytest.mark.slow
async def test_a_hook_that_takes_too_long_is_ended_with_all_that_it_started(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POOLBOARD_ON_COMPLETE", f"sleep 600 & echo $! > '{tmp_path}/pid'; wait")
    monkeypatch.setenv("POOLBOARD_HOOK_LIMIT_S", "2")
    await rig.start("endings:ending", how="")
    await rig.ended()
    (alert,) = (await (await rig.monitor()).status(rig.run_id)).alerts
    assert "ended after 2 s, its limit" in alert
    pid = int((tmp_path / "pid").read_text())
    assert not Path(f"/proc/{pid}").exists() or "sleep" not in Path(f"/proc/{pid}/cmdline").read_text()


@pytest.mark.slow
async def test_what_a_hook_writes_is_kept_up_to_a_limit_and_never_holds_it_up(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POOLBOARD_ON_COMPLETE", f"head -c 3000000 /dev/zero; touch '{tmp_path}/through'")
    await rig.start("endings:ending", how="")
    await rig.ended()
    assert (tmp_path / "through").exists()
    kept = (RunFolder.of(rig.run_id).path / "hooks" / "on_complete.1.log").read_bytes()
    assert len(kept) < 1_100_000 and kept.endswith(b"[the rest is cut off]\n")


@pytest.mark.slow
async def test_a_coordinator_killed_before_it_starts_the_hook_leaves_it_unfired_for_ever(
    rig: Rig, told: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """1. The end is recorded, and that a hook is due. 2. SIGKILL. 3. Nobody starts that one any more."""
    monkeypatch.setenv("POOLBOARD_FAULT", "coordinator:hook due")
    mended = tmp_path / "mended"
    await rig.start("endings:ending", how="mended", path=str(mended))
    await rig.ended()
    assert lines(told) == [] and await due(rig) == ["on_failure"]
    monkeypatch.delenv("POOLBOARD_FAULT")
    mended.touch()
    await (await rig.monitor()).retry(rig.run_id)
    await rig.ended()
    assert [message["hook"] for message in lines(told)] == ["on_complete"]
    assert await due(rig) == ["on_failure", "on_complete"]


@pytest.mark.slow
async def test_a_coordinator_killed_while_the_hook_runs_says_so_and_nobody_starts_it_again(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, gate = tmp_path / "begun", tmp_path / "gate"
    monkeypatch.setenv("POOLBOARD_ON_COMPLETE", f"echo x >> '{begun}'; until [ -e '{gate}' ]; do sleep 0.02; done")
    await rig.start("endings:ending", how="")
    await there(begun)
    (pid,) = rig.pids()
    os.kill(pid, signal.SIGKILL)
    await rig.gone()
    gate.touch()
    (alert,) = (await (await rig.monitor()).status(rig.run_id)).alerts
    assert alert == "the hook on_complete was cut off; it is not started again"
    assert begun.read_text() == "x\n"


@pytest.mark.slow
async def test_a_hook_that_still_runs_holds_up_nobody_who_goes_on_with_the_run(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, gate, mended = tmp_path / "begun", tmp_path / "gate", tmp_path / "mended"
    monkeypatch.setenv("POOLBOARD_ON_FAILURE", f"echo x >> '{begun}'; until [ -e '{gate}' ]; do sleep 0.02; done")
    await rig.start("endings:ending", how="mended", path=str(mended))
    await there(begun)
    mended.touch()
    async with asyncio.timeout(60):
        await (await rig.monitor()).retry(rig.run_id)
        await rig.until(lambda s: s.run.status == "completed")
    gate.touch()
    await rig.gone()

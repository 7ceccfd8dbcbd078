"""A run whose journal cannot be written: it says why, loses nothing, and goes on when the cause is gone."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from poolboard.journal.driver import connect_plain
from tests.engine.rig import Rig, try_resume

SMALL, LARGE = "size=3m", "size=200m"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Return a folder on a file system of 3 MB of its own; only root may make one."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a small file system")
    folder = tmp_path / "disk"
    folder.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", SMALL, "tmpfs", str(folder)], capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"no file system can be mounted here: {made.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def enlarge(disk: Path) -> None:
    subprocess.run(["mount", "-o", f"remount,{LARGE}", str(disk)], check=True)


async def test_a_journal_that_another_process_holds_is_told_and_waited_for(rig: Rig) -> None:
    """B04: an outside transaction holds the lock for some seconds; nothing fails, nothing is started twice."""
    await rig.start("squares:many", n=40, trace=str(rig.trace), delay_s=0.02)
    await rig.completed(2)
    held = connect_plain(rig.journal)
    held.execute("BEGIN IMMEDIATE")
    try:
        shown = await rig.until(lambda s: any("journal busy" in alert for alert in s.alerts))
        assert shown.run.status == "running"
    finally:
        held.execute("ROLLBACK")
        held.close()
    summary = await rig.ended()
    assert (summary.run.result, summary.run.children.failed) == ("20540", 0)
    assert len(rig.traces()) == 40


async def test_a_full_disk_stops_the_run_with_its_reason_and_it_goes_on_once_there_is_room(
    rig: Rig, small_disk: Path
) -> None:
    """B67, P8."""
    rig.journal = small_disk / "journal.sqlite"
    await rig.start("large:many", n=120, size_bytes=60_000, delay_s=0.01)
    shown = await rig.until(lambda s: s.run.status == "crashed" and bool(s.alerts))
    assert any("full" in alert or "I/O" in alert for alert in shown.alerts), shown.alerts
    assert str(rig.journal) in " ".join(shown.alerts)
    await rig.gone()
    completed = shown.run.children.completed
    reader = await rig.rows()
    for n in range(1, 121):
        if (await reader.work(1, n)).state == "completed":
            assert (await reader.results(1, [n]))[n][1] is not None, "what is done can be read"
    await reader.close()
    enlarge(small_disk)
    await try_resume(rig)
    summary = await rig.ended()
    assert summary.run.result == str(120 * 60_000)
    assert summary.run.children.completed == 120 >= completed

"""A run whose journal cannot be written: it says why, loses nothing, and goes on when the cause is gone."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from poolboard.engine import launch
from poolboard.engine.errors import CoordinatorGone
from poolboard.engine.intent import Errand
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


@pytest.mark.slow
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


class Store:
    """A folder that goes away around the start of a coordinator, and comes back."""

    def __init__(self, rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.away = rig.folder / "store", rig.folder / "away"
        self.folder.mkdir()
        self.rig, self.monkeypatch = rig, monkeypatch
        rig.journal = self.folder / "journal.sqlite"

    async def start(self, *, gone_before: bool) -> None:
        """Start a run whose journal's folder goes away once it is recorded: before its coordinator, or right after."""
        whole = launch.start_coordinator

        async def start(journal: Path, run_id: str, folder: str, errand: Errand, *begun: Any) -> None:
            self.rig.run_id = run_id
            await self.rig.monitor()  # somebody looks on
            if gone_before:
                self.folder.rename(self.away)
            await whole(journal, run_id, folder, errand, *begun)
            self.folder.rename(self.away)

        with self.monkeypatch.context() as patched:
            patched.setattr(launch, "start_coordinator", start)
            await self.rig.start("squares:many", n=20, trace=str(self.rig.trace))

    async def come_back(self) -> None:
        """Bring the folder back and resume the run: it does everything, and everything once."""
        self.away.rename(self.folder)
        await try_resume(self.rig)
        summary = await self.rig.ended()
        assert (summary.run.status, summary.run.result) == ("completed", "2470")
        assert len(self.rig.traces()) == len(set(self.rig.traces())) == 20


async def test_a_store_that_goes_away_before_the_coordinator_is_told_at_once_and_the_run_is_there_afterwards(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B05: accepted, and then no store: no run that is shown as running, and no retry for ever."""
    store = Store(rig, monkeypatch)
    with pytest.raises(CoordinatorGone, match=f"no folder {store.folder} for the journal"):
        await store.start(gone_before=True)
    await rig.gone()
    run = (await (await rig.monitor()).status(rig.run_id)).run
    assert (run.status, run.resumable, run.children.total) == ("pending", True, 0)
    await store.come_back()


@pytest.mark.slow
async def test_a_store_that_goes_away_before_the_first_child_blocks_the_run_with_its_reason(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B05: its workers find no journal; the coordinator gives up and says so."""
    store = Store(rig, monkeypatch)
    await store.start(gone_before=False)
    summary = await rig.until(lambda s: s.run.status == "blocked")
    assert summary.run.resumable and summary.run.children.completed == 0
    assert f"poolboard: no journal at {rig.journal}" in (summary.run.error or "")
    await rig.gone()
    await store.come_back()


@pytest.mark.slow
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

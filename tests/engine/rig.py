"""Drives real runs for tests: starts them, waits for facts, kills processes, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from poolboard.engine.errors import CoordinatorGone
from poolboard.engine.launch import RunRequest, start_run
from poolboard.engine.monitor import Monitor
from poolboard.engine.views import Summary
from poolboard.journal.reader import Reader

WORKFLOWS = Path(__file__).parent / "workflows"
#: A bound, not an expectation: a test that needs it has failed.
PATIENCE_S = 90.0


class Rig:
    """One journal, its runs, and the processes that this test started."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.journal = folder / "journal.sqlite"
        self.trace = folder / "trace.txt"
        self.run_id = ""
        self._monitor: Monitor | None = None

    async def start(
        self,
        target: str,
        workers: int = 2,
        slots: int = 2,
        lease_s: float = 30.0,
        limits: Mapping[str, int | str] | None = None,
        grace_s: float = 10.0,
        **inputs: Any,
    ) -> str:
        """Start a run of ``file:workflow`` from the workflows folder."""
        file, _, name = target.partition(":")
        request = RunRequest(
            f"{WORKFLOWS / file}.py:{name}",
            inputs,
            str(self.journal),
            workers,
            slots,
            lease_s=lease_s,
            limits=limits or {},
            grace_s=grace_s,
        )
        self.run_id = await start_run(request)
        return self.run_id

    async def monitor(self) -> Monitor:
        """Return the door, opened once."""
        if self._monitor is None:
            self._monitor = await Monitor.open(str(self.journal))
        return self._monitor

    async def until(self, holds: Callable[[Summary], bool]) -> Summary:
        """Return the first summary for which something holds."""
        monitor = await self.monitor()
        async with asyncio.timeout(PATIENCE_S):
            async for summary in monitor.follow(self.run_id, interval_s=0.02):
                if holds(summary):
                    return summary
        raise AssertionError("follow never ends")

    async def ended(self) -> Summary:
        """Return the last summary of a run that has ended, once its processes are gone too."""
        summary = await self.until(lambda s: s.run.ended_at is not None)
        await self.gone()
        return summary

    async def completed(self, count: int) -> Summary:
        """Return a summary with at least so many completed children and workers at work."""
        return await self.until(lambda s: s.run.children.completed >= count and (bool(s.workers) or ended(s)))

    def pids(self) -> list[int]:
        """Return the coordinators and workers of this journal's runs that live now."""
        return [pid for pid, words in self._alive() if "poolboard.engine" in words]

    def commands(self) -> list[int]:
        """Return what else its runs started and what lives now: commands, and what those started."""
        return [pid for pid, words in self._alive() if "poolboard" not in words and pid != os.getpid()]

    def _alive(self) -> list[tuple[int, str]]:
        found = []
        for process in psutil.process_iter(["pid", "environ", "cmdline", "status"]):
            info = process.info
            ours = (info["environ"] or {}).get("POOLBOARD_TEST_RIG") == str(self.folder)
            if ours and info["status"] != psutil.STATUS_ZOMBIE:
                found.append((info["pid"], " ".join(info["cmdline"] or [])))
        return found

    async def gone(self) -> None:
        """Return when no process of this journal's runs lives any more."""
        async with asyncio.timeout(PATIENCE_S):
            while self.pids():
                await asyncio.sleep(0.05)

    async def resume(self) -> None:
        """Go on with the run, as ``poolboard resume`` does."""
        await (await self.monitor()).resume(self.run_id)

    async def rows(self) -> Reader:
        """Return a reader of the journal."""
        return await Reader.open(self.journal)

    def traces(self) -> list[str]:
        """Return the effects so far, in order."""
        return self.trace.read_text().split() if self.trace.exists() else []

    async def close(self) -> None:
        """End what is left."""
        for pid in self.pids():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if self._monitor is not None:
            await self._monitor.close()


def ended(summary: Summary) -> bool:
    """Whether the run has ended."""
    return summary.run.ended_at is not None


async def kill(*pids: int | None) -> None:
    """SIGKILL processes and return when they are gone."""
    alive = [pid for pid in pids if pid is not None]
    for pid in alive:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    until = time.monotonic() + 10
    while time.monotonic() < until and any(_runs(pid) for pid in alive):
        await asyncio.sleep(0.005)


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def try_resume(rig: Rig) -> None:
    """Resume, again while the old coordinator is still on its way out."""
    for _ in range(50):
        try:
            await rig.resume()
            return
        except CoordinatorGone:
            await asyncio.sleep(0.1)
    await rig.resume()

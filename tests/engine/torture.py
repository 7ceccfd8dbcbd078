"""Kills the processes of real runs at random moments and at named fault points, and sees to it that each goes on."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import pty
import random
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from poolboard.engine.errors import RunElsewhere
from poolboard.engine.views import Summary
from tests.engine.rig import Rig, kill
from tests.engine.rig import try_resume as resume_at_once

from .verdict import Verdict, recorded

COUNT, STEPS = 240, 2  # enough to last for ten kills
KILLS_A_RUN = 10

#: Where a process kills itself, and the turns at which: before the first one here a run would not have begun.
POINTS = {
    "coordinator:journal.begun": (9, 40),
    "coordinator:journal.committed": (9, 40),
    "coordinator:coordinator.claimed": (1, 40),
    "coordinator:coordinator.committed": (1, 60),
    "coordinator:coordinator.enqueued": (1, 2),
    "coordinator:coordinator.ended": (1, 60),
    "worker:worker.computed": (1, 60),
    "worker:worker.recorded": (1, 60),
    "worker:worker.returned": (1, 60),
}
VICTIMS = ("worker", "worker", "coordinator", "coordinator", "all", "point", "point", "screen")


class Screen:
    """A dashboard in a terminal of its own, looking at the run; it brings a crashed coordinator back, as screens do."""

    def __init__(self, rig: Rig) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        words = [sys.executable, "-m", "poolboard", "watch", rig.run_id, "--journal", str(rig.journal)]
        given = {**os.environ, "TERM": "xterm-256color"}
        self.process = subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, env=given)
        os.close(theirs)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        with suppress(OSError):  # how a terminal says that the other end has gone
            while os.read(self._ours, 65536):
                pass
        os.close(self._ours)

    def end(self) -> None:
        """SIGKILL it."""
        self.process.kill()
        self.process.wait(timeout=30)


class Torturer:
    """Kills in one run after the other, and keeps the verdict."""

    def __init__(self, rig: Rig, screens: bool) -> None:
        self.verdict = Verdict()
        self._rig = rig
        self._victims = VICTIMS if screens else tuple(victim for victim in VICTIMS if victim != "screen")
        self._screen: Screen | None = None

    async def until(self, kills: int) -> Verdict:
        """Kill so many and return what was found."""
        while self.verdict.total < kills:
            await self._one_run(min(KILLS_A_RUN, kills - self.verdict.total))
        return self.verdict

    async def _one_run(self, kills: int) -> None:
        rig = self._rig
        rig.trace.unlink(missing_ok=True)
        with armed(random.random() < 0.5) as point:
            await rig.start("torture:all_of_it", workers=2, slots=3, count=COUNT, steps=STEPS, trace=str(rig.trace))
        self.verdict.runs += 1
        enough = self.verdict.total + kills
        while self.verdict.total < enough:
            await asyncio.sleep(random.uniform(0.0, 0.35))
            summary = await (await rig.monitor()).status(rig.run_id)
            if summary.run.ended_at is not None:
                break
            if summary.coordinator.alive:
                await self._kill_somebody(summary)
            else:
                if point.startswith("coordinator"):
                    self.verdict.killed(point)
                    point = ""
                await try_resume(rig)
        await self._check()
        if self._screen is not None:
            self._screen.end()
            self._screen = None

    async def _kill_somebody(self, summary: Summary) -> None:
        """End one process, or all, and see to it that the run goes on."""
        rig = self._rig
        victim = random.choice(self._victims)
        workers = [worker.pid for worker in summary.workers]
        if victim == "screen":
            return self._kill_screen()
        if victim == "point":
            return await self._die_at_a_point(summary)
        if victim == "worker" and workers:
            await kill(random.choice(workers))
        elif victim == "coordinator":
            await kill(summary.coordinator.pid)
            await asyncio.sleep(random.choice([0.0, 0.0, random.uniform(0.0, 0.5)]))
            await try_resume(rig)
        else:
            await kill(*rig.pids())
            await try_resume(rig)
        self.verdict.killed(victim)

    def _kill_screen(self) -> None:
        """Kill the screen if one looks on; if none does, let one."""
        if self._screen is None:
            self._screen = Screen(self._rig)
            return
        self._screen.end()
        self._screen = None
        self.verdict.killed("screen")

    async def _die_at_a_point(self, summary: Summary) -> None:
        """Replace the coordinator by one that dies, or whose new workers die, at a named point."""
        rig = self._rig
        await kill(*rig.pids())
        with armed(True) as point:
            await try_resume(rig)
        self.verdict.killed("all")
        await rig.until(has_workers)
        with suppress(TimeoutError):
            async with asyncio.timeout(2.0):
                await rig.until(lambda s: has_ended(s) or is_struck(s, point))
        shown = await rig.until(lambda _: True)
        if not has_ended(shown) and is_struck(shown, point):
            self.verdict.killed(point)
        await kill(shown.coordinator.pid)  # its successor, and what that starts, is armed no more
        await try_resume(rig)

    async def _check(self) -> None:
        rig, verdict = self._rig, self.verdict
        try:
            summary = await rig.ended()
        except TimeoutError:
            shown = await (await rig.monitor()).status(rig.run_id)
            verdict.stuck.append(f"{rig.run_id}: {shown.run.status} {shown.run.children}")
            verdict.left += [f"{rig.run_id}: process {pid}" for pid in rig.pids()]
            await kill(*rig.pids())
            return
        verdict.left += [f"{rig.run_id}: command {pid}" for pid in rig.commands()]
        reader = await rig.rows()
        found = await recorded(reader, rig.run_id)
        await reader.close()
        verdict.take(rig.trace.read_text().splitlines(), found.at_ms)
        alive = COUNT - len(found.unlucky)
        assert len(found.at_ms) >= STEPS * alive, "every completed child has recorded all its stages"
        assert summary.run.result is not None, (summary.run.status, summary.run.error)
        assert len(json.loads(summary.run.result)) == alive


async def try_resume(rig: Rig) -> None:
    """Resume, unless an attached screen was faster."""
    with suppress(RunElsewhere):
        await resume_at_once(rig)


@contextmanager
def armed(wanted: bool) -> Iterator[str]:
    """Let the processes started meanwhile die at some point; yields which, empty for none."""
    if not wanted:
        yield ""
        return
    point = random.choice(list(POINTS))
    os.environ["POOLBOARD_FAULT"] = f"{point}:{random.randint(*POINTS[point])}"
    try:
        yield point
    finally:
        del os.environ["POOLBOARD_FAULT"]


def has_workers(summary: Summary) -> bool:
    return bool(summary.workers) or not summary.coordinator.alive


def has_ended(summary: Summary) -> bool:
    return summary.run.ended_at is not None


def is_struck(summary: Summary, point: str) -> bool:
    """Whether somebody died at the point."""
    if point.startswith("coordinator"):
        return not summary.coordinator.alive
    return any(worker.restarts for worker in summary.workers)

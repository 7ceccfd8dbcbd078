"""What a shell command on the pool costs, beside GNU parallel with a job log, in the same minutes.

parallel keeps no journal and survives no kill; it is what a person would take instead, so it is the measure.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import psutil

from poolboard.engine.folder import RunFolder

from . import budget
from .figure import Figure, Section, Unmeasured
from .scene import Scene, scene
from .usage import MIB

JOBS: Final = 2
PIPE_ITEMS: Final = 100_000
PATIENCE_S: Final = 900.0
POLL_S: Final = 0.02


class Pass(NamedTuple):
    """One list of commands run: how long it took, the CPU of all processes, the peak of the reader and coordinator."""

    elapsed_s: float
    cpu_s: float
    peak_mib: float


async def measure(items: int | None = None, rounds: int = 3, many: int | None = None, few: int = 1_000) -> Section:
    """Return the figures; those of parallel are left out where it is not installed. FULL=1 takes longer lists."""
    items = items or (2_000 if budget.is_full() else 600)
    many = many or (20_000 if budget.is_full() else 5_000)
    parallel = shutil.which("parallel")
    ours: list[Pass] = []
    theirs: list[Pass] = []
    firsts: list[float] = []
    for _ in range(rounds):
        ours.append(await _each(items))
        if parallel is not None:
            theirs.append(await asyncio.to_thread(_parallel, parallel, items))
        firsts.append(await _first())
    small, large = await _each(few), await _each(many)
    figures = [
        Figure("each true", "items per second", tuple(items / one.elapsed_s for one in ours)),
        Figure("each true, CPU of all processes", "ms per item", tuple(1000 * one.cpu_s / items for one in ours)),
        Figure(f"first command of a pipe of {PIPE_ITEMS:,} lines", "s", tuple(firsts)),
        Figure(f"memory of reader and coordinator, {few:,} items", "MiB", (small.peak_mib,)),
        Figure(f"memory of reader and coordinator, {many:,} items", "MiB", (large.peak_mib,)),
        Figure(f"memory, {many:,} / {few:,} items", "ratio", (large.peak_mib / small.peak_mib,)),
    ]
    if theirs:
        pairs = list(zip(ours, theirs, strict=True))
        figures[2:2] = [
            Figure("parallel --joblog true", "items per second", tuple(items / one.elapsed_s for one in theirs)),
            Figure("parallel, CPU of all processes", "ms per item", tuple(1000 * one.cpu_s / items for one in theirs)),
            Figure("each / parallel, items per second", "ratio", tuple(b.elapsed_s / a.elapsed_s for a, b in pairs)),
            Figure("each / parallel, CPU", "ratio", tuple(a.cpu_s / b.cpu_s for a, b in pairs)),
        ]
    notes = ["from the start of the command to its end, start-up within; each journals every item with fsync"]
    if parallel is None:
        notes.append("GNU parallel is not installed here: nothing to compare with")
    return Section("each", f"true over {items:,} items, {JOBS} at once", tuple(figures), tuple(notes))


async def _each(items: int) -> Pass:
    """Run the list through ``poolboard each`` and watch its processes from outside."""
    with scene() as here:
        started_s = time.perf_counter()
        process = _spawn(here, ["-j", str(JOBS), "-q", "--joblog", str(here.folder / "jobs.log"), "true {}"], items)
        reader, watched = psutil.Process(process.pid), _Watched()
        until = time.monotonic() + PATIENCE_S
        while process.poll() is None:
            if time.monotonic() > until:
                raise Unmeasured(f"each went on for more than {PATIENCE_S:.0f} s")
            watched.look(reader, here)
            await asyncio.sleep(POLL_S)
        elapsed_s = time.perf_counter() - started_s
        if process.returncode != 0:
            raise Unmeasured(f"each ended with {process.returncode}")
        return Pass(elapsed_s, watched.cpu_s, watched.peak_mib)


class _Watched:
    """What the reader, the coordinator and the workers used, the commands that they waited for included."""

    def __init__(self) -> None:
        self._cpu_s: dict[int, float] = {}
        self._peak_bytes: dict[int, int] = {}
        self._coordinator: psutil.Process | None = None

    def look(self, reader: psutil.Process, here: Scene) -> None:
        """Take a sample."""
        self._add(reader, memory=True)
        with suppress(psutil.Error):
            if self._coordinator is None:
                for folder in (Path(here.environment["XDG_STATE_HOME"]) / "poolboard" / "runs").glob("*"):
                    if (told := RunFolder(folder).read_coordinator()) is not None:
                        self._coordinator = psutil.Process(told.identity.pid)
            if self._coordinator is not None:
                self._add(self._coordinator, memory=True)
                for worker in self._coordinator.children():
                    self._add(worker, memory=False)

    def _add(self, process: psutil.Process, *, memory: bool) -> None:
        with suppress(psutil.Error):
            times = process.cpu_times()
            own = process.pid
            # The coordinator's reaped children are workers, which are counted themselves.
            reaped = 0.0 if memory else times.children_user + times.children_system
            self._cpu_s[own] = times.user + times.system + reaped
            if memory:
                self._peak_bytes[own] = max(self._peak_bytes.get(own, 0), process.memory_info().rss)

    @property
    def cpu_s(self) -> float:
        """All of it together."""
        return sum(self._cpu_s.values())

    @property
    def peak_mib(self) -> float:
        """The peaks of reader and coordinator together."""
        if len(self._peak_bytes) < 2:
            raise Unmeasured("memory: the coordinator was not seen")
        return sum(self._peak_bytes.values()) / MIB


def _parallel(program: str, items: int) -> Pass:
    with scene() as here:
        before = os.times()
        started_s = time.perf_counter()
        done = subprocess.run(
            [program, "-j", str(JOBS), "--joblog", str(here.folder / "jobs.log"), "true {}"],
            input="".join(f"{n}\n" for n in range(items)).encode(),
            env={**here.environment, "HOME": str(here.folder)},
            capture_output=True,
            timeout=PATIENCE_S,
        )
        elapsed_s = time.perf_counter() - started_s
        after = os.times()
        if done.returncode != 0:
            raise Unmeasured(f"parallel ended with {done.returncode}: {done.stderr[-200:].decode(errors='replace')}")
        cpu_s = after.children_user + after.children_system - before.children_user - before.children_system
        return Pass(elapsed_s, cpu_s, 0.0)


async def _first() -> float:
    """Return seconds from the start of the command to the first thing that a command of a long list did."""
    with scene() as here:
        mark = here.folder / "first"
        started_at_s = time.time()
        process = _spawn(here, ["-j", str(JOBS), "-q", f"test -e {mark} || touch {mark}; : {{}}"], PIPE_ITEMS)
        until = time.monotonic() + PATIENCE_S
        while not mark.exists():
            if time.monotonic() > until or process.poll() is not None:
                raise Unmeasured("first command: it never ran")
            await asyncio.sleep(POLL_S)
        return mark.stat().st_mtime - started_at_s


def _spawn(here: Scene, words: list[str], items: int) -> subprocess.Popen[bytes]:
    """Start ``poolboard each`` with a list on its standard input, which is a file: nobody has to feed it."""
    listed = here.folder / "items.txt"
    listed.write_text("".join(f"{n}\n" for n in range(items)))
    command = here.words("each")
    options = ["--journal", str(here.journal)]
    with listed.open("rb") as source, (here.folder / "stderr.txt").open("ab") as errors:
        process = subprocess.Popen(
            [*command[: command.index("--journal")], *options, *words],
            stdin=source,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=here.environment,
        )
    here.own(process)
    return process

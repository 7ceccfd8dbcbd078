"""``python -m tests.bench.profile``: what coordinator, worker and screen compute under load, written to PROFILE.md.

With py-spy (all threads, nothing slower) where it is installed and may look at them, else with cProfile (main threads
only, and everything slower). Then the way of one child, from enqueue to painted row.
"""

from __future__ import annotations

import asyncio
import os
import pstats
import re
import shutil
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from poolboard.engine.folder import RunFolder

from . import machine, path, report
from .executor import WORKERS
from .figure import Grid, Section, Unmeasured
from .pool import SLOTS
from .scene import NOOP, PATIENCE_S, Scene, scene
from .terminal import Terminal

PAGE: Final = Path(__file__).parent / "PROFILE.md"
ROLES: Final = ("coordinator", "worker", "screen")
CHILDREN: Final = 4_000
RATE: Final = 200
SHOWN: Final = 14
#: Where a thread stands that has nothing to do.
_WAITS: Final = re.compile(r"\bselect\b|\bpoll\b|\bwait\b|_wait\b|acquire|Threads\._work")


@dataclass(frozen=True, slots=True)
class Cost:
    """A function and its share of what its process computed (its own lines, not those that it called)."""

    where: str
    share: float


def main() -> int:
    """Measure, print and write the page; 1 if something could not be measured."""
    before = machine.load1()
    try:
        tool = "py-spy" if _spy() else "cProfile"
        costs = _profiled(CHILDREN)
        way = asyncio.run(path.measure())
    except (Unmeasured, OSError) as error:
        print(f"profile: not measured: {error}", file=sys.stderr)
        return 1
    grids = tuple(_grid(role, costs[role]) for role in ROLES)
    about = f"{CHILDREN:,} no-op children on {WORKERS} workers x {SLOTS} slots under a dashboard, by {tool}"
    section = Section(
        "own time",
        about,
        (),
        (
            "own: in the function's own lines, not in what it calls; C functions count for who called them",
            "py-spy counts a thread that waits for the disk as busy: Writer._commit is mostly the fsync, not CPU",
            "cProfile counts start-up too, py-spy only the time under load",
        ),
        grids,
    )
    seen = machine.observe(before)
    for one in (section, way):
        print("\n".join(report.table(one)))
    PAGE.write_text(report.page(seen, [section, way], "make profile"), encoding="utf-8")
    return 0


def _spy() -> str | None:
    """Return py-spy, beside this interpreter or on the path."""
    beside = Path(sys.executable).with_name("py-spy")
    return str(beside) if beside.exists() else shutil.which("py-spy")


def _profiled(children: int) -> dict[str, list[Cost]]:
    with scene() as here:
        folder = here.folder / "profiles"
        folder.mkdir()
        spy = _spy()
        if spy is None:
            here.environment |= {"BENCH_CPROFILE": str(folder)}
            here.environment["PYTHONPATH"] = f"{path.HOOKS}:{here.environment['PYTHONPATH']}"
        size, gate = ["--workers", str(WORKERS), "--slots", str(SLOTS)], here.folder / "gate"
        inputs = ["--input", f"count={children}", "--input", f"gate={gate}"]
        terminal = Terminal(here, "run", f"{NOOP}:of_one_stage_at_a_sign", *inputs, *size)
        try:
            terminal.first_frames("opened", limit_s=PATIENCE_S)
            # All have started: what is seen from here on is what children cost, not what imports do.
            spies = [] if spy is None else _start_spies(spy, here, terminal.pid, folder)
            gate.touch()
            _until_done(terminal, f"{children:,} of {children:,}")
            _until_left(here)
        finally:
            terminal.close()
        for one in spies:
            one.wait(timeout=PATIENCE_S)
        found = _read_spied(folder) if spy else _read_cprofile(folder)
    missing = [role for role in ROLES if not found.get(role)]
    if missing:
        raise Unmeasured(f"no profile of {' and '.join(missing)}: may this user look into other processes?")
    return found


def _start_spies(spy: str, here: Scene, screen: int, folder: Path) -> list[subprocess.Popen[bytes]]:
    """Look at the screen, the coordinator and one worker."""
    until = time.monotonic() + PATIENCE_S
    pids: dict[str, int] = {"screen": screen}
    while len(pids) < len(ROLES):
        for found in (Path(here.environment["XDG_STATE_HOME"]) / "poolboard" / "runs").glob("*"):
            if (told := RunFolder(found).read_coordinator()) is not None:
                pids["coordinator"] = told.identity.pid
                with suppress(psutil.Error, IndexError):
                    pids["worker"] = psutil.Process(told.identity.pid).children()[0].pid
        if time.monotonic() > until:
            raise Unmeasured(f"profile: only {' and '.join(pids)} could be found")
        time.sleep(0.02)
    words = [spy, "record", "--nonblocking", "--format", "raw", "--rate", str(RATE), "--duration", str(int(PATIENCE_S))]
    return [
        subprocess.Popen(
            [*words, "--output", str(folder / f"{role}.raw"), "--pid", str(pid)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for role, pid in pids.items()
    ]


def _until_done(terminal: Terminal, total: str) -> None:
    until = time.monotonic() + PATIENCE_S
    while (left_s := until - time.monotonic()) > 0:
        frame = terminal.frame(left_s)
        if frame is not None and total in frame.text:
            return
    raise Unmeasured(f"profile: the screen did not show {total} within {PATIENCE_S:.0f} s")


def _until_left(here: Scene) -> None:
    """Wait until the coordinator has gone: its workers went before it."""
    until = time.monotonic() + PATIENCE_S
    for folder in (Path(here.environment["XDG_STATE_HOME"]) / "poolboard" / "runs").glob("*"):
        while (told := RunFolder(folder).read_coordinator()) is not None and told.identity.is_alive():
            if time.monotonic() > until:
                raise Unmeasured("profile: the coordinator did not end")
            time.sleep(0.05)


def _read_spied(folder: Path) -> dict[str, list[Cost]]:
    """Read ``frame;frame;frame count`` lines; the last frame is where it was."""
    found: dict[str, list[Cost]] = {}
    for role in ROLES:
        raw = folder / f"{role}.raw"
        own: Counter[str] = Counter()
        # A thread without a frame is not in Python; one that waits computes nothing.
        for line in raw.read_text().splitlines() if raw.exists() else []:
            stack, _, count = line.rpartition(" ")
            frame = stack.rpartition(";")[2]
            if frame and not _WAITS.search(frame):
                own[_shown(frame)] += int(count)
        found[role] = _shares(own.items())
    return found


def _shown(frame: str) -> str:
    """Return ``function (file)`` of a frame like ``function (poolboard/engine/pool.py:12)``."""
    name, _, where = frame.partition(" (")
    file = where.rstrip(")").rpartition(":")[0] or where.rstrip(")")
    return f"{name} ({_short(file)})"


def _short(file: str) -> str:
    """Return the last two parts of a file's path: no folder of this machine is told."""
    return "/".join(Path(file).parts[-2:])


def _read_cprofile(folder: Path) -> dict[str, list[Cost]]:
    own: dict[str, Counter[str]] = defaultdict(Counter)
    for one in folder.glob("*.pstats"):
        with suppress(TypeError, EOFError):  # a process that was killed left half a file
            stats: dict[tuple[str, int, str], tuple[int, int, float, float, object]]
            stats = pstats.Stats(str(one)).stats  # type: ignore[attr-defined]
            for (file, _, name), (_, _, own_s, _, _) in stats.items():
                if not _WAITS.search(name):
                    own[one.name.partition("-")[0]][f"{name} ({_short(file)})"] += round(1e6 * own_s)
    return {role: _shares(counted.items()) for role, counted in own.items()}


def _shares(own: Iterable[tuple[str, int]]) -> list[Cost]:
    costs = sorted(own, key=lambda cost: -cost[1])
    total = sum(count for _, count in costs) or 1
    return [Cost(where, count / total) for where, count in costs]


def _grid(role: str, costs: list[Cost]) -> Grid:
    rows = tuple((cost.where.replace("|", "/"), f"{100 * cost.share:.1f} %") for cost in costs[:SHOWN])
    return Grid(f"{role}: own time", ("function", "share"), rows)


if __name__ == "__main__":
    os.environ.pop("BENCH_CPROFILE", None)
    sys.exit(main())

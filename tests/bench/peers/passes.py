"""One pass: one system, one kind of work, once; and what it came to."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.bench.figure import Unmeasured

from .catalog import Peer
from .rig import CPU_ITEM_S, STEPS

ROOT: Final = Path(__file__).parent.parent.parent.parent
WORKERS: Final = 2
MIB: Final = 1024 * 1024
#: Two workers; sleeping items ask for a hundred at once.
WIDTHS: Final = {"noop": WORKERS, "steps": WORKERS, "cpu": WORKERS, "sleep": 100, "kill": WORKERS}
PATIENCE_S: Final = 300.0


@dataclass(frozen=True, slots=True)
class Pass:
    """What one pass came to. CPU seconds are of all processes, from the first item handed over to the last known."""

    kind: str
    count: int
    known: int
    took_s: float
    first_s: float
    cpu_s: float
    peak_bytes: int
    data_bytes: int
    processes: int
    ended: Counter[str]
    at_once: int

    @property
    def items_per_s(self) -> float:
        """Items a second, from the first handed over to the last result known."""
        return self.count / self.took_s

    @property
    def cpu_s_per_1000(self) -> float:
        """CPU seconds per 1,000 items."""
        return 1000 * self.cpu_s / self.count

    @property
    def bytes_per_item(self) -> float:
        """Bytes on disk per item, once all are done."""
        return self.data_bytes / self.count

    @property
    def of_ideal(self) -> float:
        """The share of the time that the items alone would take on two cores."""
        return self.count * CPU_ITEM_S / WORKERS / self.took_s

    @property
    def lost(self) -> int:
        """Items, or steps of them, that never came to their end."""
        return self.count * (STEPS if self.kind == "steps" else 1) - len(self.ended)

    @property
    def twice(self) -> int:
        """Items that came to their end more than once."""
        return sum(times > 1 for times in self.ended.values())


async def run(peer: Peer, python: Path, kind: str, count: int) -> Pass:
    """Run the peer's program in a folder of its own; raises Unmeasured if it did not do all the work."""
    with tempfile.TemporaryDirectory(prefix="pb-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        told = await _watched(peer, python, kind, count, folder)
        found = _pass(kind, count, told, _effects(folder))
        if kind != "kill" and (found.known, found.lost, found.twice) != (count, 0, 0):
            done = f"{max(found.known, 0)} of {count} results, {found.lost} never done"
            raise Unmeasured(f"{peer.name}, {kind}: {done}; {told['over'] or _last_words(folder)}")
        if kind == "kill" and not (told["killed"] and told["begun_s"]):
            raise Unmeasured(f"{peer.name}, kill: no worker was killed; {told['over'] or _last_words(folder)}")
        if kind == "kill" and told["done_at_kill"] >= count:
            raise Unmeasured(f"{peer.name}, kill: all {count} were done before a worker could be killed")
        return found


async def _watched(peer: Peer, python: Path, kind: str, count: int, folder: Path) -> dict[str, Any]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("POOLBOARD_", "BENCH_"))}
    for place in ("data", "state", "config", "cache", "runtime"):
        (folder / place).mkdir(mode=0o700)
    # What a system keeps of itself counts: our run's folder, with its logs, lies in the data too.
    environment |= {"XDG_STATE_HOME": str(folder / "data" / "state"), "XDG_CONFIG_HOME": str(folder / "config")}
    environment |= {"XDG_CACHE_HOME": str(folder / "cache"), "XDG_RUNTIME_DIR": str(folder / "runtime")}
    environment |= {"BENCH_FOLDER": str(folder), "PYTHONPATH": str(ROOT), **dict(peer.environment)}
    warden = [sys.executable, "-m", "tests.bench.peers.warden", str(folder), str(count // 2 if kind == "kill" else 0)]
    program = [str(python), "-m", f"tests.bench.peers.{peer.program}", kind, str(count), str(WIDTHS[kind])]
    done = await asyncio.to_thread(
        subprocess.run,
        [*warden, *program],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    if done.returncode != 0:
        raise Unmeasured(f"{peer.name}, {kind}: {done.stderr.strip()[-300:]}")
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def _effects(folder: Path) -> list[tuple[str, str, float]]:
    """Return (phase, item, moment) of each line; what a program did before its items is left out."""
    if not (folder / "effects").exists():
        return []
    lines = [line.split() for line in (folder / "effects").read_text().splitlines()]
    return [(phase, item, float(at)) for phase, item, _, at in lines if not item.startswith("-")]


def _pass(kind: str, count: int, told: dict[str, Any], effects: list[tuple[str, str, float]]) -> Pass:
    active = most = 0
    for phase, _, _ in sorted(effects, key=lambda effect: effect[2]):
        active += 1 if phase == "s" else -1
        most = max(most, active)
    ends = [(item, at) for phase, item, at in effects if phase == "e"]
    return Pass(
        kind=kind,
        count=count,
        known=told["known"],
        took_s=max(told["ended_s"] - told["begun_s"], 1e-6),
        first_s=min((at for _, at in ends), default=told["started_s"]) - told["started_s"],
        cpu_s=told["cpu_ended_s"] - told["cpu_begun_s"],
        peak_bytes=told["peak_bytes"],
        data_bytes=told["data_bytes"],
        processes=told["processes"],
        ended=Counter(item for item, _ in ends),
        at_once=most,
    )


def _last_words(folder: Path) -> str:
    said = (folder / "said").read_text(errors="replace").strip().splitlines()[-1:] if (folder / "said").exists() else []
    return f"its last words: {' '.join(said)[-200:] or 'none'}"

"""What the numbers were measured on. Names no folder, no host and no person."""

from __future__ import annotations

import os
import platform
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import psutil

from poolboard.journal.driver import sqlite


@dataclass(frozen=True, slots=True)
class Machine:
    """One machine at one time; ``load1`` are the run queue's averages over a minute, before and after."""

    cpu: str
    cores: int
    memory_gib: float
    file_system: str
    system: str
    python: str
    sqlite: str
    textual: str
    date: str
    load1: tuple[float, float]


def load1() -> float:
    """Return how many processes wanted a core, on average over the last minute."""
    return round(os.getloadavg()[0], 2)


def observe(load1_before: float) -> Machine:
    """Describe this machine now, at the end of the measurements."""
    return Machine(
        cpu=_cpu(),
        cores=os.cpu_count() or 1,
        memory_gib=round(psutil.virtual_memory().total / 1024**3, 1),
        file_system=_file_system(Path(tempfile.gettempdir()).resolve()),
        system=f"{platform.system()} {platform.release().split('-')[0]} {platform.machine()}",
        python=platform.python_version(),
        sqlite=sqlite.sqlite_version,
        textual=version("textual"),
        date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        load1=(load1_before, load1()),
    )


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"


def _file_system(folder: Path) -> str:
    """Return the type of the file system under the journals: on tmpfs an fsync costs nothing."""
    around = [mount for mount in psutil.disk_partitions(all=True) if folder.is_relative_to(mount.mountpoint)]
    nearest = max(around, key=lambda mount: len(mount.mountpoint), default=None)
    return nearest.fstype if nearest is not None else "unknown"

"""What the doctor looks at outside of Poolboard: Python, SQLite, limits. Reads, changes nothing."""

from __future__ import annotations

import os
import resource
import sys
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final

from poolboard import __version__
from poolboard.ailment import Ailment, fine, note, trouble
from poolboard.journal.driver import candidates

OLDEST, NEWEST = (3, 11), (3, 14)
#: A coordinator holds a file for each worker, screen and log; a worker one for each slot and command.
FEWEST_FILES: Final = 256
COMFORTABLE_FILES: Final = 1024
FEWEST_PROCESSES: Final = 64
INOTIFY: Final = Path("/proc/sys/fs/inotify")
#: Processes whose open files are looked at; a machine with more is not counted to the end.
MOST_PROCESSES: Final = 20_000


def python(version: tuple[int, int] = sys.version_info[:2]) -> Ailment:
    """Tell whether this Python is one that Poolboard is tested with."""
    told = f"Poolboard {__version__} on Python {sys.version.split()[0]}"
    if version < OLDEST:
        return trouble("python", told, f"use Python {OLDEST[0]}.{OLDEST[1]} or newer")
    if version > NEWEST:
        return note("python", f"{told}, newer than what it is tested with", "a newer Poolboard may know it")
    return fine("python", told)


def sqlite(found: list[tuple[str, str, bool]] | None = None) -> Ailment:
    """Tell which SQLite is in use, and which ones here could corrupt a journal."""
    found = candidates() if found is None else found
    affected = [f"{name} {version}" for name, version, is_fixed in found if not is_fixed]
    used = next((f"{name} {version}" for name, version, is_fixed in found if is_fixed), None)
    named = f"affected by the WAL corruption of SQLite 3.7.0 to 3.51.2: {', '.join(affected)}"
    if used is None:
        return trouble("sqlite", named, "install pysqlite3, or a Python with SQLite 3.51.3 or newer")
    return fine("sqlite", f"{used} in use" + (f"; {named}, not used" if affected else ""))


def open_files(soft: int | None = None) -> Ailment:
    """Tell how many files a process may have open."""
    if soft is None:
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if soft == resource.RLIM_INFINITY or soft >= COMFORTABLE_FILES:
        return fine("open files", "no limit" if soft == resource.RLIM_INFINITY else f"at most {soft} in a process")
    advice = "ulimit -n 4096"
    told = f"at most {soft} in a process"
    return (trouble if soft < FEWEST_FILES else note)("open files", told, advice)


def processes(soft: int | None = None) -> Ailment:
    """Tell how many processes this user may have."""
    if soft is None:
        soft = resource.getrlimit(resource.RLIMIT_NPROC)[0]
    if soft == resource.RLIM_INFINITY:
        return fine("processes", "no limit")
    told = f"at most {soft} of this user"
    if soft < FEWEST_PROCESSES:
        return trouble("processes", told, "ulimit -u 1024, or fewer workers and slots")
    return fine("processes", told)


def file_size(soft: int | None = None) -> Ailment:
    """Tell whether files may grow: the journal's limit would look like a full disk."""
    if soft is None:
        soft = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if soft == resource.RLIM_INFINITY:
        return fine("file size", "no limit")
    return note("file size", f"files end at {soft:,} bytes, the journal's too", "ulimit -f unlimited")


def inotify(folder: Path = INOTIFY, used: int | None = None) -> Ailment | None:
    """Tell whether screens can be woken by changes; None where the system has other means."""
    try:
        limit = int((folder / "max_user_instances").read_text())
        watches = int((folder / "max_user_watches").read_text())
    except (OSError, ValueError):
        return None
    used = _inotify_instances() if used is None else used
    told = f"{used} of {limit} inotify instances in use, {watches:,} watches allowed"
    if used >= limit - 2:
        return note(
            "file events",
            f"{told}: screens look once a second instead of being woken",
            f"sudo sysctl fs.inotify.max_user_instances={max(2 * limit, 512)}",
        )
    return fine("file events", told)


def _inotify_instances() -> int:
    """Count this user's, as far as /proc lets itself be read."""
    used = 0
    with suppress(OSError):
        for process in islice((entry for entry in Path("/proc").iterdir() if entry.name.isdigit()), MOST_PROCESSES):
            with suppress(OSError):
                if process.stat().st_uid == os.getuid():
                    used += sum(_is_inotify(file) for file in (process / "fd").iterdir())
    return used


def _is_inotify(file: Path) -> bool:
    try:
        return str(file.readlink()) == "anon_inode:inotify"
    except OSError:
        return False

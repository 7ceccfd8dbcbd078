"""A copy of a journal while runs go on: one file that needs nothing beside it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .driver import Connection, connect_plain
from .errors import JournalUnusable, StorageUnavailable
from .file import clear_errors, open_reader

#: How long the copy may find the journal busy before it gives up; a reader of a WAL hardly ever does.
BUSY_LIMIT_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class Backup:
    """A finished copy."""

    path: Path
    size_bytes: int
    runs: int


def backup(path: Path, target: Path) -> Backup:
    """Copy the journal as it is at one moment to a new file, 0600; whoever writes meanwhile does not wait.

    The copy takes its name only once it is whole and on the disk; a file that is there already is refused. It is
    copied in one step, during which the WAL cannot be reused: a copy in many would start again at every commit.
    Raises JournalUnusable, StorageUnavailable.
    """
    with clear_errors(path), closing(open_reader(path)) as source:
        _check_target(target)
        beside = target.with_name(f".{target.name}.{os.getpid()}.part")
        with clear_errors(target):
            try:
                runs = _copy(source, beside, path)
                _name(beside, target)
            finally:
                _remove(beside)
    return Backup(target, target.stat().st_size, runs)


def _check_target(target: Path) -> None:
    if target.exists() or target.is_symlink():
        raise JournalUnusable(f"{target} is there already: a backup never overwrites; choose another name")
    if not target.parent.is_dir():
        raise JournalUnusable(f"no folder {target.parent} for the backup: make it first")


def _copy(source: Connection, beside: Path, path: Path) -> int:
    os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
    beside.chmod(0o600)  # whatever the umask is
    with closing(connect_plain(beside)) as copy:
        copy.execute("PRAGMA journal_mode = OFF")  # whoever is killed here leaves a .part, which nobody opens
        source.backup(copy, pages=-1, progress=_give_up_at(time.monotonic() + BUSY_LIMIT_S, path))
    # The copied header says WAL: with it the copy would need -wal and -shm files, and a folder that can be written.
    with closing(connect_plain(beside)) as copy:
        copy.execute("PRAGMA journal_mode = DELETE").fetchone()
        said = copy.execute("PRAGMA quick_check(1)").fetchone()[0]
        if said != "ok":
            raise JournalUnusable(f"the journal at {path} is damaged: {said}; look at it with: poolboard journal check")
        return int(copy.execute("SELECT count(*) FROM runs").fetchone()[0])


def _give_up_at(deadline: float, path: Path) -> Callable[[int, int, int], None]:
    def progress(status: int, remaining: int, total: int) -> None:
        if remaining and time.monotonic() > deadline:
            raise StorageUnavailable("sqlite", str(path), f"busy for {BUSY_LIMIT_S:.0f} s; try again later")

    return progress


def _name(beside: Path, target: Path) -> None:
    """Give the finished copy its name, unless somebody took it meanwhile."""
    _sync(beside)
    try:
        target.hardlink_to(beside)
    except FileExistsError:
        raise JournalUnusable(f"{target} appeared meanwhile: a backup never overwrites") from None
    except OSError:  # a file system without hard links: renaming may overwrite what came in this very moment
        beside.rename(target)
    _sync(target.parent)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove(beside: Path) -> None:
    for name in (beside.name, f"{beside.name}-wal", f"{beside.name}-shm", f"{beside.name}-journal"):
        with suppress(OSError):
            beside.with_name(name).unlink()

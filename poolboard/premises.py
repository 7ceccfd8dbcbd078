"""What the doctor says of Poolboard's own places: state folder, journal, and the disk that they are on."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from poolboard.ailment import Ailment, fine, note, trouble
from poolboard.engine.folder import state_folder
from poolboard.journal.errors import JournalError
from poolboard.journal.file import open_reader, outdated
from poolboard.journal.place import NETWORK_FILE_SYSTEMS, Probe, file_system
from poolboard.tui.units import several, size

#: File systems that a reboot empties.
NOT_DURABLE: Final = frozenset({"tmpfs", "ramfs", "devtmpfs"})
LITTLE_BYTES: Final = 1024 * 1024 * 1024
TOO_LITTLE_BYTES: Final = 100 * 1024 * 1024
#: What a journal's log may grow to (DESIGN, journal).
LARGE_LOG_BYTES: Final = 64 * 1024 * 1024


def folders() -> Iterator[Ailment]:
    """Yield how the state folder and the folder of runs stand; neither is made."""
    yield _folder("state folder", state_folder(), 0o077)
    # Nobody comes past a closed state folder; the folders inside need not be closed too.
    yield _folder("runs", state_folder() / "runs", 0)


def _folder(about: str, folder: Path, closed_to: int) -> Ailment:
    try:
        status = folder.stat()
    except FileNotFoundError:
        return fine(about, f"{folder} is not there yet; the first run makes it")
    except OSError as error:
        return trouble(about, f"{folder}: {error.strerror}", "set XDG_STATE_HOME to a folder of your own")
    if not stat.S_ISDIR(status.st_mode):
        return trouble(about, f"{folder} is not a folder", "move it away, or set XDG_STATE_HOME")
    if status.st_uid != os.getuid():
        return trouble(about, f"{folder} belongs to another user", "set XDG_STATE_HOME to a folder of your own")
    if not os.access(folder, os.W_OK | os.X_OK):
        return trouble(about, f"{folder} cannot be written", f"chmod 700 {folder}", _chmod(folder, 0o700))
    mode = stat.S_IMODE(status.st_mode)
    if mode & closed_to:
        return note(about, f"{folder} is open to others ({mode:o})", f"chmod 700 {folder}", _chmod(folder, 0o700))
    return fine(about, f"{folder}, {mode:o}")


def _chmod(path: Path, mode: int) -> Callable[[], None]:
    return lambda: path.chmod(mode)


def journal(path: Path) -> Iterator[Ailment]:
    """Yield whether the journal can be read, who may, and how large its log is."""
    if not path.exists():
        yield fine("journal", f"{path} is not there yet; the first run makes it")
        return
    try:
        with closing(open_reader(path)) as connection:
            runs = connection.execute("SELECT count(*) FROM runs").fetchone()[0]
            older = outdated(connection.execute("PRAGMA user_version").fetchone()[0])
    except JournalError as error:
        yield trouble("journal", str(error), "look at it with: poolboard journal check")
        return
    yield fine("journal", f"{path}: {several(runs, 'run')}, {size(path.stat().st_size)}")
    if older is not None:
        yield note("journal", older, f"poolboard journal vacuum --journal {path}")
    status = path.stat()
    mode = stat.S_IMODE(status.st_mode)
    if mode & 0o077 and status.st_uid == os.getuid():
        yield note("journal", f"it is open to others ({mode:o})", f"chmod 600 {path}", _chmod(path, 0o600))
    log = Path(f"{path.resolve()}-wal")
    if log.exists() and (log_bytes := log.stat().st_size) > LARGE_LOG_BYTES:
        yield note("journal", f"its log has {size(log_bytes)}: a reader holds an old state of it", "close old screens")


def disk(path: Path, probe: Probe = file_system, free_bytes: int | None = None) -> Iterator[Ailment]:
    """Yield what the disk below the journal is, and how much of it is left."""
    folder = next(parent for parent in (path.parent, *path.parent.parents) if parent.is_dir())
    kind = probe(folder) or "of an unknown kind"
    if kind in NETWORK_FILE_SYSTEMS:
        yield trouble(
            "file system",
            f"{folder} is on a network ({kind}), where SQLite's locks do not hold",
            "set POOLBOARD_JOURNAL or XDG_STATE_HOME to a local folder",
        )
    elif kind in NOT_DURABLE:
        yield note("file system", f"{folder} is on {kind}: a reboot empties it", "set XDG_STATE_HOME to a disk")
    else:
        yield fine("file system", f"{folder} is on {kind}")
    free_bytes = shutil.disk_usage(folder).free if free_bytes is None else free_bytes
    told = f"{size(free_bytes)} left"
    advice = "poolboard journal prune, then poolboard journal vacuum"
    if free_bytes < TOO_LITTLE_BYTES:
        yield trouble("disk space", told, advice)
    elif free_bytes < LITTLE_BYTES:
        yield note("disk space", told, advice)
    else:
        yield fine("disk space", told)

"""Where a journal may lie: not on a network, where SQLite's locks do not hold and its log cannot be shared.

Who does it all the same says so in the environment: then the journal has no write-ahead log, and one machine at a time.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from .errors import JournalUnusable

NETWORK_FILE_SYSTEMS: Final = frozenset({"nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "9p", "fuse.sshfs"})
VARIABLE: Final = "POOLBOARD_NETWORK_JOURNAL"
ON: Final = frozenset({"1", "true", "yes", "on"})
OFF: Final = frozenset({"", "0", "false", "no", "off"})

#: Returns the type of the file system that a folder is on, "" if unknown.
Probe = Callable[[Path], str]


def file_system(folder: Path) -> str:
    """Return the type of the file system that holds the folder, "" if the system does not say."""
    import psutil  # late: a reader of an existing local journal should start in a few ms

    real = os.path.realpath(folder)
    found = (0, "")
    for mount in psutil.disk_partitions(all=True):
        point = mount.mountpoint.rstrip("/") + "/"
        if (real + "/").startswith(point) and len(point) >= found[0]:
            found = (len(point), mount.fstype)
    return found[1]


def check_place(path: Path) -> None:
    """Raise JournalUnusable, with nothing made or changed, where no journal can be."""
    if path.is_dir():
        raise JournalUnusable(f"{path} is a folder, not a journal")
    if not path.parent.is_dir():
        raise JournalUnusable(f"no folder {path.parent} for the journal: make it first")
    if path.is_symlink() and not path.exists():
        raise JournalUnusable(f"{path} is a link to nothing: a journal is not made through a link")
    if path.exists() and not stat.S_ISREG(path.stat().st_mode):
        raise JournalUnusable(f"{path} is not an ordinary file")


def has_log(path: Path, probe: Probe, environ: Mapping[str, str]) -> bool:
    """Tell whether a journal there has a write-ahead log; False is for a network that was allowed.

    Raises JournalUnusable for a network that was not.
    """
    kind = probe(path.parent)
    if kind not in NETWORK_FILE_SYSTEMS:
        return True
    word = environ.get(VARIABLE, "").strip().lower()
    if word in ON:
        return False
    if word not in OFF:
        raise JournalUnusable(f"{VARIABLE} is {word!r}: give 1, true, yes or on, or 0, false, no or off")
    raise JournalUnusable(
        f"{path} is on a network file system ({kind}), where SQLite's locks do not hold: use a local folder "
        f"({VARIABLE}=1 takes the risk: no write-ahead log, slower, one machine at a time)"
    )

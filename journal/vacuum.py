"""Giving the disk back what deleted runs took. Needs the journal for itself."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from .errors import LeaseHeld
from .file import clear_errors, open_writer
from .lease import SELECT_LIVE


@dataclass(frozen=True, slots=True)
class Vacuumed:
    """The file's size before and after."""

    before_bytes: int
    after_bytes: int


def vacuum(path: Path) -> Vacuumed:
    """Write the file anew without its free pages; needs up to twice its size on the disk meanwhile.

    Raises LeaseHeld while any run is worked on: its writes would wait, and wait longer than they do.
    """
    with clear_errors(path), closing(open_writer(path, create=False, synchronous="FULL")) as connection:
        held = connection.execute(SELECT_LIVE).fetchone()
        if held is not None:
            raise LeaseHeld(f"run {held[0]} is worked on by {held[1]}: vacuum when nothing runs, or stop it first")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        before = path.stat().st_size
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return Vacuumed(before, path.stat().st_size)

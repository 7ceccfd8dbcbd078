"""When the WAL is copied into the main file: by size while writing, when idle, and at the end.

Runs on the writer's thread and connection; no other connection of any process checkpoints. A checkpoint that is busy
or fails never fails a write: the WAL holds everything, and the next one tries again.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Final

from .driver import Connection, sqlite

#: The file is kept at about this size and overwritten: one that grows costs twice as much per fsync (MEASURED).
WAL_PAGES: Final = 2_000
PAGE_BYTES: Final = 4_096
#: From this size on a log that a reader holds makes commits wait for company; at the second they wait longest.
LINGER_FROM_BYTES: Final = 16 * 1024 * 1024
LINGER_MOST_BYTES: Final = 56 * 1024 * 1024
LONGEST_LINGER_S: Final = 0.1
FEWEST_CHANGES: Final = 8
MOST_CHANGES: Final = 20_000


class Checkpointer:
    """Decides by the number of changed rows, and learns from each checkpoint how many pages they make.

    SQLite tells the WAL's length only when checkpointing, and the size of a file that is overwritten tells nothing;
    but where it grows, that decides, for rows may suddenly become a thousand times larger.
    """

    __slots__ = ("_connection", "_done_at", "_due_after", "_size_bytes", "_wal", "frames")

    def __init__(self, connection: Connection, path: Path) -> None:
        self._connection, self._wal = connection, Path(f"{path.resolve()}-wal")
        self._done_at = connection.total_changes
        self._due_after = MOST_CHANGES
        self._size_bytes = 0
        #: Pages in the WAL at the last checkpoint, and how many of them a reader kept from being copied.
        self.frames = (0, 0)

    @property
    def pending(self) -> bool:
        """Whether something was written since the last checkpoint."""
        return self._connection.total_changes != self._done_at

    @property
    def held_bytes(self) -> int:
        """How large the log is while some reader's old state keeps it from being written over; 0 while none does."""
        return self._size_bytes if self.frames[1] > 0 else 0

    @property
    def linger_s(self) -> float:
        """How long the next commit should wait for company.

        A held log grows with every commit, whatever we do: SQLite may not touch what a reader still sees. Refusing
        writes would let a reader stop a run; but what shares a commit shares pages, so that the log grows by a fraction
        of what the same writes take one by one.
        """
        over = self.held_bytes - LINGER_FROM_BYTES
        return min(over / (LINGER_MOST_BYTES - LINGER_FROM_BYTES), 1.0) * LONGEST_LINGER_S if over > 0 else 0.0

    def after_commit(self) -> None:
        """Checkpoint if enough was written."""
        if self._connection.total_changes - self._done_at >= self._due_after or self._grown():
            self.passive()

    def _grown(self) -> bool:
        return self._size() >= self._size_bytes + WAL_PAGES * PAGE_BYTES

    def _size(self) -> int:
        with suppress(OSError):
            return self._wal.stat().st_size
        return 0

    def passive(self) -> None:
        """Copy what no reader still needs; never waits for anybody."""
        changes = self._connection.total_changes - self._done_at
        self._done_at, self._size_bytes = self._connection.total_changes, self._size()
        pages_before, left_before = self.frames
        try:
            _, pages, copied = self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        except sqlite.Error:
            return
        self.frames = (pages, pages - copied)
        # A WAL that was copied whole starts again from its beginning.
        grown = max(pages - pages_before if left_before else pages, 1)
        self._due_after = min(max(changes * WAL_PAGES // grown, FEWEST_CHANGES), MOST_CHANGES)

    def truncate(self) -> None:
        """Copy everything and empty the file, if nobody reads just now; used when closing."""
        with suppress(sqlite.Error):  # closing must not fail: the next one to open goes on from the WAL
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

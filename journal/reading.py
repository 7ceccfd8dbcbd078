"""A read-only connection in its own thread: one statement, all its rows, one hop; errors translated.

No transaction is ever open between two calls, so no reader holds a snapshot and keeps the WAL from being reused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import aiosqlite

from .clock import MachineClock
from .driver import ADAPTER, Connection, sqlite, translate
from .errors import StorageUnavailable
from .file import open_reader

Row = tuple[Any, ...]


class Reading:
    """The connection below a Reader."""

    def __init__(self, path: Path, connection: aiosqlite.Connection) -> None:
        self.path, self._connection = path, connection

    @classmethod
    async def open(cls, path: Path, machine: MachineClock | None = None) -> Reading:
        """Open an existing journal; raises JournalUnusable."""
        # Opened here and not in aiosqlite's thread, which would outlive a refusal.
        return await cls.over(await asyncio.to_thread(open_reader, path, machine), path)

    @classmethod
    async def over(cls, opened: Connection, path: Path) -> Reading:
        """Take over a connection that is open; ``path`` is for messages."""
        connection = aiosqlite.Connection(lambda: opened, iter_chunk_size=64)
        # aiosqlite's thread is no daemon: one forgotten close() would keep the interpreter from ending. It offers
        # no setting for it, hence the private name (the version is pinned below the next minor).
        connection._thread.daemon = True
        return cls(path, await connection)

    async def rows(self, statement: str, values: Sequence[object] = ()) -> list[Row]:
        """Return all rows; the statement bounds their number."""
        try:
            return cast("list[Row]", await self._connection.execute_fetchall(statement, values))
        except sqlite.Error as error:
            raise translate(error, str(self.path)) from error
        except ValueError as error:  # aiosqlite's word for a closed connection
            raise StorageUnavailable(ADAPTER, str(self.path), str(error)) from error

    async def row(self, statement: str, values: Sequence[object] = ()) -> Row | None:
        """Return the first row, None if there is none."""
        rows = await self.rows(statement, values)
        return rows[0] if rows else None

    async def close(self) -> None:
        """End the thread; again is fine."""
        await self._connection.close()

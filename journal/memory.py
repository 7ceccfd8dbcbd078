"""A journal in memory, for tests: SQLite too, so that it means the same, but nothing of it outlives the process."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Final

from .driver import connect_memory
from .file import install
from .reader import Reader
from .reading import Reading
from .sqlite import SqliteJournal
from .together import TOGETHER
from .writer import BUSY_LIMIT_S, Writer

ADAPTER: Final = "memory"
#: Both sides wait for each other here, unlike in a WAL: reads last a moment, so that is long enough.
BUSY_MS: Final = int(BUSY_LIMIT_S * 1000)

_unnamed = count(1)


class MemoryJournal(SqliteJournal):
    """A journal that this process alone has; one opened by the same name while it is open is the same journal.

    It hosts no pool: workers are other processes, and what they do must be recorded for good.
    """

    _name: str

    @classmethod
    async def open_named(cls, name: str = "") -> MemoryJournal:
        """Open a journal by name, making it if nobody has it open; without a name it is a new one."""
        name = name or f"unnamed {next(_unnamed)}"
        connection = connect_memory(name, readonly=False)
        try:
            install(connection)
            reading = await Reading.over(connect_memory(name, readonly=True), Path(f"memory:{name}"))
        except BaseException:
            connection.close()
            raise
        journal = cls(reading.path, Writer(connection, str(reading.path), together=TOGETHER), Reader(reading))
        # The writer waits by itself for BEGIN, but a COMMIT here waits for readers.
        await journal.transact(lambda tx: tx.execute(f"PRAGMA busy_timeout = {BUSY_MS}"))
        journal._name = name
        return journal

    @property
    def descriptor(self) -> str:
        """``memory at <name>``."""
        return f"{ADAPTER} at {self._name}"

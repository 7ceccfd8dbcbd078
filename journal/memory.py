"""A journal in memory, for tests: SQLite too, so that it means the same, but nothing of it outlives the process."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Final

from .clock import follow, this_machine
from .driver import connect_memory
from .file import install, keep_clock
from .reader import Reader
from .reading import Reading
from .sqlite import SqliteJournal
from .together import TOGETHER
from .writer import Writer

ADAPTER: Final = "memory"

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
            keep_clock(connection, this_machine())
            looking = connect_memory(name, readonly=True)
            follow(looking, this_machine())
            reading = await Reading.over(looking, Path(f"memory:{name}"))
        except BaseException:
            connection.close()
            raise
        journal = cls(reading.path, Writer(connection, str(reading.path), together=TOGETHER), Reader(reading))
        journal._name = name
        return journal

    @property
    def descriptor(self) -> str:
        """``memory at <name>``."""
        return f"{ADAPTER} at {self._name}"

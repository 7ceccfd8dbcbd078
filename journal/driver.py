"""The SQLite library: which one, how a connection is set up, and what its errors mean.

The one file that imports a database module. It does not know what the tables hold.

SQLite 3.7.0 to 3.51.2 can corrupt a WAL file that several connections write and checkpoint (fixed in 3.51.3, also in
3.50.7 and 3.44.6). Many Pythons carry one of those, so the standard library's ``sqlite3`` is taken only if it is
fixed, else ``pysqlite3``. Two SQLite libraries on one file in one process would cancel each other's POSIX locks:
everybody, ``aiosqlite`` included, gets the choice made here.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import quote

from .clock import follow_wall
from .errors import JournalError, JournalUnusable, StorageUnavailable

__all__ = [
    "ADAPTER",
    "BUSY",
    "Connection",
    "Synchronous",
    "candidates",
    "connect",
    "connect_memory",
    "connect_plain",
    "primary_code",
    "sqlite",
    "translate",
]

ADAPTER: Final = "sqlite"
#: How long opening and reading wait for a lock. The writer waits by itself (writer.py).
BUSY_TIMEOUT_S: Final = 5.0
CACHE_KIB: Final = 16 * 1024

Synchronous = Literal["FULL", "NORMAL"]


def is_fixed(version: tuple[int, int, int]) -> bool:
    """Tell whether this SQLite is free of the WAL corruption of 3.7.0 to 3.51.2."""
    return version >= (3, 51, 3) or (3, 50, 7) <= version < (3, 51, 0) or (3, 44, 6) <= version < (3, 45, 0)


def choose(names: Sequence[str] = ("sqlite3", "pysqlite3")) -> ModuleType | None:
    """Return the first importable module that carries a fixed SQLite, or None."""
    for name in names:
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        if is_fixed(module.sqlite_version_info):
            return module
    return None


def candidates(names: Sequence[str] = ("sqlite3", "pysqlite3")) -> list[tuple[str, str, bool]]:
    """Return (module, SQLite version, whether it is fixed) of the modules that are there, in order of preference."""
    found = []
    for name in names:
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        found.append((name, str(module.sqlite_version), is_fixed(module.sqlite_version_info)))
    return found


if TYPE_CHECKING:
    # Both modules have the same shape; only the standard one has types.
    import sqlite3 as sqlite
    from sqlite3 import Connection

    chosen: ModuleType | None
else:
    chosen = choose()
    sqlite = chosen if chosen is not None else importlib.import_module("sqlite3")
    Connection = sqlite.Connection


def connect(
    path: Path, *, readonly: bool, synchronous: Synchronous = "FULL", immutable: bool = False, log: bool = True
) -> Connection:
    """Open an existing file with every setting in place; driver errors are raised as they are.

    Only the writer's connection ever checkpoints, and only when told to. ``immutable`` (a short look into a file that
    nobody writes just now) leaves no -wal and -shm beside it; without ``log`` a writer does without write-ahead log,
    whose index several machines cannot share. Raises JournalUnusable without a fixed SQLite.
    """
    if chosen is None:
        raise JournalUnusable(
            f"SQLite {sqlite.sqlite_version} can corrupt a journal that several processes use: "
            "install pysqlite3, or a Python with SQLite 3.51.3 or newer"
        )
    connection = sqlite.connect(
        _uri(path, "ro&immutable=1" if immutable else "ro" if readonly else "rw"),
        uri=True,
        timeout=BUSY_TIMEOUT_S,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )
    try:
        _configure(connection, readonly=readonly, synchronous=synchronous, log=log)
    except BaseException:
        connection.close()
        raise
    return connection


def connect_plain(path: Path) -> Connection:
    """Open an existing file that only this process knows, with SQLite's own settings: a copy in the making."""
    return sqlite.connect(_uri(path, "rw"), uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None)


def connect_memory(name: str, *, readonly: bool) -> Connection:
    """Open a database in this process's memory; all that are open under one name are one, without a WAL."""
    connection = sqlite.connect(
        f"file:/{quote(name, safe='')}?vfs=memdb",
        uri=True,
        timeout=BUSY_TIMEOUT_S,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA query_only = {readonly}")
    follow_wall(connection)
    return connection


def _configure(connection: Connection, *, readonly: bool, synchronous: Synchronous, log: bool) -> None:
    follow_wall(connection)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    if readonly:
        connection.execute("PRAGMA query_only = ON")
        return
    wanted = "wal" if log else "truncate"
    mode = connection.execute(f"PRAGMA journal_mode = {wanted}").fetchone()[0]
    if mode != wanted:
        if not log:
            raise sqlite.OperationalError(f"it is in use with a write-ahead log (journal mode {mode})")
        raise sqlite.OperationalError(f"the file system allows no write-ahead log (journal mode {mode})")
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")


def _uri(path: Path, mode: str) -> str:
    # Bytes, so that names that are not UTF-8 and names with ? # % reach the file system unchanged.
    return f"file://{quote(os.fsencode(path.absolute()))}?mode={mode}"


#: Primary result codes that no retry mends: the user must act. All others are StorageUnavailable.
UNUSABLE: Final[dict[int, str]] = {
    8: "it cannot be written: check the permissions of the file and its folder",
    11: "it is damaged: restore a copy, or look at it with: poolboard journal check",
    24: "it is not a journal",
    26: "it is not a journal, or it is damaged",
}
BUSY: Final = 5


def primary_code(error: Exception) -> int | None:
    """Return SQLite's primary result code, None if the library gave none."""
    code = getattr(error, "sqlite_errorcode", None)
    return code & 0xFF if isinstance(code, int) else None


def translate(error: Exception, where: str) -> JournalError:
    """Return what a driver's error means to the rest of the program: StorageUnavailable or JournalUnusable."""
    code = getattr(error, "sqlite_errorcode", None)
    reason = f"{error} (SQLite code {code})" if code is not None else f"{error} ({type(error).__name__})"
    primary = primary_code(error)
    if primary in UNUSABLE:
        return JournalUnusable(f"cannot use the journal at {where}: {UNUSABLE[primary]}: {reason}")
    return StorageUnavailable(ADAPTER, where, reason)

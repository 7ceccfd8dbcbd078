"""The journal's file: whether a path may be one, making it, and refusing everything else untouched.

Every look into a file goes through SQLite: opening and closing it by ourselves would cancel the POSIX locks that
this process's other connections hold on it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from typing import Final

from .clock import MachineClock, follow, keep, this_machine
from .driver import Connection, Synchronous, connect, sqlite, translate
from .errors import JournalUnusable
from .lease import SELECT_LIVE
from .place import Probe, check_place, file_system, has_log

#: "Pool" in ASCII: tells our files from other SQLite files.
APPLICATION_ID: Final = 0x506F6F6C
SCHEMA_VERSION: Final = 5
CREATE_TABLE: Final = "CREATE TABLE"
#: The first version; what readers ask is in every journal since. Writers bring a journal to SCHEMA_VERSION first.
OLDEST_READABLE: Final = 1
#: A journal up to this size is looked through after a crash, which takes a second or two.
LARGEST_CHECKED_BYTES: Final = 256 * 1024 * 1024


def open_writer(
    path: Path,
    *,
    create: bool,
    synchronous: Synchronous,
    probe: Probe = file_system,
    machine: MachineClock | None = None,
) -> Connection:
    """Return a connection that may write, making the file first if it is missing and ``create`` is given.

    Raises JournalUnusable and leaves the file alone if it is not a journal of a version that this program knows.
    """
    with clear_errors(path):
        check_place(path)
        log = has_log(path, probe, os.environ)
        if not path.exists():
            if not create:
                raise JournalUnusable(f"no journal at {path}")
            _make_empty(path)
        if not os.access(path, os.R_OK | os.W_OK) or not os.access(path.parent, os.W_OK):
            raise JournalUnusable(
                f"the journal at {path} cannot be written: check the permissions of it and its folder"
            )
        version = _version(path)
        if version:
            _check_after_crash(path)
        connection = connect(path, readonly=False, synchronous=synchronous, log=log)
        try:
            if version < SCHEMA_VERSION:
                _check_unused(connection, path, version)
                install(connection)
            keep_clock(connection, machine or this_machine())
        except BaseException:
            connection.close()
            raise
        return connection


def open_reader(path: Path, machine: MachineClock | None = None) -> Connection:
    """Return a connection that can only read; raises JournalUnusable for a missing file or one that is no journal."""
    with clear_errors(path):
        if path.is_dir():
            raise JournalUnusable(f"{path} is a folder, not a journal")
        if not path.exists():
            raise JournalUnusable(f"no journal at {path}")
        version = _version(path)
        if not version:
            raise JournalUnusable(f"no journal at {path} yet: the file is empty")
        connection = connect(path, readonly=True)
        try:
            stand_in(connection, version)
            follow(connection, machine or this_machine())
        except BaseException:
            connection.close()
            raise
        return connection


def keep_clock(connection: Connection, machine: MachineClock) -> None:
    """Have a writer's connection follow the store's clock. A full disk or a long lock must not keep it from opening."""
    follow(connection, machine)
    with suppress(sqlite.OperationalError):
        keep(connection, machine)


@contextmanager
def clear_errors(path: Path) -> Iterator[None]:
    """Say every error of the system or of SQLite as one of the journal's."""
    try:
        yield
    except sqlite.Error as error:
        raise translate(error, str(path)) from error
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = error.strerror if isinstance(error, OSError) else error
        raise JournalUnusable(f"cannot use a journal at {path}: {reason}") from error


def _make_empty(path: Path) -> None:
    flags = os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_RDWR | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags, 0o600)
    except FileExistsError:
        return  # another process was first; the schema is installed by whoever gets the lock
    try:
        os.fchmod(descriptor, 0o600)  # the umask may have taken bits away; -wal and -shm copy this mode
    finally:
        os.close(descriptor)


def _version(path: Path) -> int:
    """Return the schema version, 0 for a file without content; raises JournalUnusable for anything else."""
    # Without a WAL, nobody has the file open: what the file itself holds is all there is.
    connection = connect(path, readonly=True, immutable=not _in_use(path))
    try:
        return version_of(connection, path)
    finally:
        connection.close()


def _in_use(path: Path) -> bool:
    """Tell whether somebody may have the file open, or left it so: it has a log, or a journal to roll back."""
    return any(Path(f"{path.resolve()}{suffix}").exists() for suffix in ("-wal", "-journal"))


def _check_after_crash(path: Path) -> None:
    """Refuse a file whose pages are damaged, if it was not closed and nobody is at work on it.

    A writer copies what is in the WAL over the pages of the file, sooner or later: what could be saved of a damaged one
    would be lost. Beside a live lease there was no hard reset, and a successor must not wait.
    """
    log = Path(f"{path.resolve()}-wal")
    if not log.exists() or not log.stat().st_size or path.stat().st_size > LARGEST_CHECKED_BYTES:
        return
    connection = connect(path, readonly=True)  # it leaves the WAL alone when it is closed
    try:
        if connection.execute(SELECT_LIVE).fetchone() is not None:
            return
        said = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    finally:
        connection.close()
    if said != "ok":
        raise JournalUnusable(
            f"cannot use the journal at {path}: it is damaged: restore a copy, or look at it with: "
            f"poolboard journal check: {' '.join(said.split())[:200]}"
        )


def _check_unused(connection: Connection, path: Path, version: int) -> None:
    """Refuse to change the tables below an older program that is at work on them."""
    held = connection.execute(SELECT_LIVE).fetchone() if version else None
    if held is not None:
        raise JournalUnusable(
            f"the journal at {path} is of schema version {version}, and an older Poolboard works on run {held[0]} "
            f"in it ({held[1]}): stop that first, this one would bring the journal to version {SCHEMA_VERSION}"
        )


def outdated(version: int) -> str | None:
    """Return what there is to say of a journal of an older version; None of one that is up to date."""
    if version == SCHEMA_VERSION:
        return None
    return (
        f"schema version {version} is an older one, which can be read as it is; the next command that writes "
        f"(run, resume, journal vacuum) brings it to version {SCHEMA_VERSION}"
    )


def version_of(connection: Connection, path: Path) -> int:
    """Return what ``_version`` does, from an open connection; ``path`` is for the message."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    if application == 0 and version == 0 and tables == 0:
        return 0
    if application != APPLICATION_ID:
        raise JournalUnusable(f"{path} is an SQLite file of another program, not a journal")
    if version < OLDEST_READABLE:
        raise JournalUnusable(
            f"the journal at {path} has schema version {version}, which no Poolboard has written: its beginning is "
            "damaged; restore a copy"
        )
    if version > SCHEMA_VERSION:
        raise JournalUnusable(
            f"the journal at {path} has schema version {version}, this Poolboard knows versions up to "
            f"{SCHEMA_VERSION}: use a newer Poolboard"
        )
    return version


def install(connection: Connection) -> None:
    """Run the schema files that the journal lacks, in one transaction; of two processes the second finds it done."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        for number in range(version + 1, SCHEMA_VERSION + 1):
            for statement in _statements(number):
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {max(version, SCHEMA_VERSION)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def stand_in(connection: Connection, version: int) -> None:
    """Give a reader of an older journal, which it may not change, the tables that came later, empty and its own."""
    if version >= SCHEMA_VERSION:
        return
    connection.execute("PRAGMA query_only = OFF")
    for number in range(version + 1, SCHEMA_VERSION + 1):
        for statement in _statements(number):
            if CREATE_TABLE in statement:
                connection.execute(statement.replace(CREATE_TABLE, "CREATE TEMP TABLE", 1))
    connection.execute("PRAGMA query_only = ON")


def _statements(number: int) -> Iterator[str]:
    # Not executescript: it commits first, and half a schema must never be seen.
    statement = ""
    for line in files(__package__).joinpath(f"schema_{number}.sql").read_text("utf-8").splitlines(keepends=True):
        statement += line
        if sqlite.complete_statement(statement):
            yield statement
            statement = ""

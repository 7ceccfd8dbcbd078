"""Whether a journal's file is whole: its pages, what belongs to what, its kept counters, its recorded values.

Never writes. Every look is a short statement or one run's recount, so that a check beside a coordinator keeps no
snapshot for long; only SQLite's own look at the pages holds one as long as it takes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .checkpointer import PAGE_BYTES
from .content import check_content
from .deleting import GARBAGE_NUMBERS
from .driver import Connection, connect, primary_code, sqlite
from .errors import JournalUnusable
from .file import clear_errors, outdated, stand_in, version_of
from .finding import DAMAGE, Finding, Findings
from .positions import SPAN
from .recount import recount

#: Lines that SQLite may say of the pages: one bad page can make thousands.
PAGE_LINES: Final = 20
WAL_HEADER_BYTES: Final = 32
FRAME_HEADER_BYTES: Final = 24
#: The tables whose key carries the run, and the expression that gives its number. The others have foreign keys.
CARRIES_RUN: Final = (("events", "position"), ("work", "id"), ("results", "id"))


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What was looked at and what is wrong. ``cut`` says that there is more; ``notes`` are no damage."""

    path: Path
    runs: int
    events: int
    size_bytes: int
    findings: tuple[Finding, ...]
    cut: bool
    notes: tuple[str, ...]


def check(path: Path) -> CheckReport:
    """Look at everything in a journal and return what is wrong with it.

    Raises JournalUnusable if there is no journal at the path, or one of a newer version; StorageUnavailable.
    """
    with clear_errors(path):
        for immutable in _ways(path):
            before = _shape(path)
            report = _check(path, immutable)
            if not immutable or _shape(path) == before:
                return report
    raise AssertionError("the last way is never immutable")


def _ways(path: Path) -> Iterator[bool]:
    """Yield how to open the file: as one that nobody writes first, if it looks so, then as an ordinary reader."""
    if path.is_dir():
        raise JournalUnusable(f"{path} is a folder, not a journal")
    if not path.exists():
        raise JournalUnusable(f"no journal at {path}")
    # An immutable look leaves no -wal and -shm behind. Somebody may begin to write meanwhile: then the look counts
    # for nothing, and the next one goes by the locks.
    if not _wal(path).exists():
        yield True
    yield False


def _wal(path: Path) -> Path:
    return Path(f"{path.resolve()}-wal")


def _shape(path: Path) -> tuple[int, int, bool]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns, _wal(path).exists()


def _check(path: Path, immutable: bool) -> CheckReport:
    findings = Findings()
    runs = events = 0
    garbage: set[int] = set()
    notes: list[str] = []
    with _opened(path, immutable, findings, notes) as connection:
        if connection is not None:
            _check_pages(connection, findings)
            _check_references(connection, findings)
            garbage = _check_orphans(connection, findings)
            for number in _numbers(connection, findings):
                if findings.full:
                    break
                runs += 1
                with findings.reading(f"run number {number}"):
                    events += recount(connection, number, findings)
                    check_content(connection, number, findings)
    return CheckReport(
        path,
        runs,
        events,
        path.stat().st_size,
        tuple(findings),
        findings.cut,
        (*notes, *_notes(path, immutable, garbage)),
    )


@contextmanager
def _opened(path: Path, immutable: bool, findings: Findings, notes: list[str]) -> Iterator[Connection | None]:
    """Open the file; None, with a finding, for one that is too damaged to be asked anything."""
    with closing(connect(path, readonly=True, immutable=immutable)) as connection:
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        try:
            version = version_of(connection, path)
        except sqlite.Error as error:
            if primary_code(error) not in DAMAGE:
                raise
            findings.add("file", f"it is not a journal, or its beginning is damaged: {error}")
            yield None
        else:
            if not version:
                raise JournalUnusable(f"no journal at {path} yet: the file is empty")
            stand_in(connection, version)
            if (told := outdated(version)) is not None:
                notes.append(told)
            yield connection


def _check_pages(connection: Connection, findings: Findings) -> None:
    with findings.reading("the pages"):
        for (line,) in connection.execute(f"PRAGMA integrity_check({PAGE_LINES})"):
            if line != "ok":
                findings.add("file", " ".join(line.split()))


def _check_references(connection: Connection, findings: Findings) -> None:
    with findings.reading("the tables"):
        for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check"):
            findings.add("order", f"a row of {table} ({row}) belongs to nothing in {parent}")
            if findings.full:
                return


def _check_orphans(connection: Connection, findings: Findings) -> set[int]:
    """Jump from run to run through each table by its key: a look per run, not per row.

    Return the numbers of runs that were forgotten and are not swept yet: their rows are no orphans.
    """
    garbage: set[int] = set()
    with findings.reading("the tables"):
        connection.execute("BEGIN")
        try:
            garbage.update(number for (number,) in connection.execute(GARBAGE_NUMBERS))
            for table, key in CARRIES_RUN:
                _jump(
                    connection,
                    findings,
                    garbage,
                    table,
                    f"SELECT min({key}) / {SPAN} FROM {table} WHERE {key} >= ? * {SPAN}",
                )
            _jump(connection, findings, garbage, "operations", "SELECT min(run) FROM operations WHERE run >= ?")
        finally:
            if connection.in_transaction:
                connection.execute("COMMIT")
    return garbage


def _jump(connection: Connection, findings: Findings, garbage: set[int], table: str, statement: str) -> None:
    number = -1  # a number below zero would be damage too, but a jump has to start somewhere
    while not findings.full:  # bounded: every turn is a run that is there, or a finding
        number = connection.execute(statement, (number,)).fetchone()[0]
        if number is None:
            return
        known = connection.execute("SELECT 1 FROM runs WHERE number = ?", (number,)).fetchone()
        if known is None and number not in garbage:
            findings.add("order", f"rows of {table} belong to run number {number}, which is not there")
        number += 1


def _numbers(connection: Connection, findings: Findings) -> Iterator[int]:
    """Yield the numbers of the runs, each asked for by itself: no cursor stays open over a run's check."""
    number: int | None = 0
    while number is not None:
        with findings.reading("the list of runs"):
            number = connection.execute("SELECT min(number) FROM runs WHERE number > ?", (number,)).fetchone()[0]
            if number is None:
                return
            yield number
            continue
        return


def _notes(path: Path, immutable: bool, garbage: set[int]) -> Iterator[str]:
    """Yield what is no damage and yet worth a line."""
    if garbage:
        yield f"rows of {len(garbage)} forgotten runs are still there: poolboard journal prune takes them away"
    if immutable:
        return
    with suppress(OSError):
        size = _wal(path).stat().st_size
        if size and (size - WAL_HEADER_BYTES) % (FRAME_HEADER_BYTES + PAGE_BYTES):
            yield (
                f"{path.name}-wal ends in the middle of a page: if nobody writes just now, it was cut, and the "
                "newest commits are missing"
            )
    if not os.access(path.parent, os.W_OK):
        yield f"the folder {path.parent} cannot be written"

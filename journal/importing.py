"""Reading one run from JSON lines into a journal: everything is checked before anything is kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Final, TypeVar

from pydantic import ValidationError

from .content import check_content
from .deleting import NEXT_NUMBER
from .driver import Connection, sqlite
from .errors import BadPayload, IdentityConflict
from .exporting import TABLES
from .file import clear_errors, open_writer
from .finding import Findings
from .positions import base
from .recount import recount_within
from .states import WORK_STATES
from .transfer import LONGEST_LINE_BYTES, ROWS, End, Head, Line

T = TypeVar("T", bound=Line)

#: Fields that are bytes in the table and hex in a line.
HEX: Final = frozenset({"key", "request"})
RECOUNT: Final = "UPDATE runs SET " + ", ".join(
    f"{state} = (SELECT count(*) FROM work WHERE run = ?1 AND id > ?2 AND state = '{state}')" for state in WORK_STATES
)


@dataclass(frozen=True, slots=True)
class Imported:
    """A run that is in the journal now, held by nobody."""

    run_id: str
    events: int
    children: int


def import_run(
    path: Path, source: IO[bytes], name: str, *, at_home: Callable[[str, str], str] | None = None
) -> Imported:
    """Record a run from the lines of ``export``; ``name`` says in messages where they come from.

    ``at_home(run_id, header)`` returns the header to record instead: what the engine keeps beside a journal lies in
    another place here. It raises ValueError for one that the engine cannot have written.

    The lines are read to their end first: the journal is locked only while they are written. Raises BadPayload naming
    the line, IdentityConflict if a run of that id is there, JournalUnusable, StorageUnavailable.
    """
    with TemporaryFile() as rows:
        head = _read(source, name, rows)
        header = head.run.header
        if at_home is not None:
            try:
                header = at_home(head.run.run_id, header)
            except ValueError as error:
                raise BadPayload(f"{name}, line 1: {error}") from None
        with clear_errors(path), closing(open_writer(path, create=True, synchronous="FULL")) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                _write(connection, head, header, rows, name)
                connection.execute("COMMIT")
            except sqlite.IntegrityError as error:
                raise BadPayload(f"{name} is no whole run: {error}") from None
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
    return Imported(head.run.run_id, head.run.last_seq, max(head.run.last_n, 0))


# --- reading ----------------------------------------------------------------------------------------------------------


def _read(source: IO[bytes], name: str, rows: IO[bytes]) -> Head:
    """Check every line, keep those of rows, and return the first one."""
    digest, count = sha256(), 0
    head: Head | None = None
    while line := source.readline(LONGEST_LINE_BYTES + 1):
        where = f"{name}, line {count + 1}"
        if len(line) > LONGEST_LINE_BYTES:
            raise BadPayload(f"{where}: longer than {LONGEST_LINE_BYTES:,} bytes, which no line of an export is")
        value = _object(line, where)
        if head is None:
            head = _checked(Head, value, where)
        elif "end" in value:
            _check_end(_checked(End, value["end"], where), count, digest.hexdigest(), where)
            if source.read(1):
                raise BadPayload(f"{where}: something stands behind the end mark; export one run to one file")
            return head
        else:
            _check_row(value, where)
            rows.write(line)
        digest.update(line)
        count += 1
    raise BadPayload(f"{name} was cut: it ends after line {count} without an end mark; export the run again")


def _object(line: bytes, where: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        raise BadPayload(f"{where}: not JSON") from None
    if not isinstance(value, dict):
        raise BadPayload(f"{where}: not a JSON object")
    return value


def _check_row(value: dict[str, Any], where: str) -> None:
    word = next(iter(value), "")
    if len(value) != 1 or word not in ROWS:
        raise BadPayload(f"{where}: {word[:40]!r} is no kind of line; known are: {', '.join(ROWS)}, end")
    _checked(ROWS[word], value[word], where)


def _checked(model: type[T], value: object, where: str) -> T:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        at = ".".join(map(str, first["loc"]))
        raise BadPayload(f"{where}: {at[:200] or 'the line'}: {first['msg']}") from None


def _check_end(end: End, count: int, digest: str, where: str) -> None:
    if (end.lines, end.sha256) != (count, digest):
        raise BadPayload(f"{where}: the lines before it are not those that were exported: cut, or edited")


# --- writing ----------------------------------------------------------------------------------------------------------


def _write(connection: Connection, head: Head, header: str, rows: IO[bytes], name: str) -> None:
    if connection.execute("SELECT 1 FROM runs WHERE run_id = ?", (head.run.run_id,)).fetchone() is not None:
        raise IdentityConflict(f"a run {head.run.run_id} is recorded already: {name} was not imported")
    number: int = connection.execute(NEXT_NUMBER).fetchone()[0]
    stamp: int = connection.execute("UPDATE stamp SET value = value + 1 RETURNING value").fetchone()[0]
    _insert(connection, "runs", {"number": number, **head.run.model_dump(), "header": header, "changed": stamp})
    if head.lease is not None:
        _insert(connection, "leases", {"run": number, "holder": None, **head.lease.model_dump()})
    if head.control is not None:
        _insert(connection, "control", {"run": number, **head.control.model_dump()})
    rows.seek(0)
    for word, values in groupby(map(json.loads, rows), key=lambda value: next(iter(value))):
        _insert_rows(connection, word, number, stamp, (value[word] for value in values))
    connection.execute(f"{RECOUNT} WHERE number = ?1", (number, base(number)))
    _verify(connection, number, name)


def _insert(connection: Connection, table: str, values: dict[str, object]) -> None:
    marks = ", ".join("?" * len(values))
    connection.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", tuple(values.values()))


def _insert_rows(connection: Connection, word: str, number: int, stamp: int, rows: Iterator[dict[str, Any]]) -> None:
    table, key, field = TABLES[word]
    names = list(ROWS[word].model_fields)
    columns = [key if key is not None and name == field else name for name in names]
    more: dict[str, int] = {"run": number} if table not in ("events", "results") else {}
    if table == "work":
        more["changed"] = stamp
    start = base(number)

    def cell(name: str, value: Any) -> object:
        if key is not None and name == field:
            return start + value
        return bytes.fromhex(value) if name in HEX and value is not None else value

    connection.executemany(
        f"INSERT INTO {table} ({', '.join([*columns, *more])}) VALUES ({', '.join('?' * (len(columns) + len(more)))})",
        ((*(cell(name, row[name]) for name in names), *more.values()) for row in rows),
    )


def _verify(connection: Connection, number: int, name: str) -> None:
    """Hold what was written to what ``journal check`` would say of it."""
    findings = Findings(1)
    recount_within(connection, number, findings)
    check_content(connection, number, findings)
    for finding in findings:
        raise BadPayload(f"{name} is no whole run: {finding.what}")

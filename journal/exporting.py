"""Writing one run as JSON lines."""

from __future__ import annotations

import json
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Final

from .driver import Connection
from .errors import RunNotFound
from .file import clear_errors, open_reader
from .positions import SPAN, base
from .transfer import FORMAT, ROWS, ControlLine, LeaseLine, Line, RunLine

#: By word: table, its key that carries the run (None where a column ``run`` does), the field that the key is told as.
TABLES: Final[dict[str, tuple[str, str | None, str]]] = {
    "event": ("events", "position", "seq"),
    "operation": ("operations", None, "work, key"),
    "work": ("work", "id", "n"),
    "result": ("results", "id", "n"),
    "stage": ("stages", None, "first_seq, name"),
    "hold": ("holds", None, "scope, name"),
    "cut": ("cuts", None, "scope, name"),
    "usage": ("usage", None, "work, name"),
    "message": ("messages", None, "number"),
    "receipt": ("receipts", None, "message, work"),
}


def export(path: Path, run_id: str) -> IO[bytes]:
    """Return a temporary file with the run as JSON lines in ASCII, ready to be read; also of a run that goes on.

    It is written at once and whole, in one snapshot: whoever reads it may take as long as they like without keeping
    the WAL from being reused. Raises RunNotFound, JournalUnusable, StorageUnavailable.
    """
    file = TemporaryFile()  # noqa: SIM115 - the caller's
    try:
        with clear_errors(path), closing(open_reader(path)) as connection:
            connection.execute("BEGIN")
            _write(connection, path, run_id, file)
            connection.execute("COMMIT")
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return file


def _write(connection: Connection, path: Path, run_id: str, file: IO[bytes]) -> None:
    found = connection.execute("SELECT number FROM runs WHERE run_id = ?", (run_id,)).fetchone()
    if found is None:
        raise RunNotFound(f"no run {run_id} in {path}")
    number: int = found[0]
    digest, lines = sha256(), 0

    def put(value: dict[str, Any]) -> None:
        nonlocal lines
        data = json.dumps(value, separators=(",", ":")).encode() + b"\n"
        digest.update(data)
        file.write(data)
        lines += 1

    put(
        {
            "poolboard_export": FORMAT,
            "run": _row(connection, RunLine, "runs", "number", number),
            "lease": _row(connection, LeaseLine, "leases", "run", number),
            "control": _row(connection, ControlLine, "control", "run", number),
        }
    )
    for word, model in ROWS.items():
        names = list(model.model_fields)
        for row in connection.execute(_select(word, names), (base(number), base(number) + SPAN, number)):
            put({word: {name: _plain(value) for name, value in zip(names, row, strict=True)}})
    file.write(json.dumps({"end": {"lines": lines, "sha256": digest.hexdigest()}}).encode() + b"\n")


def _row(connection: Connection, model: type[Line], table: str, key: str, number: int) -> dict[str, Any] | None:
    names = list(model.model_fields)
    row = connection.execute(f"SELECT {', '.join(names)} FROM {table} WHERE {key} = ?", (number,)).fetchone()
    return None if row is None else dict(zip(names, row, strict=True))


def _select(word: str, names: list[str]) -> str:
    """Return the statement for one table's rows of a run; ?1 is the run's base, ?2 its end, ?3 its number."""
    table, key, field = TABLES[word]
    if key is None:
        return f"SELECT {', '.join(names)} FROM {table} WHERE run = ?3 AND ?1 < ?2 ORDER BY {field}"
    columns = ", ".join(f"{key} - ?1" if name == field else name for name in names)
    return f"SELECT {columns} FROM {table} WHERE {key} >= ?1 AND {key} < ?2 AND ?3 > 0 ORDER BY {key}"


def _plain(value: object) -> object:
    return value.hex() if isinstance(value, bytes) else value

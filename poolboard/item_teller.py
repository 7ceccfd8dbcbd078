"""Tells of the items of ``each`` as they end: output on stdout, complaints and failures on stderr, the job log."""

from __future__ import annotations

import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from poolboard import item_files, joblog, shapes, words
from poolboard.console import complain, say
from poolboard.item_times import ItemTimes
from poolboard.joblog import Joblog
from poolboard.spool import Index
from poolboard.told_items import ToldItems

if TYPE_CHECKING:
    from poolboard.engine.monitor import Monitor
    from poolboard.engine.views import ChildRow, Cursor, Summary

PAGE_ROWS: Final = 2000
#: What a line of JSON holds of an output; all of it is in the log.
JSON_OUTPUT_BYTES: Final = 64 * 1024
_ENDED: Final = frozenset({"completed", "failed", "cancelled"})
START: Final[Cursor] = (0, -1)


@dataclass(frozen=True, slots=True)
class Telling:
    """What is wanted: outputs in the list's order or as they come, as JSON, or not at all (behind a screen)."""

    in_order: bool = False
    as_json: bool = False
    outputs: bool = True


class ItemTeller:
    """Follows the rows of one run's children."""

    def __init__(self, run_id: str, folder: Path, commands: Index, telling: Telling, log: Joblog | None) -> None:
        self._run_id, self._folder, self._commands = run_id, folder, commands
        self._telling, self._log = telling, log
        self._cursor: Cursor = START
        self._times = ItemTimes(run_id)
        self._kept = ToldItems(folder)
        self._waiting: dict[int, ChildRow] = {}
        self._told: set[int] = set()
        self._next = 1

    async def take_up(self, monitor: Monitor, *, failed_too: bool) -> None:
        """Tell of what ended while nobody was there to tell of it (``failed_too``: or failed), and log it."""
        self._told = self._kept.known()
        if self._log is not None:
            await self._times.read_on(monitor)
        async for row in self._changed(monitor):
            if row.state not in ("completed", "failed"):
                continue
            if self._log is not None and row.n not in self._log.known:
                self._note(row)
            if failed_too or row.state == "completed":
                self._ended(row, noted=True)
            else:
                # It is tried again, and what comes of that is told.
                self._told.discard(row.n)

    async def take(self, monitor: Monitor, summary: Summary) -> None:
        """Tell of what has ended since the last time."""
        if self._log is not None:
            await self._times.read_on(monitor)
        async for row in self._changed(monitor):
            if row.state in _ENDED:
                self._ended(row)
        if summary.run.ended_at is not None:
            self.rest()

    def rest(self) -> None:
        """Tell of what waited for its turn; no more comes before it."""
        for n in sorted(self._waiting):
            self._tell(self._waiting.pop(n))

    async def _changed(self, monitor: Monitor) -> AsyncIterator[ChildRow]:
        more = True
        while more:
            page = await monitor.children(self._run_id, self._cursor, PAGE_ROWS)
            self._cursor, more = page.cursor, page.more
            for row in page.rows:
                yield row

    def _ended(self, row: ChildRow, *, noted: bool = False) -> None:
        if row.state != "cancelled" and not noted:
            self._note(row)
        # In order, what lies behind us has been told; its row may come again, or after those of later items.
        if row.n in self._told or (self._telling.in_order and row.n < self._next):
            return
        if not self._telling.in_order:
            self._tell(row)
            return
        self._waiting[row.n] = row
        while self._next in self._told or self._next in self._waiting:
            if (due := self._waiting.pop(self._next, None)) is not None:
                self._tell(due)
            self._next += 1

    def _tell(self, row: ChildRow) -> None:
        if row.state == "cancelled" or not self._telling.outputs:
            return
        self._print(row)
        self._kept.add(row.n)

    def _print(self, row: ChildRow) -> None:
        output = item_files.newest(self._folder, row.n, "stdout")
        complaints = item_files.newest(self._folder, row.n, "command")
        if self._telling.as_json:
            say(shapes.line(self._shape(row, output, complaints)))
            return
        _pour(output, sys.stdout.buffer if sys.stdout is not None else None)
        with suppress(OSError):
            _pour(complaints, sys.stderr.buffer if sys.stderr is not None else None)
        if row.state == "failed":
            complain(f"item {row.n} failed: {words.shown(row.error or 'unknown')}: {words.shown(self._command(row))}")

    def _shape(self, row: ChildRow, output: Path | None, complaints: Path | None) -> shapes.Shape:
        end = joblog.ending(row)
        return {
            "type": "item",
            "n": row.n,
            "status": row.state,
            "exit_code": end.exit_code,
            "signal": end.signal,
            "command": self._command(row),
            "error": row.error,
            "started_at": shapes.instant(row.started_at),
            "ended_at": shapes.instant(row.ended_at),
            "stdout_bytes": _size_bytes(output),
            "stdout": _head(output),
            "stderr": _head(complaints),
        }

    def _note(self, row: ChildRow) -> None:
        if self._log is not None:
            output = item_files.newest(self._folder, row.n, "stdout")
            command = self._commands.command(row.n) or row.label
            self._log.write(row, self._times.taken(row.n), command, _size_bytes(output))

    def _command(self, row: ChildRow) -> str:
        return joblog.shown(self._commands.command(row.n) or row.label)


def _pour(path: Path | None, stream: BinaryIO | None) -> None:
    if path is None or stream is None:
        return
    try:
        file = path.open("rb")
    except OSError:
        return
    with file:
        shutil.copyfileobj(file, stream, 256 * 1024)
    stream.flush()


def _size_bytes(path: Path | None) -> int:
    return 0 if path is None else path.stat().st_size


def _head(path: Path | None) -> str:
    if path is None:
        return ""
    with path.open("rb") as file:
        return file.read(JSON_OUTPUT_BYTES).decode("utf-8", "replace")

"""The log of ``each --joblog``, in GNU parallel's columns."""

from __future__ import annotations

import re
import shlex
import signal
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TextIO

from poolboard.engine.errors import UserMistake
from poolboard.item_times import Span
from poolboard.templates import Command

if TYPE_CHECKING:
    from poolboard.engine.views import ChildRow

HEAD: Final = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n"

_EXIT: Final = re.compile(r"CommandFailed: exit code (\d+)")
_SIGNAL: Final = re.compile(r"CommandFailed: ended by (?:signal )?(\w+)")
_LOST: Final = re.compile(r"worker_lost \(signal (\d+)\)")


class Ending(NamedTuple):
    """How a command ended: exit code (-1 if a signal or a timeout ended it) and signal."""

    exit_code: int
    signal: int


def ending(row: ChildRow) -> Ending:
    """Return how an item's command ended, read from its row."""
    error = row.error or ""
    if row.state == "completed":
        return Ending(0, 0)
    if found := _EXIT.search(error):
        return Ending(int(found[1]), 0)
    if found := _SIGNAL.search(error):
        return Ending(-1, _number(found[1]))
    if "TimeoutError" in error:
        return Ending(-1, int(signal.SIGTERM))
    if found := _LOST.search(error):
        return Ending(-1, int(found[1]))
    # As a shell says it of a program that it cannot find, or not start.
    return Ending(127 if "FileNotFoundError" in error else 126, 0)


def _number(name: str) -> int:
    with suppress(KeyError):
        return int(signal.Signals[name])
    return int(name) if name.isdigit() else 0


def shown(command: Command) -> str:
    """Return a command as one text, the words of one without a shell quoted."""
    return command if isinstance(command, str) else shlex.join(command)


class Joblog:
    """An open log; ``known`` are the numbers that an earlier command has written into it."""

    def __init__(self, path: Path, *, go_on: bool) -> None:
        """Open the file, anew or to go on with it; raises UserMistake."""
        self.known: set[int] = set()
        try:
            if go_on and path.exists():
                with path.open(encoding="utf-8", errors="surrogateescape") as before:
                    self.known = set(_numbers(before))
            self._file: TextIO = path.open("a" if self.known else "w", encoding="utf-8", errors="surrogateescape")
        except OSError as error:
            raise UserMistake(f"--joblog {path}: {error.strerror}") from None
        if not self.known:
            self._file.write(HEAD)
            self._file.flush()

    def write(self, row: ChildRow, times: Span | None, command: Command, received_bytes: int) -> None:
        """Add the line of an item that has ended; ``times`` are those of its last try, if they are known."""
        started_at, ended_at = times or (row.started_at or row.ready_at, row.ended_at or row.ready_at)
        end = ending(row)
        # GNU parallel keeps a command on one line the same way.
        text = shown(command).replace("\n", "\0")
        self._file.write(
            f"{row.n}\t:\t{started_at / 1000:.3f}\t{(ended_at - started_at) / 1000:10.3f}\t0\t{received_bytes}\t"
            f"{end.exit_code}\t{end.signal}\t{text}\n"
        )
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _numbers(lines: Iterable[str]) -> Iterable[int]:
    for line in lines:
        head = line.partition("\t")[0]
        if head.isdigit():
            yield int(head)

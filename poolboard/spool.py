"""The list of a run's commands on its way: a file that the command line appends to and the root run reads.

A line of JSON per command, and ``null`` as the last line when the list is whole. Who appends holds a lock on the file,
so that its death shows: no lock and no last line means that the list was cut off, and that nobody will go on with it.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
import zlib
from array import array
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from poolboard.engine.errors import UserMistake
from poolboard.templates import Command

END: Final = b"null\n"
BUFFER_BYTES: Final = 64 * 1024
#: Between two places of the index that finds a command by its number.
INDEX_STEP: Final = 64
LOCK_TRIES: Final = 20
#: A page is not made longer, however few commands that are. The longest command, escaped, still fits into one.
PAGE_BYTES: Final = 1024 * 1024


class SpoolWriter:
    """Appends commands; one process at a time."""

    def __init__(self, path: Path) -> None:
        """Open the file, made if it is not there, and lock it; raises UserMistake if somebody else appends."""
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._lock(path)
        self._buffer = bytearray()
        self._drop_torn_line()

    def _lock(self, path: Path) -> None:
        for _ in range(LOCK_TRIES):
            with suppress(BlockingIOError):
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            # The run looks from time to time whether the lock is held, by taking it for a moment.
            time.sleep(0.01)
        os.close(self._descriptor)
        raise UserMistake(f"another command is reading the list of run {path.parent.name[:8]} already")

    def _drop_torn_line(self) -> None:
        size_bytes = os.fstat(self._descriptor).st_size
        start = max(0, size_bytes - PAGE_BYTES)
        keep = start + os.pread(self._descriptor, PAGE_BYTES, start).rfind(b"\n") + 1
        os.ftruncate(self._descriptor, keep)
        os.lseek(self._descriptor, keep, os.SEEK_SET)

    def add(self, command: Command) -> None:
        """Append a command; it is seen after ``flush``."""
        self._buffer += json.dumps(command, separators=(",", ":")).encode() + b"\n"
        if len(self._buffer) >= BUFFER_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write what was added."""
        while self._buffer:
            del self._buffer[: os.write(self._descriptor, self._buffer)]

    def finish(self) -> None:
        """Mark the list as whole."""
        self._buffer += END
        self.flush()
        os.fsync(self._descriptor)

    def close(self) -> None:
        """Let go of the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


@dataclass(frozen=True, slots=True)
class Page:
    """A part of the list: ``count`` commands up to the byte ``end``; ``last`` says that the list ends with it."""

    count: int
    end: int
    checksum: int
    last: bool


def look(path: Path, at: int, limit: int) -> Page:
    """Return the page that begins at a byte, as far as it is written now; raises FileNotFoundError."""
    data, last = _lines(path, at, limit)
    body = data.removesuffix(END) if last else data
    return Page(body.count(b"\n"), at + len(data), zlib.crc32(data), last)


def settle(path: Path, at: int, limit: int) -> Page:
    """Return the page once it is on the disk: what is recorded of it must not outlive it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return look(path, at, limit)


def commands(path: Path, at: int, page: Page) -> list[Command]:
    """Return the commands of a page; raises ValueError if the file is not what it was."""
    with path.open("rb") as file:
        file.seek(at)
        data = file.read(page.end - at)
    if zlib.crc32(data) != page.checksum:
        raise ValueError(f"the list of commands in {path} is not what it was")
    return [json.loads(line) for line in data.splitlines()[: page.count]]


def _lines(path: Path, at: int, limit: int) -> tuple[bytes, bool]:
    """Return whole lines from a byte on, and whether the last one ends the list."""
    with path.open("rb") as file:
        file.seek(at)
        data = file.read(PAGE_BYTES)
    end = -1
    for _ in range(limit + 1):
        start, end = end + 1, data.find(b"\n", end + 1)
        if end < 0:
            return data[:start], False
        if data[start : end + 1] == END:
            return data[: end + 1], True
    return data[:start], False


def is_written(path: Path) -> bool:
    """Whether somebody has the list open to append to it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def is_whole(path: Path) -> bool:
    """Whether the list has its end."""
    with suppress(OSError), path.open("rb") as file:
        size_bytes = file.seek(0, os.SEEK_END)
        if size_bytes >= len(END):
            file.seek(size_bytes - len(END) - (size_bytes > len(END)))
            tail = file.read()
            return tail == END or tail == b"\n" + END
    return False


def every(path: Path) -> Iterator[Command]:
    """Yield the commands that are in the list now."""
    with suppress(FileNotFoundError), path.open("rb") as file:
        for line in file:
            if line == END or not line.endswith(b"\n"):
                return
            yield json.loads(line)


class Index:
    """Finds commands by their numbers, from 1, without holding them: every so many lines it remembers the place."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._places = array("Q", [0])

    def command(self, number: int) -> Command | None:
        """Return a command; None if it is not there."""
        try:
            file = self._path.open("rb")
        except FileNotFoundError:
            return None
        with file:
            known = min((number - 1) // INDEX_STEP, len(self._places) - 1)
            file.seek(self._places[known])
            for passed in range(known * INDEX_STEP, number - 1):
                if not file.readline():
                    return None
                if (passed + 1) % INDEX_STEP == 0 and (passed + 1) // INDEX_STEP == len(self._places):
                    self._places.append(file.tell())
            line = file.readline()
        return json.loads(line) if line.endswith(b"\n") and line != END else None


def note_taken(path: Path, count: int) -> None:
    """Say how many commands the run has taken up, for whoever appends; a hint."""
    with suppress(OSError):
        beside = path.with_name("taken.new")
        beside.touch(mode=0o600)
        beside.write_text(str(count))
        beside.replace(path.with_name("taken"))


def taken(path: Path) -> int:
    """Return how many commands the run has taken up, as far as is known."""
    try:
        return int(path.with_name("taken").read_text())
    except (OSError, ValueError):
        return 0

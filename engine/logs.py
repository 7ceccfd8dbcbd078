"""Log files of attempts: what user code prints, attributed to its run and stage by context variables.

Bytes are kept raw, and never travel through the journal. One file per child, attempt and stage, made on first write:
``logs/<thousands>/<n>/<attempt>-<order>-<stage>.log``.
"""

from __future__ import annotations

import io
import logging
import os
import re
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import TextIO

from . import secrets
from .masking import Masking, masking
from .views import LogFile

#: Per stage. What comes after is dropped, and the gap is marked (DESIGN 4).
STAGE_LOG_LIMIT_BYTES = 64 * 1024 * 1024
_SAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_NAME = re.compile(r"^(\d+)-(\d+)-(.+)\.log$")

current: ContextVar[LogSink | None] = ContextVar("poolboard_log", default=None)


class LogSink:
    """An append-only log file of one stage of one attempt; safe from several threads."""

    __slots__ = ("_descriptor", "_lock", "_masking", "_path", "_size")

    def __init__(self, path: Callable[[], Path]) -> None:
        self._path = path
        self._descriptor: int | None = None
        self._size = 0
        self._masking: Masking | None = None
        self._lock = threading.Lock()

    def fileno(self) -> int:
        """Return the open file, for a program that writes to it itself."""
        with self._lock:
            return self._opened()

    def _opened(self) -> int:
        if self._descriptor is None:
            path = self._path()
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        return self._descriptor

    def write(self, data: bytes) -> None:
        """Append bytes at once, unbuffered: a killed worker has lost nothing that it printed.

        Only what may be the beginning of a secret waits for what comes after it, or for ``close``.
        """
        with self._lock:
            self._masking = self._masking or masking()
            self._write(data if self._masking is None else self._masking.take(data))

    def _write(self, data: bytes) -> None:
        if not data or self._size >= STAGE_LOG_LIMIT_BYTES:
            return
        self._size += len(data)
        if self._size >= STAGE_LOG_LIMIT_BYTES:
            data += b"\n[poolboard: this stage's log is full at %d bytes; the rest is not kept]\n" % self._size
        try:
            os.write(self._opened(), data)
        except OSError:
            # A full disk for logs must not fail the work: the journal tells its own truth.
            self._size = STAGE_LOG_LIMIT_BYTES

    def tail(self, limit: int) -> bytes:
        """Return the end of what was written, also by programs; empty if nothing was."""
        with suppress(OSError), self._path().open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - limit))
            return file.read(limit)
        return b""

    def close(self) -> None:
        """Give the file descriptor back; a later write opens the file again."""
        with self._lock:
            if self._masking is not None:
                self._write(self._masking.rest())
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None


class AttributedStream(io.TextIOBase):
    """Stands in for sys.stdout and sys.stderr: writes to the log of the code that prints, else to the worker's own."""

    def __init__(self, own: TextIO) -> None:
        self._own = own

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Always UTF-8; lone surrogates pass as the bytes they stand for."""
        return "utf-8"

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return False

    def fileno(self) -> int:
        return self._own.fileno()

    def write(self, text: str) -> int:
        sink = current.get()
        if sink is None:
            self._own.write(secrets.masked(text))
            self._own.flush()
        else:
            sink.write(text.encode("utf-8", "surrogateescape"))
        return len(text)

    def flush(self) -> None:
        self._own.flush()


def to_stderr() -> None:
    """Send this process's own messages to stderr, which is its log file."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s poolboard: %(message)s"))
    logger = logging.getLogger("poolboard")
    logger.handlers[:] = [handler]
    logger.propagate = False


def attribute_prints() -> None:
    """Route print() in this process to the log of the run and stage that prints."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
    sys.stdout = AttributedStream(sys.stdout)
    sys.stderr = AttributedStream(sys.stderr)


def child_folder(logs: Path, n: int) -> Path:
    """Return where a child's logs are; a thousand to a folder, so that none grows too wide."""
    return logs / f"{n // 1000:04d}" / str(n)


def sink_for(logs: Path, n: int, attempt: int, order: int, stage: str) -> LogSink:
    """Return the sink of a stage; ``order`` keeps the files in the order of the stages (0: outside stages).

    Most stages print nothing, so the path is not even put together before the first write.
    """
    return LogSink(partial(_path, logs, n, attempt, order, stage))


def _path(logs: Path, n: int, attempt: int, order: int, stage: str) -> Path:
    name = _SAFE.sub("_", stage)[:80] or "_"
    return child_folder(logs, n) / f"{attempt}-{order}-{name}.log"


def log_files(logs: Path, n: int, limit: int = 1000) -> tuple[LogFile, ...]:
    """Return a child's log files in the order of attempts and stages; at most ``limit``."""
    found: list[tuple[int, int, LogFile]] = []
    try:
        listed = sorted(os.scandir(child_folder(logs, n)), key=lambda entry: entry.name)
    except OSError:
        return ()
    for entry in listed[:limit]:
        match = _NAME.match(entry.name)
        if match:
            log = LogFile(match[3], int(match[1]), entry.path, entry.stat().st_size)
            found.append((int(match[1]), int(match[2]), log))
    return tuple(log for _, _, log in sorted(found, key=lambda item: item[:2]))

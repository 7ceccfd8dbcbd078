"""Where a program's output goes: straight into its log, or through this process where something is to be done with it.

Straight, a program that is told to write gets the file itself: nothing is copied, and nothing it wrote is lost with us.
Through us comes what is captured, and everything of a process that knows secrets: they are taken out on the way.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from . import logs, secrets
from .masking import Masking, masking

#: What ``capture`` keeps of a program's output at most; all of it is in the log.
CAPTURE_LIMIT_BYTES = 512 * 1024
READ_BYTES = 65536
#: How long the end of the output is waited for once the program and its group are gone: what it started may have
#: made a group of its own, and hold the pipe for ever.
REST_LIMIT_S = 1.0


class _File:
    """A file for a program's output alone."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        self._masking: Masking | None = masking()

    def fileno(self) -> int:
        return self._descriptor

    def write(self, data: bytes) -> None:
        self._put(data if self._masking is None else self._masking.take(data))

    def _put(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._descriptor, data) :]

    def close(self) -> None:
        if self._masking is not None:
            self._put(self._masking.rest())
        os.close(self._descriptor)


class _Pipe(NamedTuple):
    """One pipe from the program: what comes out of it goes to ``target``, its beginning to ``kept``."""

    read: int
    write: int
    target: _File | logs.LogSink | None
    kept: bytearray | None


class CommandOutput:
    """The output of one program. ``stdout`` and ``stderr`` are what it is to be started with."""

    def __init__(self, file: _File | None, sink: logs.LogSink | None, capture: bool) -> None:
        self._file, self._sink = file, sink
        self._kept: bytearray | None = bytearray() if capture else None
        self._copying: list[asyncio.Task[None]] = []
        self._pipes: list[_Pipe] = []
        self._error: OSError | None = None
        target, straight = file or sink, not secrets.known()
        if capture or (target is not None and not straight):
            self.stdout: int | None = self._pipe(target, self._kept)
        else:
            self.stdout = None if target is None else target.fileno()
        if sink is None or straight:
            self.stderr = None if sink is None else sink.fileno()
        elif target is sink and not capture:
            # Both into one log: one pipe keeps them in the order in which they were written.
            self.stderr = self.stdout
        else:
            self.stderr = self._pipe(sink, None)

    def _pipe(self, target: _File | logs.LogSink | None, kept: bytearray | None) -> int:
        # Ours, not asyncio's: with those, the end of a program is told only when the last one that holds them ends.
        read, write = os.pipe()
        self._pipes.append(_Pipe(read, write, target, kept))
        return write

    def follow(self) -> None:
        """Copy what comes through pipes, once the program was started."""
        for pipe in self._pipes:
            os.close(pipe.write)
            self._copying.append(asyncio.create_task(self._copy(pipe)))

    def give_up(self) -> None:
        """Close the pipes of a program that could not be started."""
        for pipe in self._pipes:
            os.close(pipe.write)
            os.close(pipe.read)

    async def _copy(self, pipe: _Pipe) -> None:
        stream = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(stream), os.fdopen(pipe.read, "rb", 0)
        )
        try:
            while data := await stream.read(READ_BYTES):
                self._take(pipe, data)
        finally:
            transport.close()

    def _take(self, pipe: _Pipe, data: bytes) -> None:
        try:
            if pipe.target is not None and self._error is None:
                pipe.target.write(data)
        except OSError as error:
            # Read on: a program that waits for a reader would never end. It has failed all the same.
            self._error = error
        if pipe.kept is not None:
            pipe.kept.extend(data[: CAPTURE_LIMIT_BYTES - len(pipe.kept)])

    async def ended(self) -> None:
        """Return when nobody can write any more."""
        await asyncio.gather(*self._copying)

    async def rest(self) -> None:
        """Take what is still in the pipes of a program that is gone."""
        if self._copying:
            _, late = await asyncio.wait(self._copying, timeout=REST_LIMIT_S)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        if self._sink is not None:
            self._sink.close()  # what was kept back of it is in the log before anybody reads its last lines

    def check(self) -> None:
        """Raise the OSError for which some of the output was lost."""
        if self._error is not None:
            raise self._error

    def captured(self) -> str | None:
        """Return the beginning of the output if it was asked for, without what this process knows to be secret."""
        return None if self._kept is None else secrets.masked(self._kept.decode("utf-8", "replace"))


@contextmanager
def opened(stdout: Path | None, sink: logs.LogSink | None, *, capture: bool) -> Iterator[CommandOutput]:
    """Open what a program's output goes to, and close it afterwards; the log stays its owner's."""
    file = None if stdout is None else _File(stdout)
    try:
        yield CommandOutput(file, sink, capture)
    finally:
        if file is not None:
            file.close()

"""Reads a log of any size by blocks of whole lines, from any place, forwards and backwards."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Final, NamedTuple

from .log_lines import LogLine, hits, last_hit

#: What one read asks for.
BLOCK_BYTES: Final = 262_144
#: A line without an end is taken as ended here: nothing is read for ever.
LONGEST_LINE_BYTES: Final = 128 * 1024 * 1024


class Block(NamedTuple):
    """Whole lines from ``start`` on. ``rest``: what follows them at the file's end without a newline."""

    start: int
    data: bytes
    rest: bytes = b""

    @property
    def end(self) -> int:
        """Where the next block begins."""
        return self.start + len(self.data)


class LogReader:
    """One log. A file that is gone reads as empty. ``read`` takes an offset and a limit, as ``LogChain.read``."""

    def __init__(self, read: Callable[[int, int], Awaitable[bytes]]) -> None:
        self._read: Final = read

    async def after(self, start: int) -> Block:
        """Return whole lines that begin at ``start``; empty at the end."""
        parts: list[bytes] = []
        read = 0
        while read < LONGEST_LINE_BYTES:
            data = await self._read(start + read, BLOCK_BYTES)
            newline = data.rfind(b"\n")
            if newline >= 0:
                parts.append(data[: newline + 1])
                at_end = len(data) < BLOCK_BYTES
                return Block(start, b"".join(parts), data[newline + 1 :] if at_end else b"")
            parts.append(data)
            read += len(data)
            if len(data) < BLOCK_BYTES:
                return Block(start, b"", b"".join(parts))
        return Block(start, b"".join(parts))

    async def before(self, end: int) -> Block:
        """Return whole lines that end at ``end``, which is a line's start; empty at the file's start."""
        parts: list[bytes] = []
        start = end
        while start > 0 and end - start < LONGEST_LINE_BYTES:
            at = max(0, start - BLOCK_BYTES)
            data = await self._read(at, start - at)
            # The block's own last newline ends its last line: look for one before it.
            newline = data.find(b"\n", 0, len(data) if parts else -1)
            if at > 0 and newline >= 0:
                parts.append(data[newline + 1 :])
                start = at + newline + 1
                break
            parts.append(data)
            start = at
        return Block(start, b"".join(reversed(parts)))

    async def line_start(self, offset: int) -> int:
        """Return where the line that ``offset`` is in begins."""
        while offset > 0:
            at = max(0, offset - BLOCK_BYTES)
            data = await self._read(at, offset - at)
            newline = data.rfind(b"\n")
            if newline >= 0:
                return at + newline + 1
            offset = at
        return 0

    async def find(self, needles: Sequence[bytes], start: int) -> LogLine | None:
        """Return the first line from ``start`` on that holds one of the needles."""
        async for block in self.blocks(start):
            found = next(hits(block.data, block.start, needles), None)
            if found is not None:
                return found
        return None

    async def find_back(self, needles: Sequence[bytes], end: int) -> LogLine | None:
        """Return the last line before ``end`` that holds one of the needles."""
        while end > 0:
            block = await self.before(end)
            found = last_hit(block.data, block.start, needles)
            if found is not None or block.start >= end:
                return found
            end = block.start
            await asyncio.sleep(0)
        return None

    async def blocks(self, start: int) -> AsyncIterator[Block]:
        """Yield block after block to the file's end; keys come between two of them."""
        while True:
            block = await self.after(start)
            if not block.data:
                return
            yield block
            start = block.end
            await asyncio.sleep(0)

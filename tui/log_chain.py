"""Several log files read as one: before each stands a line that says which it is. Knows no screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from .source import Source


class Link(NamedTuple):
    """A file of the chain: where it lies, how long it was, and the words of the line before it."""

    path: str
    size_bytes: int
    words: str


class _Part(NamedTuple):
    start: int
    mark: bytes
    path: str
    size_bytes: int

    @property
    def end(self) -> int:
        return self.start + len(self.mark) + self.size_bytes


class LogChain:
    """The files in their order. All but the last are read as long as they were; the last may grow."""

    def __init__(self, source: Source, parts: Sequence[_Part]) -> None:
        self._source: Final = source
        self._parts: Final = tuple(parts)
        self.marks: Final = frozenset(part.start + len(part.mark) - len(part.mark.lstrip(b"\n")) for part in parts)

    @classmethod
    async def open(cls, source: Source, links: Sequence[Link]) -> LogChain:
        """Chain the files. A single one has no line before it; one that ends within a line gets its end."""
        parts: list[_Part] = []
        at, begins_line = 0, True
        for link in links:
            mark = b"" if len(links) == 1 else f"── {link.words} ──\n".encode("utf-8", "replace")
            part = _Part(at, mark if begins_line else b"\n" + mark, link.path, link.size_bytes)
            parts.append(part)
            at = part.end
            last = await source.read_log(link.path, link.size_bytes - 1, 1) if link.size_bytes else b"\n"
            begins_line = last == b"\n"
        return cls(source, parts)

    @property
    def size_bytes(self) -> int:
        """How long the whole was when it was opened."""
        return self._parts[-1].end if self._parts else 0

    async def read(self, offset: int, limit: int) -> bytes:
        """Return bytes from an offset; fewer than ``limit`` only at the end."""
        found: list[bytes] = []
        for part in self._parts:
            is_last = part is self._parts[-1]
            if limit <= 0 or (offset >= part.end and not is_last):
                continue
            within = offset - part.start
            if within < len(part.mark):
                data = part.mark[within : within + limit]
                found.append(data)
                offset, limit, within = offset + len(data), limit - len(data), within + len(data)
            most = limit if is_last else min(limit, part.end - offset)
            if most > 0:
                data = await self._source.read_log(part.path, within - len(part.mark), most)
                if not is_last:
                    data = data.ljust(most, b"\n")  # a file that was cut since must not shift what follows
                found.append(data)
                offset, limit = offset + len(data), limit - len(data)
        return b"".join(found)

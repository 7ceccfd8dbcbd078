"""Where the items of ``each`` come from: words of the command line, a pipe, a CSV file. Read as they come, never whole.

An item is a list of texts: one, or up to ``--max-args`` taken together, or the cells of a CSV row. Sources yield
batches: what came with one read, so that whoever waits behind a slow pipe gets every item at once.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from poolboard.engine.errors import UserMistake

Item = list[str]

READ_BYTES: Final = 64 * 1024
#: Longer ones fit into no command.
MAX_ITEM_BYTES: Final = 128 * 1024
#: Rows of a CSV file per batch.
ROWS: Final = 256


def of_words(words: Sequence[str]) -> Iterator[list[Item]]:
    """Yield the items of the command line, in one batch."""
    if words:
        yield [[word] for word in words]


def of_pipe(descriptor: int, separator: bytes) -> Iterator[list[Item]]:
    """Yield the items of a pipe or file, separated by newlines or NUL bytes; raises UserMistake for an endless one."""
    rest, number = b"", 0
    while data := os.read(descriptor, READ_BYTES):
        *whole, rest = (rest + data).split(separator)
        if len(rest) > MAX_ITEM_BYTES:
            raise UserMistake(f"item {number + len(whole) + 1} is longer than {MAX_ITEM_BYTES} bytes; is it a list?")
        if whole:
            yield [[_text(item, number + i)] for i, item in enumerate(whole, 1)]
            number += len(whole)
    if rest:
        yield [[_text(rest, number + 1)]]


def _text(item: bytes, number: int) -> str:
    if b"\0" in item:
        raise UserMistake(f"item {number} holds a NUL byte; -0 reads items that are separated by them")
    return item.decode("utf-8", "surrogateescape")


class Table:
    """A CSV file with a header line."""

    def __init__(self, descriptor: int, name: str) -> None:
        """Read the header; raises UserMistake if it is no header."""
        self._name = name
        self._file = os.fdopen(descriptor, encoding="utf-8-sig", errors="surrogateescape", newline="")
        self._rows = csv.reader(self._file, strict=True)
        self.columns = self._next() or []
        if not self.columns or not all(self.columns) or len(set(self.columns)) < len(self.columns):
            self._file.close()
            raise UserMistake(f"{name}: the first line must name the columns, each by a name of its own")

    def batches(self, size: int = ROWS) -> Iterator[list[Item]]:
        """Yield the rows; raises UserMistake for one that has not a cell for each column."""
        batch: list[Item] = []
        with self._file:
            while (row := self._next()) is not None:
                if not row:
                    continue
                self._check(row)
                batch.append(row)
                if len(batch) >= size:
                    yield batch
                    batch = []
        if batch:
            yield batch

    def _check(self, row: Item) -> None:
        if len(row) != len(self.columns):
            raise UserMistake(f"{self._at()}: {len(row)} cells, but {len(self.columns)} columns")
        if any("\0" in cell for cell in row):
            raise UserMistake(f"{self._at()}: a NUL byte")

    def _next(self) -> Item | None:
        try:
            return next(self._rows, None)
        except csv.Error as error:
            raise UserMistake(f"{self._at()}: {error}") from None

    def _at(self) -> str:
        return f"{self._name}:{self._rows.line_num}"


def grouped(batches: Iterable[list[Item]], size: int) -> Iterator[list[Item]]:
    """Take up to ``size`` items together, as they come; only the last one may be smaller."""
    if size == 1:
        yield from batches
        return
    rest: Item = []
    for batch in batches:
        rest += [text for item in batch for text in item]
        whole = len(rest) - len(rest) % size
        if whole:
            yield [rest[start : start + size] for start in range(0, whole, size)]
            rest = rest[whole:]
    if rest:
        yield [rest]

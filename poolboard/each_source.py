"""Which items ``each`` was given, and where: opened once, read as they come."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

from poolboard import items
from poolboard.engine.errors import UserMistake
from poolboard.items import Item, Table
from poolboard.templates import Template

STDIN: Final = 0


@dataclass(frozen=True, slots=True)
class Source:
    """``words`` after ``:::``, a CSV file (``-``: stdin), or else stdin, separated by newlines or NUL bytes."""

    words: list[str] | None = None
    table: Path | None = None
    nul: bool = False

    @property
    def is_explicit(self) -> bool:
        """Whether the items are named on the command line, so that reading them takes nothing from anybody."""
        return self.words is not None or (self.table is not None and not self.is_stdin)

    @property
    def is_stdin(self) -> bool:
        """Whether the items come from stdin."""
        return self.words is None and (self.table is None or str(self.table) == "-")

    def opened(self, max_args: int) -> tuple[Iterator[list[Item]], list[str] | None]:
        """Return the items in batches, and the columns of a table; raises UserMistake."""
        if self.table is not None:
            table = self._table()
            return table.batches(1 if self.is_stdin else items.ROWS), table.columns
        if self.words is not None:
            return items.grouped(items.of_words(self.words), max_args), None
        return items.grouped(items.of_pipe(_stdin(), b"\0" if self.nul else b"\n"), max_args), None

    def _table(self) -> Table:
        if self.is_stdin:
            return Table(_stdin(), "--csv -")
        # A fault far down must not show when half of the commands have run.
        for _ in Table(_file(self.table), str(self.table)).batches():
            pass
        return Table(_file(self.table), str(self.table))


def _file(path: Path | None) -> int:
    try:
        return os.open(path or "", os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise UserMistake(f"--csv {path}: {error.strerror}") from None


def _stdin() -> int:
    """Return stdin's own copy, so that a screen can have the terminal in its place."""
    if sys.stdin is None or sys.stdin.isatty():
        raise UserMistake("no items; give them after ::: , or one a line through a pipe")
    return os.dup(STDIN)


def begun(batches: Iterator[list[Item]], template: Template) -> Iterator[list[Item]] | None:
    """Wait for the first items and return all of them; None if there are none. Raises UserMistake for a bad one."""
    first = next(batches, None)
    if first is None:
        return None
    for number, item in enumerate(first, 1):
        template.render(item, number)
    return chain([first], batches)

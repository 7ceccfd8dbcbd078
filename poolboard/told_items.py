"""Which items of a run somebody has told of on standard output: a file in the run's folder that outlives the reader.

A number is written once the item's output has been written and flushed. After a reader that was killed between the two
that one item is told of again; no other is told of twice, and none is left out.
"""

from __future__ import annotations

import os
from array import array
from contextlib import suppress
from pathlib import Path


class ToldItems:
    """The file of one run. Opened at the first number, so that a reader that only looks makes none."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "told"
        self._descriptor = -1

    def known(self) -> set[int]:
        """Return the numbers that are there; half of one, from a full disk, is none."""
        numbers = array("Q")
        with suppress(OSError):
            data = self._path.read_bytes()
            numbers.frombytes(data[: len(data) - len(data) % numbers.itemsize])
        return set(numbers)

    def add(self, number: int) -> None:
        """Write a number at once. A full disk must not end the reader: then the item is told again later."""
        with suppress(OSError):
            if self._descriptor < 0:
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
                self._descriptor = os.open(self._path, flags, 0o600)
            os.write(self._descriptor, array("Q", [number]).tobytes())

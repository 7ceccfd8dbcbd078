"""Reads the items and writes their commands into the run's list, in a thread, while the run is already at work."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Final

from poolboard import spool
from poolboard.engine.errors import UserMistake
from poolboard.items import Item
from poolboard.templates import Command, Template

#: How far a list may be ahead of the run: an endless pipe must not fill the disk.
MOST_AHEAD: Final = 1_000_000
LOOK_S: Final = 0.1


class Feeder:
    """One list. ``error`` says why it was not read to its end; then it stays open, and the run ends ``blocked``."""

    def __init__(self, template: Template, batches: Iterator[list[Item]], path: Path) -> None:
        """Lock the list; raises UserMistake if another command is at it."""
        self._template, self._batches = template, batches
        self._path = path
        self._known = spool.every(path)
        self._writer = spool.SpoolWriter(path)
        self._stopped = threading.Event()
        # A daemon: whoever leaves the command need not wait for a slow pipe. The lock goes with the process.
        self._thread = threading.Thread(target=self._feed, name="feeder", daemon=True)
        self.error: str | None = None

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    @property
    def is_reading(self) -> bool:
        """Whether there may be more to come."""
        return self._thread.is_alive()

    def wait(self, timeout_s: float | None = None) -> None:
        """Return when the list has been read, or after the timeout."""
        self._thread.join(timeout_s)

    def stop(self) -> None:
        """Read no more."""
        self._stopped.set()

    def _feed(self) -> None:
        try:
            self._copy()
        except (UserMistake, OSError) as error:
            self.error = str(error)
        finally:
            self._writer.close()

    def _copy(self) -> None:
        """Write what comes; a list that was cut off is compared as far as it goes, and goes on from there."""
        number = 0
        for batch in self._batches:
            for item in batch:
                number += 1
                command = self._template.render(item, number)
                before = next(self._known, None)
                if before is None:
                    self._writer.add(command)
                elif before != command:
                    raise UserMistake(f"item {number} is not the one that it was when the run started")
            self._writer.flush()
            while number - spool.taken(self._path) > MOST_AHEAD and not self._stopped.is_set():
                self._stopped.wait(LOOK_S)
            if self._stopped.is_set():
                return
        if next(self._known, None) is not None:
            raise UserMistake(f"the list has {number} items, which is fewer than when the run started")
        self._writer.finish()


def same_list(template: Template, batches: Iterator[list[Item]], path: Path) -> str | None:
    """Compare the items with a list that is whole already; return what differs."""
    items = (item for batch in batches for item in batch)
    commands: Iterator[Command] = (template.render(item, number) for number, item in enumerate(items, 1))
    for number, (before, now) in enumerate(zip_longest(spool.every(path), commands), 1):
        if before != now:
            return f"item {number} is not the one that it was when the run started"
    return None

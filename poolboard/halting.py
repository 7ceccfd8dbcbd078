"""How ``each --halt`` is agreed on by the root run and its children, which run in several processes.

A few files in the run's state folder: one per failed item; one that says that nothing new may start; and one on which
whoever runs a command holds a shared lock, which its death gives back.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path


class Halting:
    """The files of one run; every process makes its own."""

    __slots__ = ("_failed", "_ordered", "_running")

    def __init__(self, folder: Path) -> None:
        self._failed, self._ordered, self._running = folder / "failed", folder / "halted", folder / "running"

    def fail(self, n: int) -> None:
        """Note that an item has failed for good; again is the same."""
        self._failed.mkdir(mode=0o700, exist_ok=True)
        (self._failed / str(n)).touch(mode=0o600)

    def failed(self) -> int:
        """Return how many items have failed."""
        try:
            return sum(1 for _ in self._failed.iterdir())
        except FileNotFoundError:
            return 0

    def order(self) -> None:
        """Let nothing new start."""
        self._ordered.touch(mode=0o600)

    def forget(self) -> None:
        """Take everything back: the run ends here, and what is tried again starts from nothing."""
        shutil.rmtree(self._failed, ignore_errors=True)
        for path in (self._ordered, self._running):
            path.unlink(missing_ok=True)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Be seen as running a command; after the order this waits for ever, until the root's end cancels it.

        1. a child locks, looks, and sees no order  2. it is given  3. the root tries the lock: the child is seen.
        """
        descriptor = os.open(self._running, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            # The root holds it for a moment, to see that nothing runs: so the order was given.
            os.close(descriptor)
            await asyncio.Event().wait()
        try:
            if self._ordered.exists():
                fcntl.flock(descriptor, fcntl.LOCK_UN)
                await asyncio.Event().wait()
            yield
        finally:
            with suppress(OSError):
                os.close(descriptor)

    def quiet(self) -> bool:
        """Whether no command runs now; asked after the order only."""
        descriptor = os.open(self._running, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(descriptor)
        return True

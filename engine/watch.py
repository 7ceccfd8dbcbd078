"""Wakes a screen when the journal's folder changes: watchfiles where it works, polling where it does not."""

from __future__ import annotations

import asyncio
from pathlib import Path

#: The folder is watched, not the ``-wal`` file: that one is made anew after all connections closed.
STEP_MS, DEBOUNCE_MS = 5, 50
POLL_S = 0.25


class FolderWatch:
    """A shared wake-up. It is only a hint: whoever wakes reads what is newer than what it has."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._changed = asyncio.Event()
        self._stop: asyncio.Event | None = None
        self._task: asyncio.Task[None] | None = None
        #: One sentence for the person when watching does not work here.
        self.notice: str | None = None

    async def wait(self, timeout_s: float) -> bool:
        """Return True when the folder changed since the last call, False after the timeout."""
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        limit_s = timeout_s if self.notice is None else min(timeout_s, POLL_S)
        try:
            async with asyncio.timeout(limit_s):
                await self._changed.wait()
        except TimeoutError:
            return False
        self._changed.clear()
        return True

    async def close(self) -> None:
        """Stop watching."""
        if self._stop is not None:
            self._stop.set()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        import watchfiles

        self._stop = asyncio.Event()
        try:
            async for _ in watchfiles.awatch(
                self._folder,
                stop_event=self._stop,
                step=STEP_MS,
                debounce=DEBOUNCE_MS,
                recursive=False,
                watch_filter=None,
            ):
                self._changed.set()
        except (OSError, RuntimeError) as error:
            # Out of inotify instances, or a file system that cannot be watched: the truth is read by polling.
            self.notice = f"live watch unavailable, polling ({error})"

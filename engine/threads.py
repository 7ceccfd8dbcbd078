"""Threads for sync stages. A hop to a thread and back is most of what a short stage costs, so it is kept small.

Not ``concurrent.futures``: its future, with a lock and a condition of its own, and the asyncio future chained to it
cost three times what this does.
"""

from __future__ import annotations

import asyncio
import contextvars
import gc
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

#: A loop that computes keeps the interpreter from other threads for 5 ms at a time by default: as long as ten commits.
TURN_S = 0.0005
#: The default (700, 10, 10) looks through everything that lives once in 70,000 objects: at every hundredth child.
GC_THRESHOLD = (10_000, 20, 50)
#: What a call came to: its value and None, or None and what it raised. Not every exception fits into a future.
Outcome = tuple[Any, BaseException | None]


def settle_in() -> None:
    """Prepare a process that has loaded what it needs for many short things: its threads give way to each other sooner,
    for its loop waits for what they do, and the collector leaves alone what was loaded."""
    sys.setswitchinterval(TURN_S)
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLD)


def watch_children_without_threads() -> None:
    """Let asyncio hear of its programs' ends by their descriptors, as it does by itself from Python 3.12 on.

    Before that it starts a thread for each program, to wait for it.
    """
    if sys.version_info < (3, 12) and hasattr(os, "pidfd_open"):
        with suppress(OSError):  # a kernel that has no such thing, or forbids it
            os.close(os.pidfd_open(os.getpid()))
            asyncio.set_child_watcher(asyncio.PidfdChildWatcher())


class Threads:
    """Runs plain functions for one event loop, each in a copy of its caller's context; made in the loop's thread."""

    __slots__ = ("_busy", "_calls", "_done", "_limit", "_loop", "_started", "_waking")

    def __init__(self, limit: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._calls: SimpleQueue[tuple[Callable[..., Any], Mapping[str, Any], asyncio.Future[Outcome], Any]]
        self._calls = SimpleQueue()
        self._done: deque[tuple[asyncio.Future[Outcome], Outcome]] = deque()
        self._limit = limit
        self._started = self._busy = 0
        self._waking = False

    def allow(self, limit: int) -> None:
        """Have as many threads as that at most; those that there are stay."""
        self._limit = limit

    def call(self, function: Callable[..., Any], given: Mapping[str, Any]) -> asyncio.Future[Outcome]:
        """Call the function with these keyword arguments; the future never raises. More than ``limit`` wait."""
        future: asyncio.Future[Outcome] = self._loop.create_future()
        self._busy += 1
        if self._busy > self._started < self._limit:
            self._started += 1
            # Daemons: nobody can end a function that hangs, and its process must be able to.
            threading.Thread(target=self._work, name=f"stage {self._started}", daemon=True).start()
        self._calls.put((function, given, future, contextvars.copy_context()))
        return future

    def _work(self) -> None:
        while True:
            function, given, future, context = self._calls.get()
            outcome: Outcome
            try:
                outcome = context.run(function, **given), None
            except BaseException as error:
                outcome = None, error
            self._done.append((future, outcome))
            # One wake-up for all that is done by then. 1. appended  2. the loop lowers the flag  3. it takes all of it:
            # what is appended after 2 sees the flag down and wakes it again.
            if not self._waking:
                self._waking = True
                with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                    self._loop.call_soon_threadsafe(self._deliver)
            del function, given, future, context, outcome

    def _deliver(self) -> None:
        self._waking = False
        while self._done:
            future, outcome = self._done.popleft()
            self._busy -= 1
            if not future.done():
                future.set_result(outcome)

"""A stage call that runs: what a message can reach it by. Made for every call, so it is kept small."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from contextvars import ContextVar
from typing import Any

from .message import Message


class Box:
    """The messages of one stage call. Filled by the loop, read by the stage from whichever thread it is in."""

    __slots__ = ("_read", "_unread")

    def __init__(self) -> None:
        self._unread: deque[Message] = deque()
        self._read: list[Message] = []

    def put(self, message: Message) -> None:
        """Lay a message in."""
        self._unread.append(message)

    def read(self) -> list[Message]:
        """Return what came since the last time."""
        found = []
        while self._unread:
            found.append(self._unread.popleft())
        self._read += found
        return found

    def rewind(self) -> None:
        """A new try begins: it sees everything again."""
        self._unread.extendleft(reversed(self._read))
        self._read = []

    def taken(self) -> list[int]:
        """Return the numbers of what the stage has read."""
        return [message.number for message in self._read]

    def unread(self) -> list[int]:
        """Return the numbers of what it has not."""
        return [message.number for message in self._unread]


class RunningCall:
    """One live stage call of a run, from its first try to its outcome."""

    __slots__ = ("_cancelling", "_task", "box", "interrupted", "name", "started")

    def __init__(self, name: str) -> None:
        self.name, self.started = name, time.perf_counter()
        self.box: Box | None = None
        #: The number of the message that cancels this call.
        self.interrupted: int | None = None
        self._task: asyncio.Task[Any] | None = asyncio.current_task()
        self._cancelling = 0

    def interrupt(self, number: int) -> None:
        """Cancel the call, once. Whoever awaits it sees StageInterrupted."""
        if self.interrupted is None and self._task is not None:
            self.interrupted, self._cancelling = number, self._task.cancelling()
            self._task.cancel()

    def gives_way(self) -> bool:
        """Say whether the cancellation that came is this interruption and nothing else; forget it either way."""
        return self._forget() and self._cancelling == 0

    def leave(self) -> None:
        """The call is over: an interruption that was swallowed must not stay on its task."""
        self._forget()
        self._task = None

    def _forget(self) -> bool:
        """Take the interruption back from the task. It is left cancelled only if somebody else cancels it too."""
        task = self._task
        if self.interrupted is None or task is None:
            return False
        self._task = None
        self._cancelling = max(0, task.uncancel() - self._cancelling)
        return True


#: The stage call that the running code belongs to; a thread has it by its copy of the context.
running_call: ContextVar[RunningCall | None] = ContextVar("running_call", default=None)


def inbox() -> list[Message]:
    """Return the messages for the stage that calls this, which came before it started or since; each once.

    They count as taken when the stage's outcome is recorded: a try that fails, or dies with its worker, leaves them to
    the next one. What a stage does not read goes to the run's own inbox. Outside of a stage there are none.
    """
    call = running_call.get()
    return [] if call is None or call.box is None else call.box.read()

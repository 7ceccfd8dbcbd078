"""Processes that a dead worker left behind: its shell commands and whatever user code started.

They are found by a mark in their environment, which every process that a worker starts inherits, also one that made a
session of its own. A number alone (pid, group, session) could belong to somebody else by now; the mark could not.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable

import psutil

from .identity import ProcessIdentity
from .spawn import MARK as MARK

GONE_LIMIT_S = 5.0


def find(workers: Iterable[str]) -> list[ProcessIdentity]:
    """Return the living processes of this user that carry the mark of one of the workers; never this process."""
    wanted = set(workers)
    found = []
    for pid in psutil.pids():
        if pid == os.getpid():
            continue
        identity = ProcessIdentity.of(pid)
        if identity is not None and _mark(pid) in wanted:
            found.append(identity)
    return found


def end(workers: Iterable[str]) -> list[ProcessIdentity]:
    """SIGKILL what the workers left and return what is still there after a bounded wait (normally nothing).

    Again and again, for a process may start another one between the look and the signal.
    """
    wanted = set(workers)
    deadline = time.monotonic() + GONE_LIMIT_S
    while (left := find(wanted)) and time.monotonic() < deadline:
        for identity in left:
            identity.signal(signal.SIGKILL)
        time.sleep(0.01)
    return left


def _mark(pid: int) -> str | None:
    try:
        return psutil.Process(pid).environ().get(MARK)
    except (psutil.Error, OSError):
        return None

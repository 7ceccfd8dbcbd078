"""Drives ``poolboard each`` for tests: starts it, waits for facts, asks how runs stand."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.conftest import Answer

Poolboard = Callable[..., "Answer"]

#: A bound, not an expectation: a test that needs it has failed.
PATIENCE_S = 90.0
#: A command that waits until a file is there.
GATED = 'until [ -e "$GATE" ]; do sleep 0.02; done; '


@contextmanager
def started(*words: str, stdin: int | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """Run ``poolboard each`` and let the test look at it meanwhile."""
    command = [sys.executable, "-m", "poolboard", "each", *words]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=stdin if stdin is not None else pipe, stdout=pipe, stderr=pipe) as process:
        yield process
        if process.poll() is None:
            process.kill()


def until(holds: Callable[[], object], what: str) -> None:
    """Return when something holds."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.02)


def run_of(poolboard: Poolboard, number: int = 0) -> dict[str, object]:
    """Return a run as ``list`` tells of it; 0 is the newest."""
    found: dict[str, object] = json.loads(poolboard("list", "--json").out)[number]
    return found


def has_rested(poolboard: Poolboard, run_id: str) -> str | None:
    """Return the status of a run that does not move any more."""
    status = json.loads(poolboard("status", run_id, "--json").out)
    return None if status["coordinator"]["alive"] else status["status"]


def lines(path: Path) -> list[str]:
    return path.read_text().split() if path.exists() else []

"""Runs the command line on a terminal of its own and reads what a person would get there."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass


@dataclass(frozen=True)
class OnTerminal:
    """What came to the terminal, and how the command ended."""

    code: int
    text: str


def on_terminal(*words: str, env: dict[str, str] | None = None, stdin_too: bool = False) -> OnTerminal:
    """Run ``poolboard`` with stdout and stderr on a terminal; stdin only if asked for, so that no screen opens."""
    ours, theirs = pty.openpty()
    given = {**os.environ, "TERM": "xterm-256color", **(env or {})}
    process = subprocess.Popen(
        [sys.executable, "-m", "poolboard", *words],
        stdin=theirs if stdin_too else subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env=given,
    )
    os.close(theirs)
    data = b""
    with suppress(OSError):  # how a terminal says that the other end has gone
        while piece := os.read(ours, 65536):
            data += piece
    os.close(ours)
    return OnTerminal(process.wait(timeout=60), data.decode().replace("\r\n", "\n"))

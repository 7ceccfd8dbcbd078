"""Standard output and standard error of the command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TextIO


def say(*lines: str) -> None:
    """Write lines to standard output at once; a reader that has gone raises BrokenPipeError."""
    say_all(lines)


def say_all(lines: Iterable[str]) -> None:
    """Write lines to standard output at once; where there is none (``>&-``) they go nowhere."""
    if sys.stdout is None:
        return
    for text in lines:
        sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def complain(text: str) -> None:
    """Write one line to standard error. What cannot be written there cannot be helped."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        return


def has_terminal() -> bool:
    """Whether a screen can open here: a person types, a person sees, and the terminal can draw."""
    return sys.stdin is not None and sys.stdin.isatty() and can_draw(sys.stdout)


def can_draw(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal on which a line can be drawn again; a closed stream is None."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


def make_safe() -> None:
    """Let no character that the terminal's encoding lacks raise; it is written escaped."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")

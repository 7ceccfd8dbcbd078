"""Standard output and standard error of the command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
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


def complain_of(text: str) -> None:
    """Write the line that an error becomes; its head is red on a terminal."""
    head = "\x1b[1;31mpoolboard:\x1b[0m" if has_colour(sys.stderr) else "poolboard:"
    complain(f"{head} {text}")


def complain(text: str) -> None:
    """Write one line to standard error. What cannot be written there cannot be helped."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        return


def has_colour(stream: TextIO | None) -> bool:
    """Whether to colour what is written: to a terminal that can, and to nobody who asked for none (no-color.org)."""
    if stream is None or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def ring(text: str) -> None:
    """Write what rings a terminal to the one that a person sees, if there is one."""
    for stream in (sys.stderr, sys.stdout):
        if stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb":
            with suppress(OSError, ValueError):
                stream.write(text)
                stream.flush()
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

"""Giving the terminal back: signals that end the screen cleanly, and the last word on mouse reporting."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sys
from collections.abc import Callable
from typing import Final

#: Textual restores nothing on these (8.2.8): the shell would be left in the alternate screen with mouse codes.
FATAL: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)

HANGUP_POLL_S: Final = 1.0

#: Mouse off in every mode, bracketed paste off, alternate screen left, cursor shown.
RESTORE: Final = "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?2004l\x1b[?1049l\x1b[?25h"


def leave_on_signals(leave: Callable[[int], None]) -> None:
    """Call ``leave`` with 128 + signal on the first fatal signal; a second one ends the process at once."""
    loop = asyncio.get_running_loop()
    came = False

    def handle(number: int) -> None:
        nonlocal came
        if came:
            restore()
            os._exit(128 + number)
        came = True
        leave(128 + number)

    for name in FATAL:
        loop.add_signal_handler(name, handle, int(name))


def leave_on_hangup(leave: Callable[[int], None]) -> None:
    """Call ``leave`` with 128 + SIGHUP once the terminal is gone.

    Who has it not as its controlling terminal gets no signal then, and Textual's input thread (8.2.8) would read its
    end for ever, with a whole core.
    """
    stream = sys.__stdin__
    if stream is None or not stream.isatty():
        return
    terminal = select.poll()
    terminal.register(stream.fileno(), 0)
    loop = asyncio.get_running_loop()

    def look() -> None:
        if terminal.poll(0):
            leave(128 + signal.SIGHUP)
        else:
            loop.call_later(HANGUP_POLL_S, look)

    loop.call_later(HANGUP_POLL_S, look)


def measure_itself() -> None:
    """Have the size from the terminal itself: exported COLUMNS and LINES go stale, and Textual believes them first."""
    if sys.__stdout__ is not None and sys.__stdout__.isatty():
        for name in ("COLUMNS", "LINES"):
            os.environ.pop(name, None)


def restore() -> None:
    """Send the restoring sequences once more: some drivers leave mouse reporting on. A dead terminal is no error."""
    stream = sys.__stdout__
    if stream is None or not stream.isatty():
        return
    try:
        stream.write(RESTORE)
        stream.flush()
    except (OSError, ValueError):
        return


def wants_ascii() -> bool:
    """Say whether only ASCII can be shown here, by the locale."""
    encoding = (sys.__stdout__.encoding if sys.__stdout__ else None) or "utf-8"
    return "utf" not in encoding.lower()

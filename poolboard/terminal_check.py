"""What the doctor says of the terminal. Asks the environment, and tmux for one setting."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Final

from poolboard.ailment import Ailment, fine, note, trouble
from poolboard.console import has_terminal

SMALLEST: Final = (40, 12)
COMFORTABLE: Final = (80, 24)
#: tmux waits that long after esc whether more follows; its default of 500 is felt.
LONGEST_ESCAPE_MS: Final = 50
TMUX_LIMIT_S: Final = 2.0


def terminal(environ: Mapping[str, str] | None = None, size: tuple[int, int] | None = None) -> Iterator[Ailment]:
    """Yield what a screen here would look like; without a terminal there is one line."""
    environ = os.environ if environ is None else environ
    if size is None:
        if not has_terminal():
            dumb = environ.get("TERM") == "dumb"
            why = "TERM=dumb" if dumb else "input or output is no terminal"
            yield fine("terminal", f"none here ({why}): commands print lines instead of opening a screen")
            return
        found = os.get_terminal_size(sys.stdout.fileno())
        size = (found.columns, found.lines)
    yield _size(size)
    yield _colours(environ)
    yield _characters(environ)
    if environ.get("TMUX"):
        yield _tmux(_escape_ms())


def _size(size: tuple[int, int]) -> Ailment:
    told = f"{size[0]}x{size[1]}"
    if size[0] < SMALLEST[0] or size[1] < SMALLEST[1]:
        return trouble("terminal", told, f"make it at least {SMALLEST[0]}x{SMALLEST[1]}")
    if size[0] < COMFORTABLE[0] or size[1] < COMFORTABLE[1]:
        return note("terminal", told, f"columns are left out below {COMFORTABLE[0]}x{COMFORTABLE[1]}")
    return fine("terminal", told)


def _colours(environ: Mapping[str, str]) -> Ailment:
    term = environ.get("TERM", "")
    if environ.get("NO_COLOR"):
        return fine("colours", "none, as NO_COLOR asks")
    if environ.get("COLORTERM") in ("truecolor", "24bit"):
        return fine("colours", "16 million")
    if "256" in term or "kitty" in term or "direct" in term:
        return note("colours", f"256 (TERM={term})", "export COLORTERM=truecolor, if the terminal can do it")
    return note("colours", f"few (TERM={term or 'not set'})", "export TERM=xterm-256color, if the terminal can do it")


def _characters(environ: Mapping[str, str]) -> Ailment:
    locale = environ.get("LC_ALL") or environ.get("LC_CTYPE") or environ.get("LANG") or ""
    if "utf-8" in locale.lower().replace("utf8", "utf-8") or sys.flags.utf8_mode:
        return fine("characters", f"UTF-8 ({locale or 'Python asks for it'})")
    return note("characters", f"the locale is {locale or 'not set'}: signs are shown in ASCII", "export LANG=C.UTF-8")


def _tmux(escape_ms: int | None) -> Ailment:
    if escape_ms is None:
        return fine("tmux", "in use; its escape-time is not known")
    if escape_ms > LONGEST_ESCAPE_MS:
        return note("tmux", f"esc takes {escape_ms} ms", "tmux set -s escape-time 10")
    return fine("tmux", f"in use, escape-time {escape_ms} ms")


def _escape_ms() -> int | None:
    try:
        done = subprocess.run(
            ["tmux", "show-options", "-sv", "escape-time"], capture_output=True, text=True, timeout=TMUX_LIMIT_S
        )
        return int(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None

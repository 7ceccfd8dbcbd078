"""One line of progress that is drawn again in place, for a terminal that is not to become a screen."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Final, TextIO

from poolboard import words
from poolboard.tui.text import clip

if TYPE_CHECKING:
    from poolboard.engine.views import Summary

BAR_CELLS: Final = 24
_ERASE: Final = "\r\x1b[K"


class Bar:
    """Draws on a terminal; ``clear`` before anything else is written there."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._drawn = ""
        blocks = "utf" in (stream.encoding or "").lower()
        self._full, self._empty = ("█", "░") if blocks else ("#", "-")

    def draw(self, summary: Summary) -> None:
        """Show how far the run is, if that is news."""
        columns = shutil.get_terminal_size().columns
        text = clip(f"{self._strip(summary)} {words.progress(summary)}", max(columns - 1, 1))
        if text != self._drawn:
            self._write(f"{_ERASE}{text}")
            self._drawn = text

    def clear(self) -> None:
        """Take the line away."""
        if self._drawn:
            self._write(_ERASE)
            self._drawn = ""

    def _strip(self, summary: Summary) -> str:
        counts = summary.run.children
        filled = BAR_CELLS * counts.settled // counts.total if counts.total else 0
        return self._full * filled + self._empty * (BAR_CELLS - filled)

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def for_terminal() -> Bar | None:
    """Return a bar where standard output is a terminal that can draw it."""
    from poolboard.console import can_draw

    return Bar(sys.stdout) if can_draw(sys.stdout) else None

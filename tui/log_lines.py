"""Lines of a log as bytes: where they begin, which hold a text, and how one is shown. Pure; nothing is obeyed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from .text_pane import PaneLine
from .units import count, size

#: Of a longer line only so much is shown; the line says how long it is.
SHOWN_BYTES: Final = 8192
#: Words that make a line worth a jump, in the logs of most languages.
ERRORS: Final = (b"error", b"exception", b"traceback", b"fatal", b"critical", b"panic", b"fail")
#: Carriage returns from which on a line is taken for a progress bar.
_FEW: Final = 4
_WARNINGS: Final = (b"warn",)
#: A level at a line's beginning, behind a time or a bracket at most: words of a sentence do not count.
_DETAIL: Final = re.compile(rb"^[\[\d\s:.,TZ/+-]{0,40}(?:debug|trace|verbose)\b", re.IGNORECASE)


class LogLine(NamedTuple):
    """One line: where it begins, where the next one does, and its bytes without the line end."""

    start: int
    end: int
    data: bytes


def cut(data: bytes, start: int) -> Iterator[LogLine]:
    """Yield the lines of a block that begins at a line's start; what follows the last newline is a line too."""
    at = 0
    while at < len(data):
        newline = data.find(b"\n", at)
        end = len(data) if newline < 0 else newline + 1
        stop = end if newline < 0 else newline
        yield LogLine(start + at, start + end, data[at:stop])
        at = end


def hits(data: bytes, start: int, needles: Sequence[bytes]) -> Iterator[LogLine]:
    """Yield the lines that hold one of the (lower case) needles, whatever the case of ASCII letters."""
    lower = data.lower()
    at = 0
    while at < len(data):
        found = _first(lower, needles, at)
        if found < 0:
            return
        begin = lower.rfind(b"\n", at, found) + 1 or at
        newline = lower.find(b"\n", found)
        end = len(data) if newline < 0 else newline + 1
        yield LogLine(start + begin, start + end, data[begin : end if newline < 0 else newline])
        at = end


def last_hit(data: bytes, start: int, needles: Sequence[bytes]) -> LogLine | None:
    """Return the last line of a block that holds one of the needles."""
    lower = data.lower()
    found = max((lower.rfind(needle) for needle in needles), default=-1)
    if found < 0:
        return None
    begin = lower.rfind(b"\n", 0, found) + 1
    newline = lower.find(b"\n", found)
    end = len(data) if newline < 0 else newline + 1
    return LogLine(start + begin, start + end, data[begin : end if newline < 0 else newline])


def _first(lower: bytes, needles: Sequence[bytes], at: int) -> int:
    return min((place for needle in needles if (place := lower.find(needle, at)) >= 0), default=-1)


def shown(line: LogLine) -> PaneLine:
    """Return the line as the pane shows it.

    Carriage returns overwrite in a terminal: of many, the last text between two of them is what a person would see, and
    how many came before is said. A line that is too long is cut, and says how long it is.
    """
    data = line.data.removesuffix(b"\r")
    updates = data.count(b"\r")
    if updates < _FEW:
        updates = 0  # shown as ^M: nothing is hidden that is not clearly a progress bar
    else:
        data = next((part for part in reversed(data.rsplit(b"\r", 8)) if part), b"")
    text = data[:SHOWN_BYTES].decode("utf-8", "replace")
    if len(data) > SHOWN_BYTES:
        text += f" … {size(len(data))} in this line"
    if updates:
        text += f"  ({count(updates)} overwritten)"
    return PaneLine(text, tone(data[:SHOWN_BYTES]))


def tone(data: bytes) -> str:
    """Return the tone of a line by its words: errors and warnings stand out."""
    lower = data.lower()
    if any(word in lower for word in ERRORS):
        return "failed"
    if any(word in lower for word in _WARNINGS):
        return "warn"
    return "quiet" if _DETAIL.match(data) else ""


def needle(text: str) -> tuple[bytes, ...]:
    """Return what to look for: the text in lower case."""
    return (text.encode("utf-8", "replace").lower(),) if text else ()

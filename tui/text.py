"""Text from outside, made safe to show: visible, of known width, never markup. Data is hostile until it was here."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import Final, Literal

from rich.cells import cell_len, set_cell_size

Align = Literal["left", "right"]

#: C0, DEL, C1, the invisible marks that reorder or hide text, line separators, tags, and lone surrogates.
_HOSTILE: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff\ud800-\udfff]"
)
#: Variation selectors choose a picture and make the width unknowable (terminals disagree); the character before stays.
_SELECTORS: Final = frozenset(map(chr, range(0xFE00, 0xFE10)))


def visible(text: str) -> str:
    """Return ``text`` with everything that could drive or disorder a terminal in a form that a person sees.

    A newline becomes ``⏎``, a tab spaces, ESC ``^[``, C1 ``\\x9b``, a bidi or zero-width mark ``<U+202E>``, a lone
    surrogate U+FFFD. What is printable stays as it is, square brackets included.
    """
    if text.isascii() and text.isprintable():
        return text
    if "\t" in text:
        text = text.expandtabs(4)
    return _HOSTILE.sub(_show, text)


def _show(match: re.Match[str]) -> str:
    character = match.group()
    code = ord(character)
    if character == "\n":
        return "⏎"
    if code < 0x20:
        return "^" + chr(code + 0x40)
    if code == 0x7F:
        return "^?"
    if code < 0xA0:
        return f"\\x{code:02x}"
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return "" if character in _SELECTORS else f"<U+{code:04X}>"


def width(text: str) -> int:
    """Return how many cells ``text`` takes."""
    return len(text) if text.isascii() else cell_len(text)


def clip(text: str, cells: int) -> str:
    """Return ``text`` made visible in at most ``cells`` cells; a cut is marked with ``…``."""
    if cells <= 0:
        return ""
    # An error can be a megabyte: look only at what could fit (a visible form is never shorter than one cell,
    # but combining marks take none, hence the allowance).
    head = visible(text[: cells * 4 + 16])
    if len(text) <= cells * 4 + 16 and width(head) <= cells:
        return head
    if width(head) < cells:
        return head + "…"
    return set_cell_size(head, cells - 1) + "…"


def clip_middle(text: str, cells: int) -> str:
    """Return ``text`` made visible in at most ``cells`` cells, cut in the middle: of a path both ends tell most."""
    if len(text) <= cells * 4 + 16:
        shown = visible(text)
        if width(shown) <= cells:
            return shown
    if cells < 8:
        return clip(text, cells)
    head = (cells - 1) // 4
    tail = visible(text[-cells * 4 :])
    while width(tail) > cells - 1 - head:
        tail = tail[max(1, (width(tail) - (cells - 1 - head)) // 2) :]
    return set_cell_size(visible(text[: head * 4]), head) + "…" + tail


def fit(text: str, cells: int, align: Align = "left", *, middle: bool = False) -> str:
    """Return ``text`` clipped (at its end, or in the middle) and padded to exactly ``cells`` cells."""
    clipped = clip_middle(text, cells) if middle else clip(text, cells)
    gap = " " * (cells - width(clipped))
    return gap + clipped if align == "right" else clipped + gap


def lines(text: str, limit: int = 2000) -> Iterator[str]:
    """Yield the lines of ``text`` made visible, at most ``limit`` and then one that says how many were left out."""
    parts = re.split(r"\r\n|\n", text.removesuffix("\n"))
    for part in parts[:limit]:
        yield visible(part)
    if len(parts) > limit:
        yield f"… {len(parts) - limit} more lines not shown"


def wrap_words(text: str, cells: int, indent: int = 0) -> list[str]:
    """Wrap our own words between them; lines after the first begin ``indent`` cells further right."""
    wrapped = textwrap.wrap(
        text, max(cells, indent + 8), subsequent_indent=" " * indent, drop_whitespace=True, break_on_hyphens=False
    )
    return wrapped or [""]


def wrap(text: str, cells: int) -> list[str]:
    """Cut one visible line into pieces of at most ``cells`` cells; nothing is lost, not even spaces."""
    if cells <= 0 or width(text) <= cells:
        return [text]
    if text.isascii():
        return [text[at : at + cells] for at in range(0, len(text), cells)]
    pieces: list[str] = []
    piece: list[str] = []
    used = 0
    for character in text:
        wide = width(character)
        if used + wide > cells and piece:
            pieces.append("".join(piece))
            piece, used = [], 0
        piece.append(character)
        used += wide
    pieces.append("".join(piece))
    return pieces

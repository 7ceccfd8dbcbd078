"""One line of text in pieces that leave by rank when the terminal is narrow; a piece may be clicked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from .text import clip, clip_middle, visible, width

#: An elastic piece is not cut below this.
_READABLE: Final = 16


class Piece(NamedTuple):
    """Some words: ``style`` is a Textual style, ``keep`` says how long it stays (0 leaves first).

    ``glued`` pieces follow the one before without a gap: a bar is drawn from them. An ``elastic`` piece is cut in its
    middle before any other has to leave, but not below ``least`` cells.
    """

    text: str
    style: str = ""
    keep: int = 5
    action: str | None = None
    glued: bool = False
    elastic: bool = False
    least: int = _READABLE


class Sides(NamedTuple):
    """A line's pieces from the left and from the right end."""

    left: Sequence[Piece]
    right: Sequence[Piece] = ()


#: Builds a line's pieces for a width in cells.
Builder = Callable[[int], Sides]


class Laid(NamedTuple):
    """A piece as it is drawn: its text made visible and where it begins."""

    x: int
    text: str
    piece: Piece


def lay_out(sides: Sides, cells: int, gap: int = 2) -> list[Laid]:
    """Return the pieces that fit into ``cells`` and where they stand; the last one of all is clipped, never dropped."""
    left, right = ([one._replace(text=visible(one.text)) for one in side if one.text] for side in sides)
    _squeeze(left, _wanted(left, right, gap) - cells)
    _squeeze(right, _wanted(left, right, gap) - cells)
    while _wanted(left, right, gap) > cells and (least := _least(left, right)) is not None:
        for side in (left, right):
            side[:] = [one for one in side if not any(one is other for other in least)]
    laid = _row(left, 0, cells, gap)
    after = laid[-1].x + width(laid[-1].text) + gap if laid else 0
    return laid + _row(right, max(after, cells - _wanted([], right, gap)), cells, gap)


def fitting(pieces: Sequence[Piece], cells: int, gap: int = 2) -> list[Piece]:
    """Return the pieces of one end that fit into ``cells``, at least one; the least wanted left out."""
    kept = list(pieces)
    while taken(kept, gap) > cells and (least := _least(kept, [])) is not None:
        kept = [one for one in kept if not any(one is other for other in least)]
    return kept


def taken(pieces: Sequence[Piece], gap: int = 2) -> int:
    """Return how many cells these pieces take, as they are shown."""
    return _wanted([one._replace(text=visible(one.text)) for one in pieces if one.text], [], gap)


def _least(left: Sequence[Piece], right: Sequence[Piece]) -> list[Piece] | None:
    """Return the piece that matters least, with what is glued to it; None once a single one is left."""
    groups: list[list[Piece]] = []
    for one in (*left, *right):
        if one.glued and groups:
            groups[-1].append(one)
        else:
            groups.append([one])
    return min(groups, key=lambda group: group[0].keep) if len(groups) > 1 else None


def _squeeze(pieces: list[Piece], over: int) -> None:
    """Take cells from elastic pieces, as far as they stay readable."""
    for index, piece in enumerate(pieces):
        if piece.elastic and over > 0:
            shorter = clip_middle(piece.text, max(piece.least, width(piece.text) - over))
            over -= width(piece.text) - width(shorter)
            pieces[index] = piece._replace(text=shorter)


def _row(pieces: Sequence[Piece], x: int, cells: int, gap: int) -> list[Laid]:
    laid: list[Laid] = []
    for piece in pieces:
        if laid and not piece.glued:
            x += gap
        text = clip(piece.text, cells - x)
        if text:
            laid.append(Laid(x, text, piece))
        x += width(text)
    return laid


def _wanted(left: Sequence[Piece], right: Sequence[Piece], gap: int) -> int:
    pieces = (*left, *right)
    loose = sum(not one.glued for one in pieces)
    return sum(width(one.text) for one in pieces) + gap * max(0, loose - 1)


class Line(Widget):
    """A line on screen. A click on a piece that names an action runs it on the screen, whatever has the focus."""

    DEFAULT_CSS = "Line { height: 1; padding: 0 1; }"

    @dataclass
    class Chosen(Message):
        """A piece that names an action was clicked."""

        action: str

    def __init__(self, build: Builder | None = None, *, id: str | None = None, classes: str = "", gap: int = 2) -> None:
        super().__init__(id=id, classes=classes)
        self._build: Builder = build or (lambda cells: Sides(()))
        self._gap: Final = gap
        self._shown: tuple[int, list[Laid]] = (-1, [])

    def show(self, build: Builder) -> None:
        """Show another line; an equal one is not painted again."""
        self._build = build
        cells = self.content_size.width
        if self._shown != (cells, lay_out(build(cells), cells, self._gap)):
            self.refresh()

    def render(self) -> Content:
        cells = self.content_size.width
        laid = lay_out(self._build(cells), cells, self._gap)
        self._shown = (cells, laid)
        parts: list[str | tuple[str, str]] = []
        x = 0
        for one in laid:
            parts.append(" " * (one.x - x))
            parts.append((one.text, one.piece.style))
            x = one.x + width(one.text)
        return Content.assemble(*parts)

    def on_click(self, event: events.Click) -> None:
        x = event.x - self.styles.padding.left
        for one in self._shown[1]:
            if one.piece.action is not None and one.x <= x < one.x + width(one.text):
                event.stop()
                self.post_message(self.Chosen(one.piece.action))
                return

"""The pane of a log: a window of lines out of a file, which grows at both ends and forgets at the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from rich.segment import Segment
from textual.message import Message
from textual.strip import Strip

from .text import fit, visible
from .text_pane import MAX_LINES, PaneLine, TextPane


class LogPane(TextPane):
    """Knows lines, not files: at an edge it says so, and more lines are given to it."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"pane--warn", "pane--found"}

    @dataclass
    class Edge(Message):
        """The reader came to an edge of the window, went away from its end, or wants to go to the file's end."""

        where: Literal["top", "bottom", "away", "end"]

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.wrapped = True
        self._found: range = range(0)

    # -- what others call

    def turn_wrap(self) -> None:
        """Wrap long lines, or cut them; the top line stays."""
        top, following = self.top_line, self.at_end
        self.wrapped = not self.wrapped
        self._found = range(0)
        self._rewrap()
        self.scroll_to(y=self._furthest if following else self._row_of(top), animate=False, force=True)

    def show_window(self, lines: Sequence[PaneLine], top: int | None = None) -> None:
        """Show other lines, from line ``top`` on, at their end for None."""
        self._found = range(0)
        self.set_lines(lines)
        self.scroll_to(y=self._furthest if top is None else self._row_of(top), animate=False, force=True)

    def prepend(self, lines: Sequence[PaneLine]) -> int:
        """Add lines before the first; the reader's place stays. Returns how many lines left at the other end."""
        rows = [row for line in lines for row in self._cut(line)]
        over = max(0, len(self._lines) + len(lines) - MAX_LINES)
        kept = self._lines[: len(self._lines) - over]
        gone = sum(len(self._cut(line)) for line in self._lines[len(kept) :])
        self._lines = [*lines, *kept]
        self._rows = rows + self._rows[: len(self._rows) - gone]
        self._found = range(self._found.start + len(rows), self._found.stop + len(rows))
        self._grow()
        self.scroll_to(y=self.scroll_offset.y + len(rows), animate=False, force=True)
        self.refresh()
        return over

    def reveal(self, index: int) -> None:
        """Show a line as the one that was looked for."""
        first = self._row_of(index)
        self._found = range(first, first + len(self._cut(self._lines[index])))
        top, height = self.scroll_offset.y, self.size.height
        if not top <= first < top + height:
            self.scroll_to(y=max(0, min(first - height // 3, self._furthest)), animate=False, force=True)
        self.refresh()

    @property
    def top_line(self) -> int:
        """The index of the line that is at the top."""
        row = self.scroll_offset.y
        if not self.wrapped:
            return min(row, max(0, len(self._lines) - 1))
        for index, line in enumerate(self._lines):
            row -= len(self._cut(line))
            if row < 0:
                return index
        return max(0, len(self._lines) - 1)

    # -- painting

    def render_line(self, y: int) -> Strip:
        row = self.scroll_offset.y + y
        if row not in self._found or row >= len(self._rows):
            return super().render_line(y)
        cells = self.size.width
        style = self.rich_style + self.get_component_rich_style("pane--found", partial=True)
        return Strip([Segment(" " + fit(self._rows[row][0], max(0, cells - 2)) + " ", style)], cells)

    # -- inside

    def _row_of(self, index: int) -> int:
        if not self.wrapped:
            return index
        return sum(len(self._cut(line)) for line in self._lines[:index])

    def _cut(self, line: PaneLine) -> list[tuple[str, str]]:
        return super()._cut(line) if self.wrapped else [(visible(line.text), line.tone)]

    def _trim(self) -> int:
        gone = super()._trim()
        self._found = range(max(0, self._found.start - gone), max(0, self._found.stop - gone))
        return gone

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if new_value < old_value and new_value <= 0:
            self.post_message(self.Edge("top"))
        elif new_value > old_value and self.at_end:
            self.post_message(self.Edge("bottom"))
        elif old_value >= self._furthest > new_value:
            self.post_message(self.Edge("away"))

    def action_bottom(self) -> None:
        self.post_message(self.Edge("end"))

    def action_top(self) -> None:
        if self.scroll_offset.y == 0:
            self.post_message(self.Edge("top"))
        super().action_top()

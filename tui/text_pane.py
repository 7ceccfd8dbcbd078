"""Lines of text, wrapped and scrolled; follows the end only while the reader is at the end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from .growth import grow
from .text import fit, visible, wrap

#: More lines than this are not kept; the oldest leave and the pane says so.
MAX_LINES: Final = 5000


class PaneLine(NamedTuple):
    """One line as it came and its tone: empty, ``title``, ``quiet``, ``failed``, ``new``."""

    text: str
    tone: str = ""


class TextPane(ScrollView, can_focus=True):
    """A bounded document by the line. What is shown is made visible here, at the one place."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"pane--title", "pane--quiet", "pane--failed", "pane--running"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "scroll_down", "down", show=False, id="pane.down"),
        Binding("up,k", "scroll_up", "up", show=False, id="pane.up"),
        Binding("pagedown,space", "page_down", "page down", show=False, id="pane.page_down"),
        Binding("pageup", "page_up", "page up", show=False, id="pane.page_up"),
        Binding("ctrl+d", "half(1)", "half down", show=False, id="pane.half_down"),
        Binding("ctrl+u", "half(-1)", "half up", show=False, id="pane.half_up"),
        Binding("home,g", "top", "top", show=False, id="pane.top"),
        Binding("end,G,F", "bottom", "end", show=False, id="pane.end"),
    ]

    @dataclass
    class Behind(Message):
        """How many new lines the reader, who scrolled up, has not seen."""

        lines: int

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._lines: list[PaneLine] = []
        self._rows: list[tuple[str, str]] = []
        self._wrapped_at = 0
        self.behind = 0
        self.dropped = 0

    # -- what others call

    def set_lines(self, lines: Iterable[PaneLine]) -> None:
        """Show another document from its top."""
        self._lines = list(lines)[-MAX_LINES:]
        self.dropped = self.behind = 0
        self._rewrap()
        self.scroll_to(y=0, animate=False, force=True)
        self.refresh()

    def show_lines(self, lines: Iterable[PaneLine]) -> None:
        """Show a newer version of the same document: the reader's place stays."""
        new = list(lines)[-MAX_LINES:]
        if new == self._lines:
            return
        top = self.scroll_offset.y
        self._lines = new
        self._rewrap()
        self.scroll_to(y=min(top, self._furthest), animate=False, force=True)

    def append(self, lines: Iterable[PaneLine]) -> None:
        """Add lines at the end. A reader at the end stays there; one who scrolled up keeps the same top line."""
        new = list(lines)[-MAX_LINES:]
        if not new:
            return
        following = self.at_end
        self._lines += new
        for line in new:
            self._rows += self._cut(line)
        gone = self._trim()
        self._grow()
        if following:
            self.scroll_to(y=self._furthest, animate=False, force=True)
        else:
            self.behind += len(new)
            if gone:
                self.scroll_to(y=max(0, self.scroll_offset.y - gone), animate=False, force=True)
            self.post_message(self.Behind(self.behind))
        self.refresh()

    @property
    def at_end(self) -> bool:
        """Say whether the last line is in sight."""
        return self.scroll_offset.y >= self._furthest

    def to_end(self) -> None:
        """Go to the last line and follow."""
        self.scroll_to(y=self._furthest, animate=False, force=True)
        self._caught_up()

    # -- painting

    def render_line(self, y: int) -> Strip:
        cells = self.size.width
        index = self.scroll_offset.y + y
        plain = self.rich_style
        if index >= len(self._rows):
            return Strip.blank(cells, plain)
        text, tone = self._rows[index]
        style = plain + self.get_component_rich_style(f"pane--{tone}", partial=True) if tone else plain
        return Strip([Segment(" " + fit(text, max(0, cells - 2)) + " ", style)], cells)

    def on_resize(self, event: events.Resize) -> None:
        if self.size.width != self._wrapped_at:
            following = self.at_end and self.scroll_offset.y > 0
            self._rewrap()
            if following:
                self.to_end()

    # -- inside

    @property
    def _furthest(self) -> int:
        return max(0, len(self._rows) - self.size.height)

    def _cut(self, line: PaneLine) -> list[tuple[str, str]]:
        return [(piece, line.tone) for piece in wrap(visible(line.text), max(1, self.size.width - 2))]

    def _rewrap(self) -> None:
        self._wrapped_at = self.size.width
        self._rows = [row for line in self._lines for row in self._cut(line)]
        self._grow()
        self.refresh()

    def _trim(self) -> int:
        """Drop the oldest lines over the limit; returns how many rows left."""
        over = len(self._lines) - MAX_LINES
        if over <= 0:
            return 0
        rows = sum(len(self._cut(line)) for line in self._lines[:over])
        del self._lines[:over]
        del self._rows[:rows]
        self.dropped += over
        return rows

    def _grow(self) -> None:
        grow(self, len(self._rows))

    def _caught_up(self) -> None:
        if self.behind:
            self.behind = 0
            self.post_message(self.Behind(0))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if self.behind and self.at_end:
            self._caught_up()

    # -- keys

    def action_half(self, direction: int) -> None:
        self.scroll_to(y=self.scroll_offset.y + direction * max(1, self.size.height // 2), animate=False, force=True)

    def action_top(self) -> None:
        self.scroll_to(y=0, animate=False, force=True)

    def action_bottom(self) -> None:
        self.to_end()

    def action_page_down(self) -> None:
        self.scroll_to(y=self.scroll_offset.y + max(1, self.size.height - 1), animate=False, force=True)

    def action_page_up(self) -> None:
        self.scroll_to(y=self.scroll_offset.y - max(1, self.size.height - 1), animate=False, force=True)

    def action_scroll_down(self) -> None:
        self.scroll_to(y=self.scroll_offset.y + 1, animate=False, force=True)

    def action_scroll_up(self) -> None:
        self.scroll_to(y=self.scroll_offset.y - 1, animate=False, force=True)

"""Draws the visible lines of a ``Rows`` index, whatever its number: header, rows, and the lines of groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final, Generic, TypeVar

from rich.segment import Segment
from rich.style import Style
from textual.scroll_view import ScrollView
from textual.strip import Strip

from .columns import GAP, LEFT, Column, Look, Placed, place
from .fold import Group
from .glyphs import TONES
from .rows import Rows
from .text import fit
from .units import count

R = TypeVar("R")

GAP_TEXT: Final = " " * GAP
_TONE_CLASSES: Final = {
    **{tone: f"tone-{tone}" for tone in TONES},
    "quiet": "tone-quiet",
    "warn": "tone-warn",
}


class PaintedRows(ScrollView, Generic[R], can_focus=True):
    """What of a list is on screen. Knows how a line looks, not how one moves."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "table--header",
        "table--sorted",
        "table--cursor",
        "table--marked",
        "table--empty",
        "table--group",
        *_TONE_CLASSES.values(),
    }

    def __init__(self, rows: Rows[R], columns: Sequence[Column[R]], *, id: str, ascii: bool) -> None:
        super().__init__(id=id)
        self.rows: Final = rows
        self.columns: Final = tuple(columns)
        self.look = Look(ascii=ascii)
        self.empty: tuple[str, ...] = ()
        self.picked: tuple[str, ...] | None = None
        self._placed: tuple[int, list[Placed[R]]] = (0, [])
        self._shown_columns = self.columns
        self._longest: dict[str, int] = {}
        self._strips: dict[int, Strip] = {}  # what was painted last, by line
        self._styles: dict[str, Style] = {}  # by part; "" is the list's own

    @property
    def shown_columns(self) -> tuple[Column[R], ...]:
        """The columns in their order; a narrow terminal may leave some of them out."""
        return self._shown_columns

    # -- painting

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._placed = (0, [])
        self._strips.clear()
        self._styles.clear()

    def render_line(self, y: int) -> Strip:
        strip = self._strips[y] = self._line(y)
        return strip

    def _line(self, y: int) -> Strip:
        cells = self.size.width
        if y == 0:
            return self._header(cells)
        index = self.scroll_offset.y + y - 1
        if index < len(self.rows):
            return self._row(index, cells)
        plain = self._plain_style
        if not len(self.rows) and y <= len(self.empty):
            style = plain + self._tone("table--empty")
            return Strip([Segment(fit("  " + self.empty[y - 1], cells), style)], cells)
        return Strip.blank(cells, plain)

    def _header(self, cells: int) -> Strip:
        base = self.get_component_rich_style("table--header")
        segments = [Segment(" " * LEFT, base)]
        for column, _, width in self._columns_at(cells):
            sorted_here = column.id == self.rows.sorted_by
            title = column.heading(width) if column.heading else column.title
            if sorted_here:
                title += ("v" if self.rows.reverse else "^") if self.look.ascii else "▼" if self.rows.reverse else "▲"
            style = base + self._tone("table--sorted") if sorted_here else base
            segments.append(Segment(fit(title, width, column.align), style))
            segments.append(Segment(GAP_TEXT, base))
        return Strip(segments).adjust_cell_length(cells, base).simplify()

    def _row(self, index: int, cells: int) -> Strip:
        key = self.rows.key_at(index)
        group = self.rows.group(key)
        if group is not None:
            return self._group(group, here=key == self.rows.cursor, cells=cells)
        row = self.rows.get(key)
        if row is None:
            return Strip.blank(cells, self._plain_style)
        here, marked = key == self.rows.cursor, key in self.rows.marks
        base = self._plain_style
        if marked:
            base += self._tone("table--marked")
        if here:
            base += self._tone("table--cursor")
        text, style = self._margin(here) + self._mark(marked), base
        segments: list[Segment] = []
        for column, _, width in self._columns_at(cells):
            cell = column.drawn(row, self.look, width) if column.drawn else column.cell(row, self.look)
            toned = base + self._tone(_TONE_CLASSES[cell.tone]) if cell.tone else base
            # The gap belongs to the cell before: fewer styles to switch between are fewer bytes on a slow line.
            if toned is not style:
                segments.append(Segment(text, style))
                text, style = "", toned
            text += fit(cell.text, width, column.align, middle=column.middle) + GAP_TEXT
        segments.append(Segment(text, style))
        return Strip(segments).adjust_cell_length(cells, base).simplify()

    def _margin(self, here: bool) -> str:
        return (">" if self.look.ascii else "▌") if here and self.has_focus else " "

    def _mark(self, marked: bool) -> str:
        return ("+" if self.look.ascii else "◆") if marked else " "

    def _group(self, group: Group, *, here: bool, cells: int) -> Strip:
        """A group's line: its name may be anybody's text, so it is fitted like every cell."""
        style = self._plain_style + self._tone("table--group")
        if here:
            style += self._tone("table--cursor")
        sign = ("+-" if self.look.ascii else "▸▾")[group.is_open]
        words = f"{self._margin(here)}{sign} {group.label or 'none'}  {count(group.amount)}"
        return Strip([Segment(fit(words, cells), style)], cells)

    def _tone(self, name: str) -> Style:
        """Return a part's style. Textual asks every ancestor each time: kept here, for a row asks ten times."""
        style = self._styles.get(name)
        if style is None:
            style = self._styles[name] = self.get_component_rich_style(name, partial=True)
        return style

    @property
    def _plain_style(self) -> Style:
        style = self._styles.get("")
        if style is None:
            style = self._styles[""] = self.rich_style
        return style

    def _columns_at(self, cells: int) -> list[Placed[R]]:
        if self._placed[0] != cells:
            self._placed = (cells, place(self._shown_columns, cells, self._longest))
        return self._placed[1]

    def _choose_columns(self) -> None:
        """Show the columns that were picked; if none were, those that have something to tell."""
        if self.picked is not None:
            by_id = {column.id: column for column in self.columns}
            shown = tuple(by_id[id] for id in self.picked if id in by_id) or self.columns
        else:
            shown = tuple(column for column in self.columns if self.rows.told(column.id) >= column.told)
        needs = {column.id: column.needs(self.look) for column in self.columns if column.needs is not None}
        longest = self.rows.longest | needs
        if shown != self._shown_columns or longest != self._longest:
            self._shown_columns, self._longest = shown, longest
            self._placed = (0, [])
            self.refresh()

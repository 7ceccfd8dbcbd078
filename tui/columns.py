"""Columns of a list: what a cell says, how wide it may be, what leaves first when the terminal is narrow. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Generic, NamedTuple, TypeVar

from .held import HeldAs
from .shape import SortBy
from .text import Align

R = TypeVar("R")

#: The least gap between two columns, in cells.
GAP = 1
#: Cells left of the first column (cursor and mark) and right of the last.
LEFT, RIGHT = 2, 1


class Cell(NamedTuple):
    """A cell: its text as it came (the table makes it visible) and the name of its tone, empty for plain."""

    text: str
    tone: str = ""


class Look(NamedTuple):
    """How to look at rows: ``now_ms`` of the store's clock (None: clocks stand still), glyphs or ASCII.

    ``ended``: the run is over, so what is not done will not be.
    ``held``: how children that are held back are called (held, stopped, blocked), by their numbers as text.
    ``stopped``: the stages that are stopped.
    """

    now_ms: int | None = None
    ascii: bool = False
    ended: bool = False
    held: Mapping[str, HeldAs] = MappingProxyType({})
    stopped: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Column(Generic[R]):
    """One column. ``width`` is its least width; spare cells go to columns by ``flex``, up to ``most``.

    ``keep`` says how long it stays when the terminal gets narrow: 0 leaves first. ``timed`` columns sort by something
    that grows as time goes by. ``down`` sorts the largest first when it is chosen. ``middle``
    cuts long texts in the middle. ``told``: how many different things rows must have told before the column is shown.
    ``drawn`` and ``heading`` stand in for ``cell`` and ``title`` where the text depends on the width.
    ``needs``: the characters of its longest text where the look says that, and not the rows.
    """

    id: str
    title: str
    cell: Callable[[R, Look], Cell]
    width: int
    flex: int = 0
    most: int = 1000
    align: Align = "left"
    keep: int = 5
    sort: SortBy[R] | None = None
    timed: bool = False
    down: bool = False
    middle: bool = False
    told: int = 0
    drawn: Callable[[R, Look, int], Cell] | None = None
    heading: Callable[[int], str] | None = None
    needs: Callable[[Look], int] | None = None


@dataclass(frozen=True, slots=True)
class Arrangement:
    """How a person wants a list: the columns in their order, what it is sorted and folded by; None as it comes."""

    columns: tuple[str, ...] | None = None
    sort: str | None = None
    reverse: bool = False
    fold: str | None = None


class Placed(NamedTuple, Generic[R]):
    """A column with its place: the x of its first cell and its width."""

    column: Column[R]
    x: int
    width: int


def place(columns: Sequence[Column[R]], cells: int, longest: Mapping[str, int] | None = None) -> list[Placed[R]]:
    """Return the columns that fit into ``cells`` between the margins; at least one always stays.

    ``longest``: by column, the characters of its longest text; such a column gets no more room than that.
    """
    room = cells - LEFT - RIGHT
    kept = [_sized(column, longest[column.id]) if longest and column.id in longest else column for column in columns]
    while len(kept) > 1 and _least(kept) > room:
        del kept[min(range(len(kept)), key=lambda index: (kept[index].keep, -index))]
    widths = _spread(kept, max(0, room - _least(kept)))
    placed, x = [], LEFT
    for column, wide in zip(kept, widths, strict=True):
        wide = max(1, min(wide, cells - RIGHT - x))
        placed.append(Placed(column, x, wide))
        x += wide + GAP
    return placed


def _sized(column: Column[R], longest: int) -> Column[R]:
    """Return the column as wide as its texts ask for; as it is where they may ask for more than it gets."""
    most = max(longest, len(column.title) + 1)  # the arrow of the order stands behind the title
    return replace(column, width=min(column.width, most), most=min(column.most, most))


def _least(columns: Sequence[Column[R]]) -> int:
    return sum(column.width for column in columns) + GAP * (len(columns) - 1)


def _spread(columns: Sequence[Column[R]], spare: int) -> list[int]:
    """Share spare cells by flex; a column that has enough leaves the rest to the others."""
    widths = [column.width for column in columns]
    open_ones = [index for index, column in enumerate(columns) if column.flex and column.width < column.most]
    while spare > 0 and open_ones:
        weight = sum(columns[index].flex for index in open_ones)
        before = spare
        for index in list(open_ones):
            share = min(-(-before * columns[index].flex // weight), spare, columns[index].most - widths[index])
            widths[index] += share
            spare -= share
            if widths[index] >= columns[index].most:
                open_ones.remove(index)
    return widths

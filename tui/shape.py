"""What an index of rows must know of a row, and what bringing it up to date did. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from .query import FieldValue

R = TypeVar("R")
Key = int | str
#: What a list is sorted by. In a folded list: the group's order and name, its line or a row of it, then the row's.
SortKey = float | str | tuple["float | str", str, int, "SortKey"]
Entry = tuple[SortKey, Key]
#: (row, now in ms or None) -> what to sort by.
SortBy = Callable[[R, int | None], SortKey]


@dataclass(frozen=True, slots=True)
class FoldBy(Generic[R]):
    """A way to fold a list: the group that a row is in, by name, and where that group stands among the others."""

    id: str
    group: Callable[[R], str]
    order: Callable[[str], float | str]


@dataclass(frozen=True, slots=True)
class Shape(Generic[R]):
    """What the index must know of a row. ``text`` is searched by plain words; ``live`` rows change as time goes by.

    ``tells``: by column, what a row tells there, None for nothing; a column in which nothing was ever told can be left
    out (see ``Rows.told``). ``folds``: the ways in which the list can be shown in groups. ``sized``: by column, the
    text whose longest is all the room that the column needs.
    """

    key: Callable[[R], Key]
    text: Callable[[R], str]
    fields: Mapping[str, Callable[[R, int | None], FieldValue]]
    kinds: Mapping[str, str]
    live: Callable[[R], bool]
    tells: Mapping[str, Callable[[R], object]] = field(default_factory=dict)
    folds: tuple[FoldBy[R], ...] = ()
    sized: Mapping[str, Callable[[R], str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Settled:
    """What a settling did: ``moved`` if the order or membership changed, and the keys whose content changed."""

    moved: bool
    dirty: frozenset[Key]

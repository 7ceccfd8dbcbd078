"""Folding a list: its rows in groups with counts, each open or closed. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, KeysView
from typing import Generic, NamedTuple, TypeVar

from .shape import FoldBy, Key, SortKey

R = TypeVar("R")


class GroupKey(str):
    """The key of a group's line: no row has one of this type, whatever its text."""

    __slots__ = ()


class Group(NamedTuple):
    """A group's line: what its rows have in common, how many there are, and whether they are shown."""

    label: str
    amount: int
    is_open: bool


class Fold(Generic[R]):
    """Which row is in which group, kept up row by row. Closed groups keep their rows out of the view."""

    def __init__(self) -> None:
        self.by: FoldBy[R] | None = None
        self.reverse = False
        self._open: set[str] = set()
        self._group_of: dict[Key, str] = {}
        self._counts: Counter[str] = Counter()
        self._touched: set[str] = set()

    def choose(self, by: FoldBy[R] | None) -> None:
        """Fold by something else (None: not at all), every group closed."""
        self.by = by
        self._open.clear()
        self.clear()

    def clear(self) -> None:
        """Forget every row."""
        self._group_of.clear()
        self._counts.clear()
        self._touched.clear()

    @property
    def rows(self) -> int:
        """How many rows are in groups, shown or not."""
        return len(self._group_of)

    def keys(self) -> KeysView[Key]:
        """Return the keys of these rows."""
        return self._group_of.keys()

    def toggle(self, label: str) -> None:
        """Open a group, or close it."""
        self._open ^= {label}

    def put(self, key: Key, row: R | None, where: SortKey | None) -> SortKey | None:
        """Note in which group a row is now (``where`` None: in none) and return its place in view, None if hidden."""
        assert self.by is not None
        before = self._group_of.pop(key, None)
        after = None if row is None or where is None else self.by.group(row)
        if before != after:
            if before is not None:
                self._counts[before] -= 1
                self._touched.add(before)
            if after is not None:
                self._counts[after] += 1
                self._touched.add(after)
        if after is None or where is None:
            return None
        self._group_of[key] = after
        return (*self._order(after), 1, where) if after in self._open else None

    def lines(self) -> Iterator[tuple[GroupKey, SortKey | None]]:
        """Yield the groups whose count changed since the last call, each with the place of its line, None if gone."""
        for label in self._touched:
            yield GroupKey(label), (*self._order(label), 2 if self.reverse else 0, "") if self._counts[label] else None
        self._touched.clear()

    def group(self, key: Key | None) -> Group | None:
        """Return the group whose line has this key."""
        if not isinstance(key, GroupKey):
            return None
        label = str(key)
        return Group(label, self._counts[label], label in self._open)

    def line_of(self, key: Key | None) -> GroupKey | None:
        """Return the line of the group that a row is in."""
        label = None if key is None else self._group_of.get(key)
        return None if label is None else GroupKey(label)

    def members(self, label: str) -> Iterator[Key]:
        """Yield the keys of a group's rows."""
        return (key for key, of in self._group_of.items() if of == label)

    def _order(self, label: str) -> tuple[float | str, str]:
        assert self.by is not None
        return (self.by.order(label), label)


def by_name(id: str, group: Callable[[R], str]) -> FoldBy[R]:
    """Return a way to fold whose groups stand in the order of their names."""
    return FoldBy(id, group, lambda label: 0.0)

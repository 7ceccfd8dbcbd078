"""The rows of one list in memory: an index by key with a sorted, filtered view of it.

Knows neither screen nor clock: times come in as arguments. Changing k of n rows costs the order of k (plus one pass
over a list of tuples when k is large), never a new sort of all, so 100,000 children may move ten times a second.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, Generic, TypeVar

from .fold import Fold, Group, GroupKey
from .query import Query
from .shape import Entry, FoldBy, Key, Settled, Shape, SortBy, SortKey

R = TypeVar("R")

#: From here on one pass over the whole view is cheaper than single insertions (each moves half the list).
_SINGLY: Final = 64
#: Different things told in a column; more need not be known apart.
_MOST_TOLD: Final = 2


_STILL: Final = Settled(False, frozenset())


class Rows(Generic[R]):
    """An index of rows by key, its sorted and filtered view, the cursor and the marks (both by key).

    With ``follow_top`` the cursor stays on the first row, whichever that is, until the person moves it: a list that
    sorts what matters to the top would else drag an untouched cursor down with the first row that ends.
    """

    def __init__(self, shape: Shape[R], *, follow_top: bool = False) -> None:
        self.shape: Final = shape
        self._may_follow: Final = follow_top
        self._follows = follow_top
        self.cursor: Key | None = None
        self.marks: set[Key] = set()
        self.sorted_by: str | None = None
        self.reverse = False
        self.query = Query()
        self._by_key: dict[Key, R] = {}
        self._rank: dict[Key, float] = {}  # of rows that came as a whole list: its order
        self._entries: list[Entry] = []
        self._place: dict[Key, SortKey] = {}
        self._dirty: set[Key] = set()
        self._live: set[Key] = set()
        self._texts: dict[Key, str] = {}  # of rows that a filter by words has looked at
        self._sort: SortBy[R] | None = None
        self._timed = False
        self._stale = False
        self._fold: Final[Fold[R]] = Fold()
        self._lines_changed: set[Key] = set()  # of groups whose count changed
        self._told: dict[str, set[object]] = {name: set() for name in shape.tells}
        self._longest: dict[str, int] = dict.fromkeys(shape.sized, 0)

    # -- reading

    def __len__(self) -> int:
        """The lines in view: rows, and in a folded list the lines of its groups."""
        return len(self._entries)

    @property
    def matching(self) -> int:
        """The rows that the filter lets through, those of closed groups among them."""
        return len(self._entries) if self._fold.by is None else self._fold.rows

    @property
    def total(self) -> int:
        """All rows, in view or not."""
        return len(self._by_key)

    @property
    def live(self) -> int:
        """How many rows change as time goes by."""
        return len(self._live)

    def told(self, column: str) -> int:
        """Return how many different things rows ever told in a column, at most 2; never less, lest columns flicker."""
        return len(self._told[column]) if column in self._told else _MOST_TOLD

    @property
    def longest(self) -> dict[str, int]:
        """By column, the characters of the longest text ever there; of columns that are sized by it."""
        return dict(self._longest)

    def get(self, key: Key | None) -> R | None:
        """Return the row of ``key``, in view or not."""
        return None if key is None else self._by_key.get(key)

    def key_at(self, index: int) -> Key:
        """Return the key of the view's row ``index``; raises IndexError."""
        if not 0 <= index < len(self._entries):
            raise IndexError(index)
        return self._entries[-1 - index if self.reverse else index][1]

    def keys(self, start: int, stop: int) -> list[Key]:
        """Return the keys of a window of the view, cut at its ends."""
        return [self.key_at(index) for index in range(max(0, start), min(stop, len(self._entries)))]

    def every(self) -> Iterator[Key]:
        """Yield the keys of all rows, in view or not."""
        return iter(self._by_key)

    def index_of(self, key: Key | None) -> int | None:
        """Return where ``key`` stands in the view, None if it is not in it."""
        if key is None or key not in self._place:
            return None
        return self._display_index((self._place[key], key), present=True)

    @property
    def folded_by(self) -> FoldBy[R] | None:
        """By what the list is folded."""
        return self._fold.by

    def group(self, key: Key | None) -> Group | None:
        """Return the group whose line has this key, None for a row."""
        return self._fold.group(key)

    def is_live(self, key: Key) -> bool:
        """Say whether the row changes as time goes by."""
        return key in self._live

    # -- changing

    def upsert(self, rows: Iterable[R]) -> int:
        """Take new and changed rows; returns how many really differ. Nothing moves before ``settle``."""
        changed = 0
        key_of, is_live = self.shape.key, self.shape.live
        telling = [(self._told[name], tell) for name, tell in self.shape.tells.items() if self.told(name) < _MOST_TOLD]
        sized = list(self.shape.sized.items())
        for row in rows:
            key = key_of(row)
            if self._by_key.get(key) == row:
                continue
            changed += 1
            for name, text in sized:
                if (length := len(text(row))) > self._longest[name]:
                    self._longest[name] = length
            self._by_key[key] = row
            self._dirty.add(key)
            self._texts.pop(key, None)
            (self._live.add if is_live(row) else self._live.discard)(key)
            for told, tell in telling:
                thing = tell(row)
                if thing is not None and len(told) < _MOST_TOLD:
                    told.add(thing)
        return changed

    def remove(self, keys: Iterable[Key]) -> None:
        """Let rows go, with their marks."""
        for key in keys:
            if self._by_key.pop(key, None) is not None:
                self._forget(key)
                self._dirty.add(key)

    def oldest(self, number: int) -> list[Key]:
        """Return the keys of the rows that came first."""
        return list(islice(self._by_key, number))

    def replace(self, rows: Iterable[R]) -> int:
        """Take the whole list, in its order; rows that are not in it any more leave, with their marks."""
        kept = list(rows)
        rank = {self.shape.key(row): float(index) for index, row in enumerate(kept)}
        gone = self._by_key.keys() - rank.keys()
        for key in list(gone):
            del self._by_key[key]
            self._forget(key)
        self._dirty |= gone
        self._dirty.update(key for key, place in rank.items() if self._rank.get(key) != place)
        self._rank = rank
        return self.upsert(kept) + len(gone)

    def sort_by(self, name: str | None, sort: SortBy[R] | None, *, reverse: bool = False, timed: bool = False) -> None:
        """Choose the order: by ``sort`` (then by key), or as the rows came. ``timed`` orders move as time goes by."""
        if sort is not self._sort or name != self.sorted_by:
            self._stale = True
        if reverse != self.reverse and self._fold.by is not None:
            self._fold.reverse, self._stale = reverse, True  # a group's line stays before its rows
        self.sorted_by, self._sort, self.reverse, self._timed = name, sort, reverse, timed

    def fold_by(self, by: FoldBy[R] | None) -> None:
        """Show the rows in groups, all of them closed, or one by one again for None."""
        self._fold.choose(by)
        self._fold.reverse, self._stale = self.reverse, True
        self._place = {}  # places of the other kind do not compare with those that come
        if isinstance(self.cursor, GroupKey):
            self.cursor = None

    def toggle_fold(self, key: Key | None) -> bool:
        """Open or close the group whose line, or one of whose rows, has this key; say whether there is one."""
        line = key if isinstance(key, GroupKey) else self._fold.line_of(key)
        if line is None:
            return False
        self._fold.toggle(str(line))
        self.cursor, self._stale, self._follows = line, True, False
        return True

    def filter_by(self, query: Query) -> None:
        """Choose which rows are in view."""
        if query.terms != self.query.terms:
            self._stale = True
        if not query.terms:
            self._texts.clear()
        self.query = query

    def settle(self, now_ms: int | None) -> Settled:
        """Bring the view up to date; the cursor stays on its row, or goes to the one that took its place."""
        if self._timed or any(term.field == "took" for term in self.query.terms):
            self._dirty |= self._live
        if not self._dirty and not self._stale:
            return _STILL
        before = None if self.cursor is None else (self._place.get(self.cursor), self.cursor)
        moved = self._rebuild(now_ms) if self._stale else self._patch(now_ms)
        dirty = frozenset(self._dirty | self._lines_changed)
        self._lines_changed.clear()
        self._stale = False
        self._dirty.clear()
        self._keep_cursor(before, now_ms)
        return Settled(moved, dirty)

    # -- moving

    def move_to(self, index: int) -> None:
        """Put the cursor on the view's row ``index``, cut at both ends."""
        self._follows = False
        if self._entries:
            self.cursor = self.key_at(max(0, min(index, len(self._entries) - 1)))

    def to_top(self) -> None:
        """Put the cursor on the first row, and let it follow the top where the list may."""
        self.move_to(0)
        self._follows = self._may_follow

    def toggle_mark(self, key: Key) -> None:
        """Mark a row, or take its mark away; on a group's line all rows of the group."""
        keys = set(self._fold.members(key)) if isinstance(key, GroupKey) else {key}
        self.marks = self.marks - keys if keys <= self.marks else self.marks | keys

    def rows_at(self, start: int, stop: int) -> set[Key]:
        """Return the keys of the rows in a window of the view; a group's line is none."""
        return {key for key in self.keys(start, stop) if not isinstance(key, GroupKey)}

    def mark_all(self) -> None:
        """Mark every row that the filter lets through."""
        if self._fold.by is not None:
            self.marks |= self._fold.keys()
        else:
            self.marks |= self._place.keys()

    # -- inside

    def _forget(self, key: Key) -> None:
        self._texts.pop(key, None)
        self._live.discard(key)
        self.marks.discard(key)

    def _display_index(self, entry: Entry, *, present: bool) -> int:
        below = bisect_left(self._entries, entry)
        if not self.reverse:
            return below
        return len(self._entries) - below - (1 if present else 0)

    def _sort_key(self, row: R, key: Key, now_ms: int | None) -> SortKey | None:
        """Return the row's place, None if the filter leaves it out."""
        for term in self.query.terms:
            if term.field is None:
                holds = term.holds(self._searched(row, key), None)
            else:
                holds = term.holds("", self.shape.fields[term.field](row, now_ms))
            if not holds:
                return None
        return self._rank.get(key, 0.0) if self._sort is None else self._sort(row, now_ms)

    def _searched(self, row: R, key: Key) -> str:
        """Return the row's text in lower case, kept from keystroke to keystroke."""
        text = self._texts.get(key)
        if text is None:
            text = self._texts[key] = self.shape.text(row).lower()
        return text

    def _rebuild(self, now_ms: int | None) -> bool:
        place: dict[Key, SortKey] = {}
        folded = self._fold.by is not None
        self._fold.clear()
        for key, row in self._by_key.items():
            where = self._sort_key(row, key, now_ms)
            if folded:
                where = self._fold.put(key, row, where)
            if where is not None:
                place[key] = where
        place.update((line, where) for line, where in self._fold.lines() if where is not None)
        self._place = place
        self._entries = sorted((where, key) for key, where in place.items())
        return True

    def _places(self, now_ms: int | None) -> Iterator[tuple[Key, SortKey | None]]:
        """Yield where what changed belongs now; rows first, then the lines of the groups that they left or came to."""
        folded = self._fold.by is not None
        for key in self._dirty:
            row = self._by_key.get(key)
            where = None if row is None else self._sort_key(row, key, now_ms)
            yield key, self._fold.put(key, row, where) if folded else where
        for line, where in self._fold.lines():
            self._lines_changed.add(line)
            yield line, where

    def _patch(self, now_ms: int | None) -> bool:
        gone: list[Entry] = []
        come: list[Entry] = []
        for key, new in self._places(now_ms):
            old = self._place.get(key)
            if old == new:
                continue
            if old is not None:
                gone.append((old, key))
                del self._place[key]
            if new is not None:
                come.append((new, key))
                self._place[key] = new
        if not gone and not come:
            return False
        if len(gone) + len(come) <= _SINGLY:
            for entry in gone:
                del self._entries[bisect_left(self._entries, entry)]
            for entry in come:
                insort(self._entries, entry)
        else:
            left = set(gone)
            self._entries = [entry for entry in self._entries if entry not in left] if left else self._entries
            self._entries += sorted(come)
            self._entries.sort()  # two sorted runs: one merge
        return True

    def _keep_cursor(self, before: tuple[SortKey | None, Key] | None, now_ms: int | None) -> None:
        if not self._entries:
            return  # keep the key: its row may come back with the next page
        if before is None or self._follows:
            self.cursor = self.key_at(0)
            return
        where, key = before
        if key in self._place:
            return
        line = self._fold.line_of(key)
        if line is not None and line in self._place:
            self.cursor = line  # its group is closed
            return
        row = self._by_key.get(key)
        if row is not None and self._fold.by is None:
            where = self._rank.get(key, 0.0) if self._sort is None else self._sort(row, now_ms)
        place = 0 if where is None else self._display_index((where, key), present=False)
        self.cursor = self.key_at(min(place, len(self._entries) - 1))

"""Runs on their last start, each taken up alone in a worker: what kills workers harms nobody else for good. Pure.

Without that, a child that kills its worker three times takes those beside it along: they too lose three starts.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from .pool_state import Group, GroupKey, Item, Place


class Suspects:
    """A heap of ready suspects, and the places that are kept free for them."""

    __slots__ = ("_groups", "_items", "_places", "_ready")

    def __init__(self, items: dict[int, Item], groups: dict[GroupKey, Group], places: dict[str, Place]) -> None:
        self._items, self._groups, self._places = items, groups, places
        self._ready: list[int] = []

    def add(self, item: Item) -> None:
        """Take in a suspect that is ready."""
        heapq.heappush(self._ready, item.n)

    def free(self, place: Place, n: int) -> None:
        """A run gave its slot back: a place that was kept for it is open to all again."""
        if place.reserved_for == n:
            place.reserved_for = None

    def give_up(self, place: Place) -> None:
        """The place goes: what it was kept for waits for another."""
        item = self._items.get(place.reserved_for) if place.reserved_for is not None else None
        place.reserved_for = None
        if item is not None and item.state == "ready":
            self.add(item)

    @property
    def any(self) -> bool:
        """Whether a suspect waits, or a place is kept for one."""
        return bool(self._ready) or any(place.reserved_for is not None for place in self._places.values())

    def claims(self) -> Iterator[tuple[Item, str]]:
        """Yield which suspects can start now, and where; keep places free for those that cannot yet.

        One by one: the claim of each counts against its group's limit before the next is looked at.
        """
        self._reserve()
        for worker, place in self._places.items():
            if place.reserved_for is None or not place.empty:
                continue
            if place.retiring:
                self.give_up(place)
                continue
            item = self._items.get(place.reserved_for)
            if item is not None and item.state == "ready" and self._has_room(item):
                yield item, worker
            else:
                self.give_up(place)

    def _reserve(self) -> None:
        """Keep half of the places at most, those with the least to do, so that the rest of the run goes on."""
        open_ = [p for p in self._places.values() if not p.retiring and p.reserved_for is None]
        kept = sum(place.reserved_for is not None for place in self._places.values())
        room = max(1, len(self._places) // 2) - kept
        for place in sorted(open_, key=lambda p: len(p.holding))[: max(0, room)]:
            n = self._next()
            if n is None:
                return
            place.reserved_for = n

    def _next(self) -> int | None:
        skipped: list[int] = []
        found = None
        while self._ready and found is None:
            n = heapq.heappop(self._ready)
            item = self._items.get(n)
            if item is None or item.state != "ready":
                continue
            if self._has_room(item):
                found = n
            else:
                skipped.append(n)
        for n in skipped:
            heapq.heappush(self._ready, n)
        return found

    def _has_room(self, item: Item) -> bool:
        group = self._groups[item.group]
        return group.active < group.limit

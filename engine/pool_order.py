"""In which order ready items are taken: priority, then order of enqueue, among groups that may have one more. Pure."""

from __future__ import annotations

import heapq

from .pool_state import Group, GroupKey, Item


class Order:
    """A heap of groups by their first ready item; entries that have become untrue are dropped when they come up."""

    __slots__ = ("_groups", "_items", "_offers")

    def __init__(self, items: dict[int, Item], groups: dict[GroupKey, Group]) -> None:
        self._items, self._groups = items, groups
        self._offers: list[tuple[int, int, GroupKey]] = []

    def first(self) -> Group | None:
        """Return the group of the item that comes next."""
        while self._offers:
            _, _, key = self._offers[0]
            group = self._groups.get(key)
            if group is not None and group.active < group.limit and self._head(key, group) is not None:
                return group
            heapq.heappop(self._offers)
            if group is not None:
                group.offered = False
        return None

    def next(self) -> Item | None:
        """Take the next item out of its group's ready heap."""
        group = self.first()
        if group is None:
            return None
        heapq.heappop(self._offers)
        group.offered = False
        return self._items[heapq.heappop(group.ready)]

    def offer(self, key: GroupKey) -> None:
        """Put the group in the order if it has a ready item and room for it."""
        group = self._groups.get(key)
        if group is None or group.offered or group.active >= group.limit:
            return
        item = self._head(key, group)
        if item is not None:
            group.offered = True
            heapq.heappush(self._offers, (-item.priority, item.n, key))

    def _head(self, key: GroupKey, group: Group) -> Item | None:
        """Return the group's first ready item; what has become untrue before it is dropped."""
        while group.ready:
            item = self._items.get(group.ready[0])
            if item is not None and item.state == "ready" and item.group == key:
                return item
            heapq.heappop(group.ready)
        return None

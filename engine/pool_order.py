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

    def next(self) -> Item | None:
        """Take the next item out of its group's ready heap."""
        while self._offers:
            _, _, key = heapq.heappop(self._offers)
            group = self._groups.get(key)
            if group is None:
                continue
            group.offered = False
            while group.ready and group.active < group.limit:
                item = self._items.get(heapq.heappop(group.ready))
                if item is not None and item.state == "ready" and item.group == key:
                    return item
        return None

    def offer(self, key: GroupKey) -> None:
        """Put the group in the order if it has a ready item and room for it."""
        group = self._groups.get(key)
        if group is None or group.offered or group.active >= group.limit:
            return
        while group.ready:
            item = self._items.get(group.ready[0])
            if item is not None and item.state == "ready" and item.group == key:
                group.offered = True
                heapq.heappush(self._offers, (-item.priority, item.n, key))
                return
            heapq.heappop(group.ready)

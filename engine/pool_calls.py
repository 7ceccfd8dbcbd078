"""The calls of ``ctx.map`` and ``ctx.child`` that wait for their children, as groups of siblings. Pure."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from .pool_events import Action, TellSettled
from .pool_order import Order
from .pool_state import Group, GroupKey, Item, ItemState

#: A group whose parent has ended, or has not asked for it again since a restart, starts nothing.
ORPHAN_LIMIT = 0
ACTIVE: frozenset[ItemState] = frozenset({"claiming", "active", "waiting", "moving", "retained"})


class Calls:
    """Makes, fills and dissolves groups, and says when all members of one have settled."""

    __slots__ = ("_groups", "_groups_of", "_items", "_order")

    def __init__(self, items: dict[int, Item], groups: dict[GroupKey, Group], order: Order) -> None:
        self._items, self._groups, self._order = items, groups, order
        self._groups_of: dict[int, set[GroupKey]] = {}

    def members(self, parent: int) -> list[int]:
        """Return the unsettled children of a run."""
        return [n for key in self._groups_of.get(parent, ()) for n in self._groups[key].members]

    def forget(self, parent: int) -> Iterable[GroupKey]:
        """Return the open calls of a run that has ended, for the last time."""
        return self._groups_of.pop(parent, ())

    def group(self, key: GroupKey, limit: int) -> Group:
        """Return the group, made now if it is new."""
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = Group(limit)
            self._groups_of.setdefault(key[0], set()).add(key)
        return group

    def move(self, item: Item, key: GroupKey) -> None:
        """Put a known item under the call that asks for it now (a replayed parent, or a new coordinator)."""
        if item.group == key:
            return
        old, new = self._groups[item.group], self._groups[key]
        old.members.discard(item.n)
        new.members.add(item.n)
        if item.state in ACTIVE:
            old.active -= 1
            new.active += 1
        elif item.state == "ready" and not item.suspect:
            heapq.heappush(new.ready, item.n)
        was, item.group = item.group, key
        self._order.offer(was)
        self._order.offer(key)

    def dissolve(self, key: GroupKey) -> list[int]:
        """Return the members that have to be cancelled; they stay in the group until that is recorded."""
        group = self._groups[key]
        group.limit, group.told = ORPHAN_LIMIT, True
        if not group.members:
            del self._groups[key]
        return list(group.members)

    def tell_if_settled(self, key: GroupKey, group: Group) -> list[Action]:
        """Say so, once, if nothing of a whole group is left; forget a group that nobody waits for any more."""
        if group.members:
            return []
        parent = self._items.get(key[0])
        if parent is None or parent.generation != key[1]:
            self._groups.pop(key, None)
            self._groups_of.get(key[0], set()).discard(key)
            return []
        if not group.closed or group.told:
            return []
        group.told = True
        del self._groups[key]
        self._groups_of[key[0]].discard(key)
        return [TellSettled(*key)]

    def of_failed(self, n: int, parent: int | None) -> GroupKey | None:
        """Return the open call of the parent that a failed child belongs to; None if the parent has gone on since."""
        above = None if parent is None else self._items.get(parent)
        if above is None:
            return None
        keys = (key for key in self._groups_of.get(above.n, ()) if key[1] == above.generation)
        return next((key for key in keys if n in self._groups[key].failed and not self._groups[key].told), None)

    def reopen(self, n: int, parent: int) -> None:
        """A failed child is about to be ready again: from now on its parent has to wait for it."""
        key = self.of_failed(n, parent)
        if key is not None and n not in self._items:
            group = self._groups[key]
            group.failed.discard(n)
            group.members.add(n)
            group.active += 1
            self._items[n] = Item(n, key, "moving")

"""Short runs are claimed before a slot is free, so that no slot stands idle while a claim is written. Pure.

1. As far as the measured durations of the call allow: behind each slot at most ``AHEAD_MS`` of work, ``DEEPEST`` runs.
2. What was claimed ahead waits in the worker and starts there, in order, the moment a run gives its slot back. The pool
   counts the same way, so both always agree on who holds a slot.
3. A duration is a forecast. When runs take longer than it said and another worker has a free slot, what still waits is
   called back: a long run never holds short ones behind it (B13).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .pool_events import Action, Recall
from .pool_order import Order
from .pool_state import Group, GroupKey, Item, Place

#: So much measured work may wait behind each slot.
AHEAD_MS: Final = 50
#: So many runs may, however short they are. More than one, for each lends its slot while it waits for a commit: the
#: more wait together, the more share one. Measured with three-stage children on 2 x 8 slots: 1 waiting: 0.37 commits
#: each, 3: 0.21, at a fifth more children a second.
DEEPEST: Final = 3
#: Runs of a call that have to be measured before the first of it is claimed ahead.
MEASURED: Final = 8
#: What has waited so long for its slot may be called back.
RECALL_MS: Final = 2 * AHEAD_MS
#: How much one run moves the measured duration of its call.
_WEIGHT: Final = 1 / 8


class Ahead:
    """Measures how long the runs of each call hold a slot, and decides who is claimed before one is free."""

    __slots__ = ("_enough", "_groups", "_items", "_order", "_places")

    def __init__(
        self, items: dict[int, Item], groups: dict[GroupKey, Group], places: dict[str, Place], order: Order, enough: int
    ) -> None:
        self._items, self._groups, self._places, self._order = items, groups, places, order
        self._enough = enough

    @property
    def count(self) -> int:
        """How many runs wait in workers for a slot."""
        return sum(len(place.ahead) for place in self._places.values())

    def measure(self, item: Item, now: int) -> None:
        """The run gives back the slot that it had taken at ``item.since``, if it has one."""
        place = self._places.get(item.worker or "")
        if place is None or item.n not in place.holding:
            return
        group = self._groups[item.group]
        took_ms = max(1, now - item.since)
        group.measured += 1
        group.pace_ms += (took_ms - group.pace_ms) * max(_WEIGHT, 1 / group.measured)

    def promote(self, place: Place, now: int) -> None:
        """Give free slots to those that wait for them in the worker: it has done the same."""
        while place.ahead and len(place.holding) < place.slots:
            n = next(iter(place.ahead))
            del place.ahead[n]
            place.holding.add(n)
            self._items[n].since = now
        place.recalled = place.recalled and bool(place.ahead)

    def claims(self, most: int | None, now: int) -> Iterator[tuple[Item, str]]:
        """Queue runs in workers and yield whom to claim, and where; ``most`` may be in workers in all."""
        while most is None or most > sum(len(place.holding) + len(place.ahead) for place in self._places.values()):
            group = self._order.first()
            worker = None if group is None else self._shortest(group)
            if worker is None:
                return
            item = self._order.next()
            if item is None:
                return
            self._places[worker].ahead[item.n] = now
            yield item, worker

    def _shortest(self, group: Group) -> str | None:
        """Return the worker with the shortest queue, if it may grow by a run of this call."""
        if group.measured < self._enough:
            return None
        best, least = None, 0
        depth = min(DEEPEST, AHEAD_MS / group.pace_ms)
        for worker, place in self._places.items():
            waits = len(place.ahead)
            if (
                waits < int(place.slots * depth)
                and (best is None or waits < least)
                and not (place.closed or place.wanting)
            ):
                best, least = worker, waits
        return best

    def recalls(self, now: int) -> list[Action]:
        """Call back what has waited too long while another worker has a free slot."""
        late = [worker for worker, place in self._places.items() if self._is_late(place, now)]
        if not late or not any(place.free > 0 for place in self._places.values()):
            return []
        for worker in late:
            self._learn(self._places[worker], now)
        return [action for worker in late for action in self.recall(worker)]

    def _learn(self, place: Place, now: int) -> None:
        """What has not ended yet takes at least so long: the forecast was wrong, and is not made again."""
        for item in (self._items[n] for n in place.holding):
            group = self._groups[item.group]
            group.pace_ms = max(group.pace_ms, now - item.since)

    def recall(self, worker: str) -> list[Action]:
        """Call back all that waits in the worker, once."""
        place = self._places[worker]
        if not place.ahead or place.recalled:
            return []
        place.recalled = True
        return [Recall(worker)]

    def _is_late(self, place: Place, now: int) -> bool:
        return bool(place.ahead) and now - next(iter(place.ahead.values())) >= RECALL_MS

"""The pool's decisions, pure: ``handle(event, now) -> [Action]``. No clock, socket, process or database.

Rules kept here:
1. A slot is held from the claim until the run's end arrives, except while the run only waits.
2. Order: priority, then order of enqueue; a run that wants its slot back goes before new work.
3. A group (the children of one ``ctx.map``) has at most ``limit`` active members.
4. A lost worker costs the runs that held a slot one start each, the waiting ones none; after MAX_STARTS: failed.
   The last start is alone in a worker: only one of those that lost theirs together killed it.
5. When a run ends, its unsettled children are cancelled.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

from poolboard.journal.states import SETTLED_WORK, ControlState

from .pool_events import (
    Action,
    Adopted,
    AllParked,
    CancelWork,
    Claim,
    Claimed,
    ClaimMissed,
    ControlSet,
    Event,
    FailLost,
    GrantSlot,
    GroupGrew,
    NotHeld,
    Requeue,
    Requeued,
    Returned,
    RunParked,
    SendHome,
    Settled,
    SlotGiven,
    SlotWanted,
    TellSettled,
    Tick,
    WorkerJoined,
    WorkerLost,
    WorkerRetiring,
    WorkLoaded,
)
from .pool_order import Order
from .pool_state import MAX_STARTS, Group, GroupKey, Item, ItemState, Place
from .pool_suspects import Suspects

#: The root and children whose parent has not asked for them again since a restart are in groups of these limits.
_ROOT_LIMIT, _ORPHAN_LIMIT = 1, 0
_ACTIVE: frozenset[ItemState] = frozenset({"claiming", "active", "waiting", "moving", "retained"})


class Pool:
    """Items, groups and workers of one root run."""

    def __init__(self) -> None:
        self.items: dict[int, Item] = {}
        self.places: dict[str, Place] = {}
        self.groups: dict[GroupKey, Group] = {}
        self.control: ControlState = "running"
        self.parked: set[int] = set()
        self._any_retires = False
        self._groups_of: dict[int, set[GroupKey]] = {}
        self._order = Order(self.items, self.groups)
        self._suspects = Suspects(self.items, self.groups, self.places)
        self._later: list[tuple[int, int]] = []
        self._handlers: dict[type, Callable[[Any, int], list[Action]]] = {
            WorkerJoined: self._worker_joined,
            WorkerLost: self._worker_lost,
            WorkerRetiring: self._worker_retiring,
            WorkLoaded: self._work_loaded,
            GroupGrew: self._group_grew,
            Claimed: self._claimed,
            ClaimMissed: self._claim_missed,
            Adopted: self._adopted,
            NotHeld: self._not_held,
            Requeued: self._requeued,
            SlotGiven: self._slot_given,
            SlotWanted: self._slot_wanted,
            RunParked: self._run_parked,
            Returned: self._returned,
            Settled: self._settled,
            ControlSet: self._control_set,
            Tick: lambda event, now: [],
        }

    def handle(self, event: Event, now: int) -> list[Action]:
        """Take in one event and return what is to be done, in order. ``now`` is in ms."""
        actions = self._handlers[type(event)](event, now)
        actions += self._fill(now) if self.control == "running" else self._parked_actions()
        return actions + self._homegoers() if self._any_retires else actions

    @property
    def in_flight(self) -> int:
        """How many runs hold a slot."""
        return sum(len(place.holding) for place in self.places.values())

    # --- work comes and goes ---------------------------------------------------------------------------------------

    def _work_loaded(self, event: WorkLoaded, now: int) -> list[Action]:
        key = (-1, 0, 0) if event.parent is None else (event.parent, 0, -1)
        group = self._group(key, _ROOT_LIMIT if event.parent is None else _ORPHAN_LIMIT)
        item = Item(event.n, key, "retained", event.generation, event.starts, event.worker, event.priority)
        item.held_slot = event.state == "leased"
        self.items[event.n] = item
        group.members.add(event.n)
        if event.state == "ready":
            item.state, item.suspect = "moving", event.starts >= MAX_STARTS - 1
            self._make_ready(item, event.ready_at, now)
        else:
            group.active += 1
        return []

    def _group_grew(self, event: GroupGrew, now: int) -> list[Action]:
        key = (event.parent, event.generation, event.group)
        group = self._group(key, event.limit)
        for n, state in event.children:
            item = self.items.get(n)
            if item is not None:
                self._move(item, key)
            elif state not in SETTLED_WORK:
                item = self.items[n] = Item(n, key, "moving", priority=event.priority)
                group.members.add(n)
                self._make_ready(item, 0, now)
        group.closed = group.closed or event.last
        return self._tell_if_settled(key, group)

    def _move(self, item: Item, key: GroupKey) -> None:
        """Put a known item under the call that asks for it now (a replayed parent, or a new coordinator)."""
        if item.group == key:
            return
        old, new = self.groups[item.group], self.groups[key]
        old.members.discard(item.n)
        new.members.add(item.n)
        if item.state in _ACTIVE:
            old.active -= 1
            new.active += 1
        elif item.state == "ready" and not item.suspect:
            heapq.heappush(new.ready, item.n)
        was, item.group = item.group, key
        self._order.offer(was)
        self._order.offer(key)

    def _settled(self, event: Settled, now: int) -> list[Action]:
        item = self.items.pop(event.n, None)
        if item is None:
            return []
        self._free(item)
        group = self.groups[item.group]
        group.members.discard(item.n)
        if item.state in _ACTIVE:
            group.active -= 1
        self._order.offer(item.group)
        orphans = [CancelWork(n) for key in self._groups_of.pop(item.n, ()) for n in sorted(self._dissolve(key))]
        return [*self._tell_if_settled(item.group, group), *orphans]

    def _dissolve(self, key: GroupKey) -> list[int]:
        """Return the members that have to be cancelled; they stay in the group until that is recorded."""
        group = self.groups[key]
        group.limit, group.told = _ORPHAN_LIMIT, True
        if not group.members:
            del self.groups[key]
        return list(group.members)

    def _tell_if_settled(self, key: GroupKey, group: Group) -> list[Action]:
        if group.members:
            return []
        parent = self.items.get(key[0])
        if parent is None or parent.generation != key[1]:
            self.groups.pop(key, None)
            self._groups_of.get(key[0], set()).discard(key)
            return []
        if not group.closed or group.told:
            return []
        group.told = True
        del self.groups[key]
        self._groups_of[key[0]].discard(key)
        return [TellSettled(*key)]

    # --- attempts --------------------------------------------------------------------------------------------------

    def _claimed(self, event: Claimed, now: int) -> list[Action]:
        item = self.items.get(event.n)
        if item is None or item.state != "claiming":
            return []
        item.state, item.generation, item.starts = "active", event.generation, event.starts
        if item.worker in self.places:
            return []
        # 1. claim asked for  2. its worker died  3. the claim was recorded: nobody ever saw this start.
        item.state = "moving"
        return [Requeue(item.n, give_start_back=True)]

    def _claim_missed(self, event: ClaimMissed, now: int) -> list[Action]:
        """Another state stands in the journal than here: keep the item out of the way rather than ask for ever."""
        item = self.items.get(event.n)
        if item is not None and item.state == "claiming":
            self._free(item)
            item.state = "retained"
        return []

    def _adopted(self, event: Adopted, now: int) -> list[Action]:
        item, place = self.items.get(event.n), self.places.get(event.worker)
        if item is None or place is None or item.state != "retained":
            return []
        item.state, item.worker, item.generation, item.starts = "active", event.worker, event.generation, event.starts
        place.holding.add(event.n)
        return []

    def _not_held(self, event: NotHeld, now: int) -> list[Action]:
        item = self.items.get(event.n)
        if item is None or item.state != "retained":
            return []
        item.state = "moving"
        return [Requeue(item.n, give_start_back=True)]

    def _returned(self, event: Returned, now: int) -> list[Action]:
        item = self._current(event.n, event.generation)
        if item is not None:
            self._free(item)
            item.state = "moving"
        return []

    def _requeued(self, event: Requeued, now: int) -> list[Action]:
        item = self.items.get(event.n)
        if item is not None and item.state in ("moving", "retained"):
            self.groups[item.group].active -= 1
            self._free(item)
            self._make_ready(item, event.ready_at, now)
        return []

    def _make_ready(self, item: Item, ready_at: int, now: int) -> None:
        item.worker = None
        if ready_at > now:
            item.state = "later"
            heapq.heappush(self._later, (ready_at, item.n))
            return
        item.state = "ready"
        if item.suspect:
            self._suspects.add(item)
        else:
            heapq.heappush(self.groups[item.group].ready, item.n)
        self._order.offer(item.group)

    # --- slots -----------------------------------------------------------------------------------------------------

    def _slot_given(self, event: SlotGiven, now: int) -> list[Action]:
        item = self._current(event.n, event.generation)
        if item is not None and item.state == "active":
            self._free(item)
            item.state = "waiting"
            if self._retires(item.worker):
                item.state = "moving"
                return [Requeue(item.n, give_start_back=True)]
        return []

    def _slot_wanted(self, event: SlotWanted, now: int) -> list[Action]:
        item = self._current(event.n, event.generation)
        if item is not None and item.state == "waiting" and item.worker in self.places:
            wanting = self.places[item.worker].wanting
            if item.n not in wanting:
                wanting.append(item.n)
        return []

    def _run_parked(self, event: RunParked, now: int) -> list[Action]:
        item = self._current(event.n, event.generation)
        if item is not None and self._retires(item.worker) and item.state == "active":
            item.state = "moving"
            return [Requeue(item.n, give_start_back=True)]
        if item is not None and self.control != "running":
            self.parked.add(event.n)
        return []

    def _control_set(self, event: ControlSet, now: int) -> list[Action]:
        self.control = event.state
        if event.state == "running":
            self.parked.clear()
        return []

    def _parked_actions(self) -> list[Action]:
        if self.control not in ("pausing", "stopping"):
            return []
        held = {n for place in self.places.values() for n in place.holding}
        return [AllParked()] if held <= self.parked else []

    # --- workers ---------------------------------------------------------------------------------------------------

    def _worker_joined(self, event: WorkerJoined, now: int) -> list[Action]:
        self.places.setdefault(event.worker, Place(event.slots)).slots = event.slots
        return []

    def _worker_lost(self, event: WorkerLost, now: int) -> list[Action]:
        place = self.places.pop(event.worker, None)
        holding = place.holding if place is not None else set()
        if place is not None:
            self._suspects.give_up(place)
        actions: list[Action] = []
        for item in [item for item in self.items.values() if item.worker == event.worker]:
            self.parked.discard(item.n)
            # An item still being claimed is met again in _claimed, which finds no worker.
            if item.state not in ("active", "waiting", "retained"):
                continue
            costs = event.costs_start and (item.n in holding or (item.state == "retained" and item.held_slot))
            item.state, item.suspect = "moving", item.suspect or (costs and item.starts >= MAX_STARTS - 1)
            if costs and item.starts >= MAX_STARTS:
                actions.append(FailLost(item.n, f"worker_lost ({event.reason})"))
            else:
                actions.append(Requeue(item.n, give_start_back=not costs))
        return actions

    def _worker_retiring(self, event: WorkerRetiring, now: int) -> list[Action]:
        place = self.places.get(event.worker)
        if place is None:
            return []
        place.retiring = self._any_retires = True
        if not place.holding:
            self._suspects.give_up(place)
        actions: list[Action] = []
        for item in self.items.values():
            # What waits there is taken up elsewhere, without losing a start; what runs may end first.
            if item.worker == event.worker and item.state == "waiting":
                item.state = "moving"
                actions.append(Requeue(item.n, give_start_back=True))
        return actions

    def _retires(self, worker: str | None) -> bool:
        return worker in self.places and self.places[worker].retiring

    def _homegoers(self) -> list[Action]:
        """Send retiring workers home that have nothing left, and forget them."""
        ready = [worker for worker, place in self.places.items() if place.retiring and not place.holding]
        busy = {item.worker for item in self.items.values() if item.worker in ready} if ready else set()
        done = [worker for worker in ready if worker not in busy]
        for worker in done:
            del self.places[worker]
        return [SendHome(worker) for worker in done]

    # --- choosing --------------------------------------------------------------------------------------------------

    def _fill(self, now: int) -> list[Action]:
        while self._later and self._later[0][0] <= now:
            _, n = heapq.heappop(self._later)
            item = self.items.get(n)
            if item is not None and item.state == "later":
                self._make_ready(item, 0, now)
        actions: list[Action] = []
        for place in self.places.values():
            while place.wanting and place.free > 0:
                n = place.wanting.popleft()
                item = self.items.get(n)
                if item is not None and item.state == "waiting":
                    item.state = "active"
                    place.holding.add(n)
                    actions.append(GrantSlot(n))
        if self._suspects.any:
            actions += [self._claim(item, worker) for item, worker in self._suspects.claims()]
        while (worker := self._roomiest()) is not None and (item := self._order.next()) is not None:
            actions.append(self._claim(item, worker))
        return actions

    def _claim(self, item: Item, worker: str) -> Claim:
        item.state, item.worker = "claiming", worker
        self.groups[item.group].active += 1
        self.places[worker].holding.add(item.n)
        self._order.offer(item.group)
        return Claim(item.n, worker)

    def _roomiest(self) -> str | None:
        best, most = None, 0
        for worker, place in self.places.items():
            if place.free > most:
                best, most = worker, place.free
        return best

    def _group(self, key: GroupKey, limit: int) -> Group:
        group = self.groups.get(key)
        if group is None:
            group = self.groups[key] = Group(limit)
            self._groups_of.setdefault(key[0], set()).add(key)
        return group

    def _current(self, n: int, generation: int) -> Item | None:
        item = self.items.get(n)
        return item if item is not None and item.generation == generation else None

    def _free(self, item: Item) -> None:
        self.parked.discard(item.n)
        if item.worker in self.places:
            place = self.places[item.worker]
            place.holding.discard(item.n)
            self._suspects.free(place, item.n)
            if item.n in place.wanting:
                place.wanting.remove(item.n)

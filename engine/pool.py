"""The pool's decisions, pure: ``handle(event, now) -> [Action]``. No clock, socket, process or database.

Rules kept here:
1. A slot is held from the claim until the run's end arrives, except while the run only waits.
2. Order: priority, then order of enqueue; a run that wants its slot back goes before new work.
3. A group (the children of one ``ctx.map``) has at most ``limit`` active members.
4. A lost worker costs the runs that held a slot one start each, the waiting ones none; after MAX_STARTS: failed.
   The last start is alone in a worker: only one of those that lost theirs together killed it.
5. When a run ends, its unsettled children are cancelled.
6. A held child, and everything below it, is not taken up; what of it runs is told to park.
7. With every slot taken, short runs may be claimed ahead (pool_ahead.py): they wait in the worker and hold no slot yet.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

from poolboard.journal.states import SETTLED_WORK, ControlState

from .pool_ahead import MEASURED, Ahead
from .pool_calls import ACTIVE, ORPHAN_LIMIT, Calls
from .pool_events import (
    Action,
    Adopted,
    AllParked,
    CancelWork,
    ChildrenHeld,
    Claim,
    Claimed,
    ClaimMissed,
    ConcurrencySet,
    ControlSet,
    Event,
    FailLost,
    GrantSlot,
    GroupGrew,
    NotHeld,
    Reopening,
    Requeue,
    Requeued,
    Returned,
    RunParked,
    SendHome,
    Settled,
    SlotGiven,
    SlotsSet,
    SlotWanted,
    Tick,
    WorkerJoined,
    WorkerLost,
    WorkerRetiring,
    WorkLoaded,
)
from .pool_holds import Holds, Parking
from .pool_order import Order
from .pool_state import MAX_STARTS, Group, GroupKey, Item, Place
from .pool_suspects import Suspects

#: The root is in a group of its own.
_ROOT_LIMIT = 1


class Pool:
    """Items, groups and workers of one root run; ``measured`` runs of a call tell how long its others will take."""

    def __init__(self, measured: int = MEASURED) -> None:
        self.items: dict[int, Item] = {}
        self.places: dict[str, Place] = {}
        self.groups: dict[GroupKey, Group] = {}
        self.control: ControlState = "running"
        #: How many runs may hold a slot at once, whatever workers and slots there are; None is no such bound.
        self.most: int | None = None
        self._any_retires = False
        self._order = Order(self.items, self.groups)
        self._calls = Calls(self.items, self.groups, self._order)
        self.holds = Holds(self.items, self._calls)
        self.parking = Parking(self.items, self.places)
        self._suspects = Suspects(self.items, self.groups, self.places)
        self.ahead = Ahead(self.items, self.groups, self.places, self._order, measured)
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
            ChildrenHeld: self._children_held,
            SlotsSet: self._slots_set,
            ConcurrencySet: self._concurrency_set,
            Reopening: self._reopening,
            Tick: lambda event, now: self.ahead.recalls(now),
        }

    def handle(self, event: Event, now: int) -> list[Action]:
        """Take in one event and return what is to be done, in order. ``now`` is in ms."""
        actions = self._handlers[type(event)](event, now)
        actions += self._fill(now) if self.control == "running" else self._parked_actions()
        return actions + self._homegoers() if self._any_retires else actions

    @property
    def holding(self) -> int:
        """How many runs hold a slot."""
        return sum(len(place.holding) for place in self.places.values())

    # --- work comes and goes ---------------------------------------------------------------------------------------

    def _work_loaded(self, event: WorkLoaded, now: int) -> list[Action]:
        key = (-1, 0, 0) if event.parent is None else (event.parent, 0, -1)
        group = self._calls.group(key, _ROOT_LIMIT if event.parent is None else ORPHAN_LIMIT)
        item = Item(event.n, key, "retained", event.generation, event.starts, event.worker, event.priority)
        item.held_slot = event.state == "leased"
        self.items[event.n] = item
        group.members.add(event.n)
        if event.state == "ready":
            item.state, item.suspect = "moving", event.starts >= MAX_STARTS - 1
            self._make_ready(item)
        else:
            group.active += 1
        return []

    def _group_grew(self, event: GroupGrew, now: int) -> list[Action]:
        key = (event.parent, event.generation, event.group)
        group = self._calls.group(key, event.limit)
        for n, state in event.children:
            item = self.items.get(n)
            if item is not None:
                self._calls.move(item, key)
            elif state not in SETTLED_WORK:
                item = self.items[n] = Item(n, key, "moving", priority=event.priority)
                group.members.add(n)
                self._make_ready(item)
            elif state == "failed":
                group.failed.add(n)
        group.closed = group.closed or event.last
        return self._calls.tell_if_settled(key, group)

    def _settled(self, event: Settled, now: int) -> list[Action]:
        item = self.items.pop(event.n, None)
        if item is None:
            return []
        self._free(item, now)
        self.parking.leave(item.n)
        group = self.groups[item.group]
        group.members.discard(item.n)
        if event.failed:
            group.failed.add(item.n)
        if item.state in ACTIVE:
            group.active -= 1
        self._order.offer(item.group)
        orphans = [CancelWork(n) for key in self._calls.forget(item.n) for n in sorted(self._calls.dissolve(key))]
        return [*self._calls.tell_if_settled(item.group, group), *orphans]

    # --- attempts --------------------------------------------------------------------------------------------------

    def _claimed(self, event: Claimed, now: int) -> list[Action]:
        item = self.items.get(event.n)
        if item is None or item.state != "claiming":
            return []
        item.state, item.generation, item.starts, item.since = "active", event.generation, event.starts, now
        if item.worker in self.places:
            return self.holds.told(item)
        # 1. claim asked for  2. its worker died  3. the claim was recorded: nobody ever saw this start.
        item.state = "moving"
        return [Requeue(item.n, give_start_back=True)]

    def _claim_missed(self, event: ClaimMissed, now: int) -> list[Action]:
        """Another state stands in the journal than here: keep the item out of the way rather than ask for ever."""
        item = self.items.get(event.n)
        if item is not None and item.state == "claiming":
            self._free(item, now)
            item.state = "retained"
        return []

    def _adopted(self, event: Adopted, now: int) -> list[Action]:
        item, place = self.items.get(event.n), self.places.get(event.worker)
        if item is None or place is None or item.state != "retained":
            return []
        item.state, item.worker, item.generation, item.starts = "active", event.worker, event.generation, event.starts
        place.holding.add(event.n)
        return self.holds.told(item)

    def _not_held(self, event: NotHeld, now: int) -> list[Action]:
        item = self.items.get(event.n)
        if item is None or item.state != "retained":
            return []
        item.state = "moving"
        return [Requeue(item.n, give_start_back=True)]

    def _returned(self, event: Returned, now: int) -> list[Action]:
        item = self._current(event.n, event.generation)
        if item is not None:
            self.ahead.measure(item, now)
            self._free(item, now)
            self.parking.leave(item.n)
            item.state = "moving"
        return []

    def _requeued(self, event: Requeued, now: int) -> list[Action]:
        item = self.items.get(event.n)
        if item is not None and item.state in ("moving", "retained"):
            self.groups[item.group].active -= 1
            self._free(item, now)
            self.parking.leave(item.n)
            self._make_ready(item)
        return []

    def _make_ready(self, item: Item) -> None:
        item.worker = None
        item.state = "held" if self.holds.covers(item) else "ready"
        if item.state == "held":
            return
        if item.suspect:
            self._suspects.add(item)
        else:
            heapq.heappush(self.groups[item.group].ready, item.n)
        self._order.offer(item.group)

    # --- slots -----------------------------------------------------------------------------------------------------

    def _slot_given(self, event: SlotGiven, now: int) -> list[Action]:
        item = self._current(event.n, event.generation)
        if item is not None and item.state == "active":
            self.ahead.measure(item, now)
            self._free(item, now)
            item.state = "waiting"
            if self._retires(item.worker):
                item.state = "moving"
                return [Requeue(item.n, give_start_back=True)]
        return []

    def _slot_wanted(self, event: SlotWanted, now: int) -> list[Action]:
        item = self._current(event.n, event.generation)
        if item is not None and item.state == "waiting" and item.worker in self.places:
            self.parking.leave(item.n)
            wanting = self.places[item.worker].wanting
            if item.n not in wanting:
                wanting.append(item.n)
        return []

    def _run_parked(self, event: RunParked, now: int) -> list[Action]:
        item = self._current(event.n, event.generation)
        if item is not None:
            self.parking.take(item, event.stage)
        return []

    def _slots_set(self, event: SlotsSet, now: int) -> list[Action]:
        for place in self.places.values():
            place.slots = event.slots
            self.ahead.promote(place, now)
        return []

    # --- control ---------------------------------------------------------------------------------------------------

    def _control_set(self, event: ControlSet, now: int) -> list[Action]:
        self.control = event.state
        return []

    def _parked_actions(self) -> list[Action]:
        return [AllParked()] if self.control in ("pausing", "stopping") and self.parking.over else []

    def _concurrency_set(self, event: ConcurrencySet, now: int) -> list[Action]:
        self.most = event.most
        return []

    def _children_held(self, event: ChildrenHeld, now: int) -> list[Action]:
        actions, free = self.holds.change(event.children, event.held)
        for item in free:
            self._make_ready(item)
        return actions

    def _reopening(self, event: Reopening, now: int) -> list[Action]:
        self._calls.reopen(event.n, event.parent)
        return []

    # --- workers ---------------------------------------------------------------------------------------------------

    def _worker_joined(self, event: WorkerJoined, now: int) -> list[Action]:
        self.places.setdefault(event.worker, Place(event.slots)).slots = event.slots
        return []

    def _worker_lost(self, event: WorkerLost, now: int) -> list[Action]:
        place = self.places.pop(event.worker, None) or Place(0)
        self._suspects.give_up(place)
        actions: list[Action] = []
        for item in [item for item in self.items.values() if item.worker == event.worker]:
            self.parking.leave(item.n)
            # An item still being claimed is met again in _claimed, which finds no worker.
            if item.state not in ("active", "waiting", "retained"):
                continue
            waited = item.n in place.ahead
            lost = item.n in place.holding or (waited and item.spared) or (item.state == "retained" and item.held_slot)
            costs, item.spared = event.costs_start and lost, item.spared or waited
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
        if place.empty:
            self._suspects.give_up(place)
        actions = self.ahead.recall(event.worker)
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
        ready = [worker for worker, place in self.places.items() if place.retiring and place.empty]
        busy = {item.worker for item in self.items.values() if item.worker in ready} if ready else set()
        done = [worker for worker in ready if worker not in busy]
        for worker in done:
            del self.places[worker]
        return [SendHome(worker) for worker in done]

    def can_retry(self, n: int, parent: int | None) -> bool:
        """Whether the parent still waits for the call in which this child failed."""
        return self._calls.of_failed(n, parent) is not None

    # --- choosing --------------------------------------------------------------------------------------------------

    def _fill(self, now: int) -> list[Action]:
        actions: list[Action] = []
        for place in self.places.values():
            while place.wanting and place.free > 0 and not self._full():
                n = place.wanting.popleft()
                item = self.items.get(n)
                if item is not None and item.state == "waiting":
                    item.state, item.since = "active", now
                    place.holding.add(n)
                    actions.append(GrantSlot(n))
        if self._full():
            return actions
        if self._suspects.any:
            for suspect, worker in self._suspects.claims():
                actions.append(self._claim(suspect, worker))
                if self._full():
                    return actions
        while (roomy := self._roomiest()) is not None and (item := self._order.next()) is not None:
            actions.append(self._claim(item, roomy))
        for item, worker in self.ahead.claims(self.most, now):
            actions.append(self._claim(item, worker))
        return actions

    def _full(self) -> bool:
        return self.most is not None and self.holding >= self.most

    def _claim(self, item: Item, worker: str) -> Claim:
        item.state, item.worker = "claiming", worker
        self.groups[item.group].active += 1
        if item.n not in self.places[worker].ahead:
            self.places[worker].holding.add(item.n)
        self._order.offer(item.group)
        return Claim(item.n, worker)

    def _roomiest(self) -> str | None:
        if self._full():
            return None
        best, most = None, 0
        for worker, place in self.places.items():
            if place.free > most:
                best, most = worker, place.free
        return best

    def _current(self, n: int, generation: int) -> Item | None:
        item = self.items.get(n)
        return item if item is not None and item.generation == generation else None

    def _free(self, item: Item, now: int) -> None:
        if item.worker in self.places:
            place = self.places[item.worker]
            place.ahead.pop(item.n, None)
            place.holding.discard(item.n)
            self._suspects.free(place, item.n)
            if item.n in place.wanting:
                place.wanting.remove(item.n)
            self.ahead.promote(place, now)

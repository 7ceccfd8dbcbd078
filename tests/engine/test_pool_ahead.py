"""Short runs are claimed before a slot is free: how many, and what becomes of them when the forecast was bad."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from poolboard.engine.pool import Pool
from poolboard.engine.pool_ahead import AHEAD_MS, DEEPEST, MEASURED, RECALL_MS
from poolboard.engine.pool_events import (
    ChildrenHeld,
    Claim,
    Claimed,
    ConcurrencySet,
    ControlSet,
    Event,
    GroupGrew,
    HoldRun,
    Recall,
    Requeue,
    Requeued,
    Returned,
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
from poolboard.engine.seats import Seats
from poolboard.engine.slot import Slot

SLOTS = 4


class Run:
    """A root that waits for 1,000 children on one worker; time goes on by itself as children end."""

    def __init__(self, took_ms: int, limit: int = 1000, most: int | None = None) -> None:
        self.pool, self.now, self.took_ms = Pool(), 1_000_000, took_ms
        self.tell(WorkerJoined("a", SLOTS), WorkLoaded(0, None, "ready", 0, 0, None, 0), Claimed(0, 1, 1))
        self.tell(ConcurrencySet(most))
        asked = self.tell(GroupGrew(0, 1, 0, limit, tuple((n, "ready") for n in range(1, 1000)), 0, True))
        asked += self.tell(SlotGiven(0, 1))
        self.claimed(asked)
        for _ in range(MEASURED):
            self.end()

    def tell(self, *events: Event) -> list[object]:
        return [action for event in events for action in self.pool.handle(event, self.now)]

    def claimed(self, actions: list[object]) -> list[object]:
        """Record the claims among the actions; return the actions."""
        for action in actions:
            if isinstance(action, Claim):
                self.tell(Claimed(action.n, 1, 1))
        return actions

    def end(self, n: int | None = None) -> list[object]:
        """Let the first that runs end after the usual time; return what the pool asks for."""
        self.now += self.took_ms
        first = min(self.running) if n is None else n
        # Every child took its slot ``took_ms`` ago: what is measured is what the test says, not how it was called.
        self.pool.items[first].since = self.now - self.took_ms
        return self.claimed(self.tell(Returned(first, 1), Settled(first)))

    @property
    def running(self) -> set[int]:
        return self.pool.places["a"].holding

    @property
    def waiting(self) -> list[int]:
        return list(self.pool.places["a"].ahead)


@pytest.mark.parametrize(
    ("took_ms", "waiting"),
    [(1, DEEPEST * SLOTS), (AHEAD_MS, SLOTS), (2 * AHEAD_MS, 2), (4 * AHEAD_MS, 1), (5 * AHEAD_MS, 0)],
)
def test_so_many_wait_in_a_worker_as_their_measured_durations_allow(took_ms: int, waiting: int) -> None:
    run = Run(took_ms)
    assert (len(run.running), len(run.waiting)) == (SLOTS, waiting)
    assert run.pool.places["a"].here == {*run.running, *run.waiting}, "whom a stop of this worker has to reach"


def test_nobody_waits_in_a_worker_before_anything_was_measured() -> None:
    run = Run.__new__(Run)
    run.pool, run.now, run.took_ms = Pool(), 0, 1
    run.tell(WorkerJoined("a", 1), WorkLoaded(0, None, "ready", 0, 0, None, 0), Claimed(0, 1, 1))
    run.claimed(run.tell(GroupGrew(0, 1, 0, 9, ((1, "ready"), (2, "ready")), 0, True), SlotGiven(0, 1)))
    assert (run.running, run.waiting) == ({1}, [])


def test_who_waits_gets_the_next_free_slot_in_order_and_another_one_is_claimed_to_wait() -> None:
    run = Run(took_ms=5)
    first, *others = run.waiting
    assert len(run.end()) == 1
    assert first in run.running
    assert run.waiting[:-1] == others


def test_one_long_run_ends_the_waiting_of_those_behind_it() -> None:
    """B13: what has been forecast as short turns out long, and the other worker has nothing to do."""
    run = Run(took_ms=5)
    behind = run.waiting
    assert len(behind) == DEEPEST * SLOTS
    run.now += RECALL_MS
    assert run.tell(Tick()) == [], "nobody else could take them"
    run.claimed(run.tell(WorkerJoined("b", SLOTS)))
    assert run.tell(Tick()) == [], "the other worker has its own to do"
    for item in [item for item in run.pool.items.values() if item.state == "ready"]:
        run.tell(Settled(item.n))
    while mine := run.pool.places["b"].holding:
        run.tell(Returned(min(mine), 1), Settled(min(mine)))
    run.now += RECALL_MS
    assert run.tell(Tick()) == [Recall("a")]
    assert run.tell(Tick()) == [], "once is enough"
    for n in behind[:SLOTS]:
        run.tell(Returned(n, 1))
        assert run.tell(Requeued(n)) == [Claim(n, "b")]
    for n in behind[SLOTS:]:
        run.tell(Returned(n, 1), Requeued(n))
    assert len(run.waiting) <= 1, "the forecast was wrong, and is not made again"


def test_a_lost_worker_costs_those_that_waited_there_no_start_once() -> None:
    run = Run(took_ms=5)
    running, waiting = set(run.running), run.waiting
    lost = run.tell(WorkerLost("a", "signal 9"))
    assert {action.n for action in lost if isinstance(action, Requeue) and not action.give_start_back} == running
    assert {action.n for action in lost if isinstance(action, Requeue) and action.give_start_back} == {0, *waiting}
    run.tell(*(Requeued(n) for n in (0, *running, *waiting)))
    run.tell(WorkerJoined("c", 1), Claimed(0, 2, 2), SlotGiven(0, 2))
    item = run.pool.items[waiting[0]]
    place = run.pool.places["c"]
    item.state, item.worker = "active", "c"
    place.ahead[item.n] = run.now
    assert Requeue(item.n, give_start_back=False) in run.tell(WorkerLost("c", "signal 9")), "it may have been the one"


def test_pausing_is_over_only_when_what_waits_in_workers_is_back() -> None:
    run = Run(took_ms=5)
    run.tell(ControlSet("pausing"))
    waiting = run.waiting
    for n in waiting:
        run.tell(Returned(n, 1), Requeued(n))
    assert run.waiting == []
    assert [type(action).__name__ for n in sorted(run.running) for action in run.tell(SlotGiven(n, 1))] == ["AllParked"]


def test_a_held_child_that_waits_in_a_worker_is_called_back_by_name() -> None:
    run = Run(took_ms=5)
    n = run.waiting[0]
    assert HoldRun(n, True) in run.tell(ChildrenHeld((n,), held=True))
    run.tell(Returned(n, 1), Requeued(n))
    assert run.pool.items[n].state == "held"


def test_a_worker_that_is_sent_home_gives_back_what_waits_there_first() -> None:
    run = Run(took_ms=5)
    waiting, running = run.waiting, sorted(run.running)
    run.tell(WorkerJoined("b", 1))
    assert Recall("a") in run.tell(WorkerRetiring("a"))
    for n in waiting:
        run.tell(Returned(n, 1), Requeued(n))
    last = [action for n in running for action in run.tell(Returned(n, 1), Settled(n))]
    assert SendHome("a") not in last, "the root still waits there"
    assert SendHome("a") in run.tell(Requeued(0))


def test_more_than_may_run_at_once_never_wait_either() -> None:
    assert len(Run(took_ms=5, limit=6).waiting) == 2
    assert len(Run(took_ms=5, most=5).waiting) == 1


def test_a_run_that_wants_its_slot_back_is_not_passed_by_new_ones() -> None:
    run = Run(took_ms=5)
    before = run.waiting
    run.tell(SlotWanted(0, 1))
    for _ in before:
        run.end()
    assert run.waiting == [], "those that waited are through, no new one came"
    run.end()
    assert 0 in run.running


def test_more_slots_start_what_waits() -> None:
    run = Run(took_ms=5)
    waiting = run.waiting
    run.tell(SlotsSet(SLOTS + 2))
    assert set(waiting[:2]) <= run.running


def test_a_worker_starts_what_was_sent_ahead_when_a_run_gives_its_slot_back() -> None:
    seats, begun = Seats(2), list[int]()

    def start(n: int) -> None:
        begun.append(n)
        seats.take()

    for n in (1, 2, 3, 4):
        seats.arrive(n, lambda n=n: start(n))  # type: ignore[misc]
    assert begun == [1, 2]
    seats.leave()
    assert begun == [1, 2, 3]
    assert seats.give_up(4)
    assert not seats.give_up(3), "it has begun"
    for n in (5, 6):
        seats.arrive(n, lambda n=n: start(n))  # type: ignore[misc]
    seats.resize(3)
    assert begun == [1, 2, 3, 5]
    assert seats.empty() == [6]
    seats.leave()
    assert begun == [1, 2, 3, 5]


def slot_in(seats: Seats) -> Slot:
    slot = Slot(seats, lambda: None, lambda: None)
    slot.open()
    return slot


async def test_while_its_outcome_is_recorded_a_run_lends_its_slot_to_one_that_was_sent_ahead() -> None:
    seats = Seats(1)
    slot, begun = slot_in(seats), list[Slot]()
    seats.arrive(2, lambda: begun.append(slot_in(seats)))
    await slot.begin()
    assert not begun
    slot.lend()
    assert len(begun) == 1
    slot.take_back()
    slot.end()
    next_stage = asyncio.ensure_future(slot.begin())
    await asyncio.sleep(0)
    assert not next_stage.done(), "no more compute at once than there are slots"
    seats.arrive(3, lambda: begun.append(slot_in(seats)))
    begun[0].leave()
    await next_stage
    assert len(begun) == 1, "who comes back goes before who was sent ahead"
    slot.end()
    slot.leave()
    assert len(begun) == 2


async def test_a_slot_that_nobody_wants_meanwhile_is_still_there_after_the_record() -> None:
    seats = Seats(1)
    slot = slot_in(seats)
    await slot.begin()
    slot.lend()
    slot.take_back()
    assert not seats.free and not slot.lent


async def test_a_slot_with_another_stage_in_it_is_not_lent() -> None:
    seats = Seats(1)
    slot = slot_in(seats)
    await slot.begin()
    await slot.begin()
    slot.lend()
    assert not seats.free


@pytest.mark.parametrize("waits", [False, True])
async def test_a_run_that_ends_with_its_slot_lent_leaves_the_count_right(waits: bool) -> None:
    seats = Seats(1)
    slot, begun = slot_in(seats), list[Slot]()
    seats.arrive(2, lambda: begun.append(slot_in(seats)))
    await slot.begin()
    slot.lend()
    slot.end()
    if waits:
        coming = asyncio.ensure_future(slot.begin())
        await asyncio.sleep(0)
        coming.cancel()
        with suppress(asyncio.CancelledError):
            await coming
    slot.leave()
    assert not seats.free, "the other one computes in it"
    begun[0].leave()
    assert seats.free

"""The pool's decisions: equality of action lists. Invariants under any order of events: test_pool_any_order.py."""

from __future__ import annotations

from poolboard.engine.pool import Pool
from poolboard.engine.pool_events import (
    AllParked,
    CancelWork,
    ChildrenHeld,
    Claim,
    Claimed,
    ConcurrencySet,
    ControlSet,
    Event,
    FailLost,
    GrantSlot,
    GroupGrew,
    HoldRun,
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
    TellSettled,
    WorkerJoined,
    WorkerLost,
    WorkerRetiring,
    WorkLoaded,
)
from poolboard.engine.pool_state import MAX_STARTS


def told(pool: Pool, *events: Event) -> list[object]:
    """Return the actions that the last event leads to."""
    actions: list[object] = []
    for event in events:
        actions = list(pool.handle(event, 0))
    return actions


def root_running(slots: int = 2) -> Pool:
    pool = Pool()
    told(pool, WorkerJoined("a", slots), WorkLoaded(0, None, "ready", 0, 0, None, 0), Claimed(0, 1, 1))
    return pool


def grew(*numbers: int, limit: int = 100, last: bool = True, group: int = 0) -> GroupGrew:
    return GroupGrew(0, 1, group, limit, tuple((n, "ready") for n in numbers), 0, last)


def test_the_root_goes_to_the_first_worker() -> None:
    pool = Pool()
    assert told(pool, WorkLoaded(0, None, "ready", 0, 0, None, 0)) == []
    assert told(pool, WorkerJoined("a", 1)) == [Claim(0, "a")]


def test_children_fill_free_slots_in_order_and_spread_over_workers() -> None:
    pool = root_running(slots=2)
    told(pool, WorkerJoined("b", 2))
    assert told(pool, grew(1, 2, 3, 4)) == [Claim(1, "b"), Claim(2, "a"), Claim(3, "b")]


def test_short_children_pass_a_long_one_and_none_is_kept_behind_it() -> None:
    """B13: work is claimed into free slots alone, so one that takes long keeps its own slot and nothing else."""
    pool = root_running(slots=2)
    told(pool, WorkerJoined("b", 2))
    told(pool, grew(*range(1, 42)), SlotGiven(0, 1))
    claims = {item.n: item.worker for item in pool.items.values() if item.state == "claiming"}
    assert sorted(claims) == [1, 2, 3, 4]
    for n in claims:
        told(pool, Claimed(n, 1, 1))
    running = [2, 3, 4]
    while running:
        n = running.pop(0)
        for action in [*told(pool, Returned(n, 1)), *told(pool, Settled(n))]:
            if isinstance(action, Claim):
                told(pool, Claimed(action.n, 1, 1))
                running.append(action.n)
    assert [(item.n, item.state) for item in pool.items.values() if item.n] == [(1, "active")]


def test_a_parent_that_waits_gives_its_slot_to_its_child_and_gets_it_back_first() -> None:
    pool = root_running(slots=1)
    assert told(pool, grew(1, 2)) == []
    assert told(pool, SlotGiven(0, 1)) == [Claim(1, "a")]
    told(pool, Claimed(1, 1, 1), SlotWanted(0, 1))
    assert told(pool, Returned(1, 1)) == [GrantSlot(0)]


def test_a_group_runs_no_more_than_its_limit_at_once() -> None:
    pool = root_running(slots=8)
    assert told(pool, grew(1, 2, 3, limit=2)) == [Claim(1, "a"), Claim(2, "a")]
    told(pool, Claimed(1, 1, 1), Returned(1, 1))
    assert told(pool, Settled(1)) == [Claim(3, "a")]


def test_the_parent_is_told_once_when_every_child_has_settled() -> None:
    pool = root_running(slots=4)
    told(pool, grew(1, last=False), Claimed(1, 1, 1), Returned(1, 1))
    assert told(pool, Settled(1)) == []
    assert TellSettled(0, 1, 0) not in told(pool, grew(2))
    told(pool, Claimed(2, 1, 1), Returned(2, 1))
    assert told(pool, Settled(2)) == [TellSettled(0, 1, 0)]


def test_children_that_had_settled_before_a_replay_settle_the_group_at_once() -> None:
    pool = root_running()
    assert told(pool, GroupGrew(0, 1, 0, 9, ((1, "completed"), (2, "failed")), 0, True)) == [TellSettled(0, 1, 0)]


def test_a_lost_worker_costs_running_children_a_start_and_waiting_parents_none() -> None:
    pool = root_running(slots=2)
    told(pool, grew(1), Claimed(1, 1, 1), SlotGiven(0, 1))
    assert told(pool, WorkerLost("a", "signal 9")) == [
        Requeue(0, give_start_back=True),
        Requeue(1, give_start_back=False),
    ]


def test_a_child_that_kills_its_worker_fails_after_three_starts_and_its_siblings_go_on() -> None:
    """Catalogue Q16."""
    pool = root_running(slots=1)
    told(pool, WorkerJoined("b", 1), grew(1), Claimed(1, MAX_STARTS, MAX_STARTS))
    assert told(pool, WorkerLost("b", "signal 9")) == [FailLost(1, "worker_lost (signal 9)")]
    assert told(pool, Settled(1)) == [TellSettled(0, 1, 0)]


def test_one_lost_worker_changes_nothing_for_those_that_it_had() -> None:
    pool = root_running(slots=3)
    told(pool, grew(1, 2), Claimed(1, 1, 1), Claimed(2, 1, 1), SlotGiven(0, 1))
    told(pool, WorkerLost("a", "signal 9"), Requeued(0), Requeued(1), Requeued(2))
    assert told(pool, WorkerJoined("b", 3)) == [Claim(0, "b"), Claim(1, "b"), Claim(2, "b")]


def test_suspects_of_one_group_keep_to_its_limit() -> None:
    pool = Pool()
    for n in range(4):
        told(pool, WorkLoaded(n, None if n == 0 else 0, "ready", 2, 2 if n else 0, None, 0))
    told(pool, WorkerJoined("a", 2), Claimed(0, 3, 1), *(WorkerJoined(name, 2) for name in "bcd"))
    asked = told(pool, GroupGrew(0, 3, 0, 1, ((1, "ready"), (2, "ready"), (3, "ready")), 0, True))
    assert [action for action in asked if isinstance(action, Claim)] == [Claim(1, "b")]


def test_what_lost_two_starts_with_its_worker_runs_alone_the_last_time() -> None:
    pool = root_running(slots=3)
    told(pool, grew(1, 2, 3, 4), Claimed(1, 1, 2), Claimed(2, 1, 2), SlotGiven(0, 1), Claimed(3, 1, 2))
    told(pool, WorkerLost("a", "signal 9"), Requeued(0), Requeued(1), Requeued(2), Requeued(3))
    assert told(pool, WorkerJoined("b", 3)) == [Claim(1, "b")], "one suspect and nobody else"
    told(pool, Claimed(1, 2, 3))
    assert told(pool, Returned(1, 2)) == [Claim(2, "b")]
    told(pool, Settled(1), Claimed(2, 2, 3), Returned(2, 2), Settled(2), Claimed(3, 2, 3))
    assert told(pool, Returned(3, 2)) == [Claim(0, "b"), Claim(4, "b")]


def test_a_claim_recorded_after_its_worker_died_costs_nothing() -> None:
    pool = root_running(slots=1)
    told(pool, WorkerJoined("b", 1), grew(1), WorkerLost("b", "signal 9"))
    assert told(pool, Claimed(1, 1, 1)) == [Requeue(1, give_start_back=True)]


def test_when_a_run_ends_its_unsettled_children_are_cancelled() -> None:
    pool = root_running(slots=2)
    told(pool, grew(1, 2, 3), Claimed(1, 1, 1), Returned(0, 1))
    assert told(pool, Settled(0)) == [CancelWork(1), CancelWork(2), CancelWork(3)]


def test_while_pausing_nothing_is_claimed_and_it_is_over_when_all_have_parked() -> None:
    pool = root_running(slots=3)
    told(pool, grew(1, 2, 3), Claimed(1, 1, 1), Claimed(2, 1, 1))
    assert told(pool, ControlSet("pausing")) == []
    assert told(pool, RunParked(0, 1, "a"), SlotGiven(0, 1), RunParked(1, 1, "b"), SlotGiven(1, 1)) == []
    assert [(item.n, stage) for item, stage in pool.parking.standing()] == [(0, "a"), (1, "b")]
    assert told(pool, Returned(2, 1)) == [AllParked()]
    assert told(pool, ControlSet("paused")) == []
    assert told(pool, ControlSet("running")) == [Claim(3, "a")]


def test_a_run_that_parks_with_another_call_in_a_stage_keeps_its_slot() -> None:
    pool = root_running(slots=1)
    assert told(pool, ControlSet("pausing"), RunParked(0, 1, "a")) == []
    assert list(pool.parking.standing()) == []


def test_a_parked_run_gives_its_slot_to_others_and_wants_it_back() -> None:
    pool = root_running(slots=1)
    told(pool, grew(1, 2))
    assert told(pool, RunParked(0, 1, "fetch"), SlotGiven(0, 1)) == [Claim(1, "a")]
    told(pool, Claimed(1, 1, 1))
    assert told(pool, SlotWanted(0, 1)) == []
    assert list(pool.parking.standing()) == []
    assert told(pool, Returned(1, 1)) == [GrantSlot(0)]


def test_a_held_child_is_not_taken_up_and_its_siblings_are() -> None:
    pool = root_running(slots=3)
    told(pool, ChildrenHeld((1,), held=True))
    assert told(pool, grew(1, 2)) == [Claim(2, "a")]
    assert told(pool, ChildrenHeld((1,), held=False)) == [Claim(1, "a")]


def test_holding_a_child_holds_what_is_below_it_too() -> None:
    pool = root_running(slots=5)
    told(pool, grew(1, 2), Claimed(1, 1, 1), Claimed(2, 1, 1))
    told(pool, GroupGrew(1, 1, 0, 1, ((3, "ready"), (4, "ready")), 0, True), Claimed(3, 1, 1))
    assert set(told(pool, ChildrenHeld((1,), held=True))) == {HoldRun(1, True), HoldRun(3, True)}
    assert told(pool, Returned(3, 1), Settled(3)) == []
    assert pool.items[4].state == "held"
    assert told(pool, ChildrenHeld((1,), held=False)) == [HoldRun(1, False), Claim(4, "a")]


def test_a_child_held_while_its_claim_is_written_is_told_as_soon_as_it_starts() -> None:
    pool = root_running(slots=2)
    assert told(pool, grew(1)) == [Claim(1, "a")]
    assert told(pool, ChildrenHeld((1,), held=True)) == []
    assert told(pool, Claimed(1, 1, 1)) == [HoldRun(1, True)]


def test_a_held_child_stays_held_over_a_lost_worker_and_a_new_coordinator() -> None:
    pool = root_running(slots=2)
    told(pool, grew(1), Claimed(1, 1, 1), ChildrenHeld((1,), held=True), WorkerJoined("b", 2), WorkerLost("a", "x"))
    assert told(pool, Requeued(1)) == []
    successor = Pool()
    told(successor, ChildrenHeld((1,), held=True), WorkLoaded(1, 0, "ready", 1, 0, None, 0))
    assert successor.items[1].state == "held"


def test_concurrency_bounds_runs_that_hold_a_slot_and_can_be_lifted() -> None:
    pool = root_running(slots=9)
    told(pool, ConcurrencySet(3))
    assert told(pool, grew(1, 2, 3, 4)) == [Claim(1, "a"), Claim(2, "a")]
    told(pool, Claimed(1, 1, 1), Claimed(2, 1, 1))
    assert told(pool, SlotGiven(0, 1)) == [Claim(3, "a")]
    assert told(pool, ConcurrencySet(None)) == [Claim(4, "a")]


def test_slots_can_grow_and_shrink_while_runs_hold_them() -> None:
    pool = root_running(slots=2)
    assert told(pool, grew(1, 2, 3)) == [Claim(1, "a")]
    told(pool, Claimed(1, 1, 1))
    assert told(pool, SlotsSet(3)) == [Claim(2, "a")]
    told(pool, Claimed(2, 1, 1), SlotsSet(1))
    assert told(pool, Returned(1, 1)) == []
    assert told(pool, Returned(2, 1), SlotGiven(0, 1)) == [Claim(3, "a")]


def test_a_failed_child_can_be_tried_again_while_its_parent_waits_for_others() -> None:
    pool = root_running(slots=3)
    told(pool, grew(1, 2), Claimed(1, 1, 1), Claimed(2, 1, 1), Returned(1, 1), Settled(1, failed=True))
    assert pool.can_retry(1, 0)
    told(pool, Reopening(1, 0), Returned(2, 1))
    assert told(pool, Settled(2)) == [], "the parent waits for the child that is tried again"
    assert told(pool, Requeued(1)) == [Claim(1, "a")]
    told(pool, Claimed(1, 2, 1), Returned(1, 2))
    assert told(pool, Settled(1)) == [TellSettled(0, 1, 0)]
    assert not pool.can_retry(1, 0), "the parent has seen the outcome"


def test_a_retry_that_the_journal_refuses_leaves_the_child_failed() -> None:
    pool = root_running(slots=3)
    told(pool, grew(1, 2), Claimed(1, 1, 1), Claimed(2, 1, 1), Returned(1, 1), Settled(1, failed=True))
    told(pool, Reopening(1, 0), Returned(2, 1), Settled(2))
    assert told(pool, Settled(1, failed=True)) == [TellSettled(0, 1, 0)]


def test_a_child_of_a_call_that_an_earlier_attempt_made_is_not_tried_again_in_it() -> None:
    pool = root_running(slots=2)
    told(pool, GroupGrew(0, 1, 0, 9, ((1, "failed"), (2, "ready")), 0, True), WorkerJoined("b", 2))
    told(pool, WorkerLost("a", "x"), Requeued(0), Claimed(0, 2, 2))
    assert not pool.can_retry(1, 0), "its parent has not asked for it again yet"
    told(pool, GroupGrew(0, 2, 0, 9, ((1, "failed"), (2, "ready")), 0, True))
    assert pool.can_retry(1, 0)


def test_a_retiring_worker_gets_nothing_new_and_goes_home_when_it_has_nothing_left() -> None:
    pool = root_running(slots=2)
    told(pool, WorkerJoined("b", 2), grew(1, 2, 3, 4, 5), Claimed(1, 1, 1), Claimed(2, 1, 1), Claimed(3, 1, 1))
    assert told(pool, WorkerRetiring("b")) == []
    busy = pool.places["b"].holding.copy()
    for n in sorted(busy):
        told(pool, Returned(n, 1))
        last = told(pool, Settled(n))
    assert last == [SendHome("b")]
    assert "b" not in pool.places


def test_a_run_that_reaches_a_stage_boundary_at_a_retiring_worker_moves_on_to_another() -> None:
    pool = root_running(slots=1)
    told(pool, WorkerJoined("b", 1), WorkerRetiring("a"))
    assert told(pool, RunParked(0, 1, "a")) == []
    assert told(pool, SlotGiven(0, 1)) == [Requeue(0, give_start_back=True)]
    assert told(pool, Requeued(0)) == [Claim(0, "b"), SendHome("a")]


def test_a_parent_that_waits_at_a_retiring_worker_is_taken_up_elsewhere_without_losing_a_start() -> None:
    pool = root_running(slots=1)
    told(pool, WorkerJoined("b", 1), grew(1), Claimed(1, 1, 1), SlotGiven(0, 1))
    assert told(pool, WorkerRetiring("a")) == [Requeue(0, give_start_back=True)]
    assert told(pool, Requeued(0)) == [SendHome("a")]


def test_orphans_of_a_restart_wait_until_their_parent_asks_for_them_with_its_limit() -> None:
    pool = Pool()
    for n, state in ((0, "ready"), (1, "ready"), (2, "ready"), (3, "ready")):
        told(pool, WorkLoaded(n, None if n == 0 else 0, state, 1, 0, None, 0))  # type: ignore[arg-type]
    assert told(pool, WorkerJoined("a", 4)) == [Claim(0, "a")]
    told(pool, Claimed(0, 2, 2))
    assert told(pool, GroupGrew(0, 2, 0, 1, ((1, "ready"), (2, "ready"), (3, "ready")), 0, True)) == [Claim(1, "a")]

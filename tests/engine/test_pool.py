"""The pool's decisions: equality of action lists, and invariants under any order of events."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from poolboard.engine.pool import Pool
from poolboard.engine.pool_ahead import DEEPEST
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
    Recall,
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
    Tick,
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


class AnyOrder(RuleBasedStateMachine):
    """Plays coordinator and workers against the pool, with every fault that one machine can have."""

    def __init__(self) -> None:
        super().__init__()
        self.pool = Pool(measured=1)
        self.now = 0
        self.next_n = 1
        self.next_worker = 0
        self.generation: dict[int, int] = {}
        self.starts: dict[int, int] = {}
        self.claims: list[tuple[int, str]] = []
        self.requeues: list[tuple[int, bool]] = []
        self.ends: list[int] = []
        self.running: dict[int, str] = {}
        self.waiting: dict[int, str] = {}
        self.returned: set[int] = set()
        self.settled: set[int] = set()
        self.group_settled = False
        self.recalled: set[str] = set()
        self.children: set[int] = set()

    def feed(self, event: Event) -> None:
        for action in self.pool.handle(event, self.now):
            match action:
                case Claim(n, worker):
                    assert n not in self.running and n not in self.settled, "claimed twice"
                    assert n not in {claimed for claimed, _ in self.claims}, "claimed twice"
                    assert worker in self.pool.places
                    assert not self.pool.holds.covers(self.pool.items[n]), "a held run was taken up"
                    self.claims.append((n, worker))
                case GrantSlot(n):
                    self.running[n] = self.waiting.pop(n)
                case Requeue(n, back):
                    self.requeues.append((n, back))
                    self.running.pop(n, None)
                    self.waiting.pop(n, None)
                case FailLost(n, _):
                    assert self.starts[n] >= MAX_STARTS, "given up too early"
                    self.running.pop(n, None)
                    self.ends.append(n)
                case CancelWork(n):
                    self.ends.append(n)
                case TellSettled():
                    assert self.children <= self.settled, "told before all had settled"
                    self.group_settled = True
                case AllParked():
                    assert self.pool.control in ("pausing", "stopping")
                case Recall(worker):
                    self.recalled.add(worker)

    @initialize(workers=st.integers(1, 3), slots=st.integers(1, 3))
    def start(self, workers: int, slots: int) -> None:
        self.slots = self.most_slots = slots
        self.feed(WorkLoaded(0, None, "ready", 0, 0, None, 0))
        for _ in range(workers):
            self.join()

    @rule()
    def join(self) -> None:
        if len(self.pool.places) < 3:
            self.next_worker += 1
            self.feed(WorkerJoined(f"w{self.next_worker}", self.slots))

    @rule(count=st.integers(1, 5), limit=st.integers(1, 4))
    def enqueue(self, count: int, limit: int) -> None:
        if 0 in self.running and not self.group_settled:
            numbers = range(self.next_n, self.next_n + count)
            self.next_n += count
            self.children |= set(numbers)
            self.feed(GroupGrew(0, self.generation[0], 0, limit, tuple((n, "ready") for n in numbers), 0, False))

    @rule()
    def claim_recorded(self) -> None:
        if self.claims:
            n, worker = self.claims.pop(0)
            if n in self.settled or n in self.ends:
                return
            self.generation[n] = self.generation.get(n, 0) + 1
            self.starts[n] = self.starts.get(n, 0) + 1
            if worker in self.pool.places:
                self.running[n] = worker
            self.feed(Claimed(n, self.generation[n], self.starts[n]))

    @rule()
    def requeue_recorded(self) -> None:
        if self.requeues:
            n, back = self.requeues.pop(0)
            self.starts[n] -= back
            self.feed(Requeued(n))

    def begun(self) -> list[int]:
        return sorted(n for n, worker in self.running.items() if n not in self.pool.places[worker].ahead)

    @rule(ms=st.integers(1, 200))
    def time_passes(self, ms: int) -> None:
        self.now += ms
        self.feed(Tick())

    @rule()
    def a_worker_hands_back_what_waits_there(self) -> None:
        """When it is called back, and while the run is paused."""
        for n, worker in list(self.running.items()):
            back = worker in self.recalled or self.pool.control != "running"
            if back and n in self.pool.places[worker].ahead:
                del self.running[n]
                self.feed(Returned(n, self.generation[n]))
                self.requeues.append((n, True))
        self.recalled.clear()

    @rule(which=st.integers(0, 8))
    def child_returns(self, which: int) -> None:
        done = [n for n in self.begun() if n]
        if done:
            n = done[which % len(done)]
            del self.running[n]
            self.ends.append(n)
            self.feed(Returned(n, self.generation[n]))

    @rule()
    def end_recorded(self) -> None:
        if self.ends:
            n = self.ends.pop(0)
            self.settled.add(n)
            self.feed(Settled(n, failed=n % 2 == 1))

    @rule(which=st.integers(0, 8), parked=st.booleans())
    def a_run_waits(self, which: int, parked: bool) -> None:
        if running := self.begun():
            n = running[which % len(running)]
            self.waiting[n] = self.running.pop(n)
            if parked:
                self.feed(RunParked(n, self.generation[n], "stage"))
            self.feed(SlotGiven(n, self.generation[n]))

    @rule(which=st.integers(0, 8))
    def a_run_wants_its_slot(self, which: int) -> None:
        if waiting := sorted(self.waiting):
            n = waiting[which % len(waiting)]
            self.feed(SlotWanted(n, self.generation[n]))

    @rule(which=st.integers(1, 12), held=st.booleans())
    def a_person_holds_or_lets_go(self, which: int, held: bool) -> None:
        self.feed(ChildrenHeld((which,), held))

    @rule(slots=st.integers(1, 4))
    def slots_change(self, slots: int) -> None:
        self.slots, self.most_slots = slots, max(self.most_slots, slots)
        self.feed(SlotsSet(slots))

    @rule(most=st.none() | st.integers(1, 4))
    def concurrency_changes(self, most: int | None) -> None:
        self.feed(ConcurrencySet(most))

    @rule(which=st.integers(0, 8))
    def a_failed_child_is_tried_again(self, which: int) -> None:
        able = sorted(n for n in self.settled & self.children if self.pool.can_retry(n, 0))
        if able and not self.group_settled:
            n = able[which % len(able)]
            self.settled.discard(n)
            self.starts[n] = 0
            self.feed(Reopening(n, 0))
            self.feed(Requeued(n))

    @rule()
    def worker_dies(self) -> None:
        if self.pool.places:
            worker = sorted(self.pool.places)[0]
            self.feed(WorkerLost(worker, "signal 9"))
            assert worker not in self.running.values()
            if 0 not in self.running and 0 not in self.waiting:
                self.children_keep_their_group()

    def children_keep_their_group(self) -> None:
        self.group_settled = self.group_settled and self.children <= self.settled

    @rule(state=st.sampled_from(["pausing", "running"]))
    def control(self, state: str) -> None:
        self.feed(ControlSet(state))  # type: ignore[arg-type]

    @invariant()
    def slots_add_up(self) -> None:
        for worker, place in self.pool.places.items():
            assert len(place.holding) <= self.most_slots, f"{worker} has more runs than it ever had slots"
            held = {n for n, at in self.running.items() if at == worker} | {n for n, at in self.claims if at == worker}
            assert place.holding | set(place.ahead) == held
            assert not place.ahead or len(place.holding) >= place.slots, "one waits beside a free slot"
            assert len(place.ahead) <= DEEPEST * self.most_slots, f"{worker} has too many waiting"

    @invariant()
    def nothing_is_ready_beside_an_idle_slot(self) -> None:
        full = self.pool.most is not None and self.pool.holding >= self.pool.most
        if self.pool.control != "running" or full or not any(p.free > 0 for p in self.pool.places.values()):
            return
        for item in self.pool.items.values():
            group = self.pool.groups[item.group]
            idle = item.state == "ready" and group.active < group.limit and not item.suspect
            assert not idle, f"#{item.n} is ready and nobody takes it"
        suspects = [item for item in self.pool.items.values() if item.suspect and item.state == "ready"]
        roomy = [item for item in suspects if self.pool.groups[item.group].active < self.pool.groups[item.group].limit]
        kept = [place for place in self.pool.places.values() if place.reserved_for is not None]
        assert not roomy or kept, "a suspect waits and no place is kept for it"

    @invariant()
    def suspects_run_alone(self) -> None:
        for place in self.pool.places.values():
            if any(self.pool.items[n].suspect for n in place.holding if n in self.pool.items):
                assert len(place.holding) + len(place.ahead) == 1 or place.reserved_for is None

    @invariant()
    def starts_are_bounded(self) -> None:
        assert all(count <= MAX_STARTS for count in self.starts.values())

    @invariant()
    def active_counts_are_true(self) -> None:
        active = ("claiming", "active", "waiting", "moving", "retained")
        for key, group in self.pool.groups.items():
            members = [item for item in self.pool.items.values() if item.group == key]
            assert group.members == {item.n for item in members}
            assert group.active == sum(item.state in active for item in members)


AnyOrder.TestCase.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
TestAnyOrder = AnyOrder.TestCase

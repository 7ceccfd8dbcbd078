"""The pool's invariants under any order of events, with every fault that one machine can have."""

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
    Recall,
    Reopening,
    Requeue,
    Requeued,
    Returned,
    RunParked,
    Settled,
    SlotGiven,
    SlotsSet,
    SlotWanted,
    TellSettled,
    Tick,
    WorkerJoined,
    WorkerLost,
    WorkLoaded,
)
from poolboard.engine.pool_state import MAX_STARTS


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

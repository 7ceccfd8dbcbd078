"""Any order of verbs leaves the queue as a plain dict would have it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from poolboard.journal import queue
from poolboard.journal.errors import Refused
from poolboard.journal.model import Checkpoint, NewRun, NewWork, Receipt, Token
from poolboard.journal.sqlite import SqliteJournal
from poolboard.journal.states import CONTROL_MOVES, WORK_STATES, ControlState, WorkState
from poolboard.journal.transaction import Transaction

LIVE = ("leased", "waiting")
#: Few of each, so that they meet often.
N = st.integers(1, 6)
KEYS = st.sampled_from("abcdef")
WORKERS = st.sampled_from(["w1", "w2"])
GENERATIONS = st.integers(1, 3)
VALUES = st.sampled_from(["1", "2"])
CONTROLS: st.SearchStrategy[ControlState] = st.sampled_from(["running", "pausing", "stopping", "stopped"])


@dataclass
class Item:
    """A work item as the dict has it."""

    state: WorkState = "ready"
    generation: int = 0
    starts: int = 0
    worker: str | None = None
    result: str | None = None
    stages: dict[str, str] = field(default_factory=dict)

    def is_of(self, worker: str, generation: int) -> bool:
        return (self.worker, self.generation) == (worker, generation)


class Queue(RuleBasedStateMachine):
    """Each rule does one verb to both and compares whether it was let through."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = TemporaryDirectory()
        self.items: dict[int, Item] = {}
        self.by_key: dict[str, tuple[int, str]] = {}
        self.control: ControlState = "running"

    def run(self, verb: Callable[..., object], *values: object, **named: object) -> object:
        """Return what the verb gives, or the refusal itself."""

        def member(tx: Transaction) -> object:
            return verb(tx, self.lease, *values, **named)

        async def settle() -> object:
            # With a neighbour on each side, so that the refused member shares its commit.
            noop = partial(queue.renew, lease=self.lease, worker="nobody", ttl_ms=1)
            return (await self.journal.submit([noop, member, noop]))[1]

        return self.loop.run_until_complete(settle())

    @initialize()
    def start(self) -> None:
        async def opened() -> None:
            self.journal = await SqliteJournal.open(Path(self.folder.name) / "journal.sqlite", synchronous="NORMAL")
            await self.journal.create_run(NewRun("run-1", "n", "/", "{}"))
            self.lease = await self.journal.acquire_lease("run-1", "me")

        self.loop.run_until_complete(opened())
        self.run(queue.enqueue, None, [NewWork("root", "w", "root", "{}")])
        self.run(queue.claim, 0, "w0", 3_600_000)
        self.root = Token(0, 1, "w0", 1)

    def teardown(self) -> None:
        self.loop.run_until_complete(self.journal.close())
        self.loop.close()
        self.folder.cleanup()

    def admits(self) -> bool:
        return self.control != "stopped"

    def check(self, outcome: object, allowed: bool) -> bool:
        assert isinstance(outcome, Refused) is not allowed, (outcome, allowed)
        assert allowed or isinstance(outcome, Refused)
        return allowed

    @rule(key=KEYS, value=VALUES)
    def enqueue(self, key: str, value: str) -> None:
        known = self.by_key.get(key)
        outcome = self.run(queue.enqueue, self.root, [NewWork(key, "w", key, f'{{"input": {value}}}')])
        if self.check(outcome, self.admits() and (known is None or known[1] == value)) and known is None:
            self.by_key[key] = (len(self.items) + 1, value)
            self.items[len(self.items) + 1] = Item()

    @rule(n=N, worker=WORKERS)
    def claim(self, n: int, worker: str) -> None:
        outcome = self.run(queue.claim, n, worker, 3_600_000)
        item = self.items.get(n)
        if self.control != "running":
            assert outcome is None
        elif not self.check(outcome, item is not None) or item is None:
            return
        elif item.state != "ready":
            assert outcome is None
        else:
            item.state, item.worker = "leased", worker
            item.generation, item.starts = item.generation + 1, item.starts + 1

    @rule(n=N, worker=WORKERS, generation=GENERATIONS, key=KEYS, value=VALUES)
    def commit(self, n: int, worker: str, generation: int, key: str, value: str) -> None:
        one = Checkpoint(key, "stage", f'{{"value": {value}}}', 1, 1, 1.0)
        outcome = self.run(queue.commit, Token(n, generation, worker, 1), one)
        item = self.items.get(n)
        mine = item is not None and item.is_of(worker, generation)
        recorded = item.stages.get(key) if item is not None else None
        by_me = recorded is not None and recorded.startswith(f"{generation}:")
        alive = item is not None and item.state in LIVE
        fresh = recorded is None and alive and self.admits()
        same = recorded is not None and recorded.endswith(f":{value}") and (by_me or alive)
        if self.check(outcome, mine and (fresh or same)) and item is not None:
            item.stages.setdefault(key, f"{generation}:{value}")

    @rule(n=N, worker=WORKERS, generation=GENERATIONS, value=VALUES)
    def complete(self, n: int, worker: str, generation: int, value: str) -> None:
        outcome = self.run(queue.complete, Token(n, generation, worker, 1), value)
        item = self.items.get(n)
        mine = item is not None and item.is_of(worker, generation)
        fresh = item is not None and item.state == "leased" and self.admits()
        again = item is not None and item.state == "completed" and item.result == value
        if self.check(outcome, mine and (fresh or again)) and item is not None:
            assert isinstance(outcome, Receipt)
            item.state, item.result = "completed", value

    @rule(n=N, worker=WORKERS, generation=GENERATIONS)
    def fail(self, n: int, worker: str, generation: int) -> None:
        outcome = self.run(queue.fail, Token(n, generation, worker, 1), "line", "{}")
        item = self.items.get(n)
        mine = item is not None and item.is_of(worker, generation)
        fresh = item is not None and item.state in LIVE and self.admits()
        if self.check(outcome, mine and (fresh or (item is not None and item.state == "failed"))) and item is not None:
            item.state = "failed"

    @rule(n=N, worker=WORKERS, generation=GENERATIONS, verb=st.sampled_from(["wait", "wake", "release", "adopt"]))
    def shift(self, n: int, worker: str, generation: int, verb: str) -> None:
        named = {"give_start_back": True} if verb == "release" else {}
        outcome = self.run(getattr(queue, verb), Token(n, generation, worker, 1), **named)
        item = self.items.get(n)
        needed = {"wait": ("leased",), "wake": ("waiting",)}.get(verb, LIVE)
        allowed = item is not None and item.is_of(worker, generation) and item.state in needed
        if not self.check(outcome, allowed) or item is None or verb == "adopt":
            return
        item.state = {"wait": "waiting", "wake": "leased"}.get(verb, "ready")  # type: ignore[assignment]
        if verb == "release":
            item.worker, item.starts = None, item.starts - 1

    @rule(n=N)
    def cancel(self, n: int) -> None:
        item = self.items.get(n)
        if (
            self.check(self.run(queue.cancel, n), item is not None and item.state in ("ready", *LIVE))
            and item is not None
        ):
            item.state = "cancelled"

    @rule()
    def retry(self) -> None:
        outcome = self.run(queue.retry_failed)
        if not self.check(outcome, self.admits()):
            return
        failed = [n for n, item in self.items.items() if item.state == "failed"]
        assert outcome == failed
        for n in failed:
            self.items[n].state, self.items[n].worker, self.items[n].starts = "ready", None, 0

    @rule(state=CONTROLS)
    def steer(self, state: ControlState) -> None:
        allowed = state == self.control or state in CONTROL_MOVES[self.control]
        if self.check(self.run(queue.set_control, state, "me", None), allowed):
            self.control = state

    @invariant()
    def the_journal_says_the_same(self) -> None:
        self.loop.run_until_complete(self.compare())

    async def compare(self) -> None:
        reader = self.journal.reader
        row = await reader.run("run-1")
        counts = Counter(item.state for item in self.items.values())
        assert {state: getattr(row, state) for state in WORK_STATES} == {state: counts[state] for state in WORK_STATES}
        assert row.control == self.control
        rows = await reader.work_page(1, 0, 100)
        assert {r.n: (r.state, r.generation, r.starts, r.worker, r.stages_done) for r in rows} == {
            n: (item.state, item.generation, item.starts, item.worker, len(item.stages))
            for n, item in self.items.items()
        }
        assert sum(stage.done for stage in await reader.stages(1)) == sum(
            len(item.stages) for item in self.items.values()
        )
        assert [entry.seq for entry in await reader.events(1, 0, 10_000)] == list(range(1, row.last_seq + 1))
        assert row.changed <= await reader.stamp()


TestQueue = Queue.TestCase
TestQueue.settings = settings(
    database=None, max_examples=25, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)

"""Any verbs through any connection, with writers killed anywhere: the journal stays what a plain dict says it is.

A batch whose writer was killed was done up to some point and no further: every other state is a lost or doubled write.
"""

from __future__ import annotations

import asyncio
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    MultipleResults,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from poolboard.journal.check import check
from poolboard.journal.file import open_writer
from poolboard.journal.model import Lease
from poolboard.journal.reader import Reader
from tests.journal.clerk import Acquire, Append, AppendMany, Clerk, Create, Killed, Op, Release, Renew

RUNS = st.sampled_from(["red", "blue"])
KEYS = st.one_of(st.none(), st.sampled_from("abc"))
VALUES = st.sampled_from(['{"v": 1}', '{"v": 2}', "[]"])
#: Where the writer dies, at which passing; "" is not at all, "outside" is a kill at any moment.
DEATHS = st.sampled_from([""] * 6 + ["journal.begun", "journal.written", "journal.committed", "outside"])
CONNECTIONS = st.integers(0, 1)
APPENDS = st.lists(st.tuples(VALUES, KEYS), min_size=1, max_size=5)


@dataclass
class Run:
    """A run as the dict has it."""

    number: int
    holder: str | None = None
    epoch: int = 0
    values: list[str] = field(default_factory=list)
    keys: dict[str, int] = field(default_factory=dict)

    def append(self, value: str, key: str | None) -> object:
        if value == "[]":
            return "BadPayload"
        if key is not None and key in self.keys:
            return "exists", self.keys[key], self.values[self.keys[key] - 1]
        self.values.append(value)
        if key is not None:
            self.keys[key] = len(self.values)
        return "appended", len(self.values), value


class Model:
    """What every verb should do and say."""

    def __init__(self) -> None:
        self.runs: dict[str, Run] = {}

    def do(self, op: Op) -> object:
        match op:
            case Create(run_id):
                if run_id in self.runs:
                    return "IdentityConflict"
                self.runs[run_id] = Run(len(self.runs) + 1)
                return self.runs[run_id].number
            case Acquire(run_id, holder, if_epoch):
                return self.acquire(run_id, holder, if_epoch)
            case Renew(lease) | Release(lease) | Append(lease) | AppendMany(lease):
                run = self.runs[lease.run_id]
                if (run.holder, run.epoch) != (lease.holder, lease.epoch):
                    return "StaleLease"
                return self.under_lease(run, op)

    def acquire(self, run_id: str, holder: str, if_epoch: int | None) -> object:
        if (run := self.runs.get(run_id)) is None:
            return "RunNotFound"
        if (run.holder is not None) if if_epoch is None else (if_epoch != run.epoch):
            return "LeaseHeld"
        run.holder, run.epoch = holder, run.epoch + 1
        return Lease(run_id, run.number, holder, run.epoch)

    @staticmethod
    def under_lease(run: Run, op: Op) -> object:
        match op:
            case Release():
                run.holder = None
            case Append(_, value, key):
                return run.append(value, key)
            case AppendMany(_, appends):
                return [run.append(value, key) for value, key in appends]
        return None


class Journal(RuleBasedStateMachine):
    """Two writing processes, a reader that stays open, and the dict."""

    leases: Bundle[Lease] = Bundle("leases")

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.path = Path(self.folder.name) / "journal.sqlite"
        open_writer(self.path, create=True, synchronous="FULL").close()
        self.clerks = [Clerk(self.path), Clerk(self.path)]
        self.model = Model()
        self.highest: dict[str, int] = {}
        self.loop = asyncio.new_event_loop()
        self.reader = self.loop.run_until_complete(Reader.open(self.path))

    def teardown(self) -> None:
        self.loop.run_until_complete(self.reader.close())
        self.loop.close()
        for clerk in self.clerks:
            clerk.end()
        report = check(self.path)
        assert (report.findings, report.notes) == ((), ())
        self.folder.cleanup()

    def do(self, clerk: int, ops: list[Op], death: str = "", passings: int = 1) -> list[object]:
        """Do a batch in the journal and in the dict; what nobody acknowledged counts as it is found to be."""
        outside = death == "outside"
        try:
            found = self.clerks[clerk].do(ops, "" if outside else death, passings, outside)
        except Killed:
            self.clerks[clerk].end()
            self.clerks[clerk] = Clerk(self.path)
            self.find_how_far(ops)
            return []
        assert found == [self.model.do(op) for op in ops]
        return found

    def find_how_far(self, ops: list[Op]) -> None:
        actual = self.loop.run_until_complete(self.look())
        model = deepcopy(self.model)
        for op in [None, *ops]:
            if op is not None:
                model.do(op)
            if state(model) == actual:
                self.model = model
                return
        raise AssertionError(f"{actual} is no state between {state(self.model)} and {state(model)}")

    async def look(self) -> dict[str, object]:
        found: dict[str, object] = {}
        for row in await self.reader.runs():
            entries = await self.reader.events(row.number, 0, 1_000)
            assert [entry.seq for entry in entries] == list(range(1, row.last_seq + 1))
            keys = {}
            for key in "abc":
                if (entry := await self.reader.entry_of_key(row.number, key)) is not None:
                    keys[key] = entry.seq
            values = [entry.event.payload for entry in entries]
            found[row.run_id] = (row.number, row.lease_holder, row.lease_epoch, values, keys)
        return found

    @initialize(target=leases)
    def begin(self) -> MultipleResults[Lease]:
        found = self.do(0, [Create("red"), Acquire("red", "x", None)])
        return multiple(*(one for one in found if isinstance(one, Lease)))

    @rule(run_id=RUNS, clerk=CONNECTIONS, death=DEATHS)
    def create(self, run_id: str, clerk: int, death: str) -> None:
        self.do(clerk, [Create(run_id)], death)

    @rule(target=leases, run_id=RUNS, clerk=CONNECTIONS, death=DEATHS, holder=st.sampled_from("xy"))
    def acquire(self, run_id: str, clerk: int, death: str, holder: str) -> MultipleResults[Lease]:
        found = self.do(clerk, [Acquire(run_id, holder, None)], death)
        return multiple(*(one for one in found if isinstance(one, Lease)))

    @rule(target=leases, run_id=RUNS, clerk=CONNECTIONS, death=DEATHS, behind=st.integers(0, 1))
    def take_over(self, run_id: str, clerk: int, death: str, behind: int) -> MultipleResults[Lease]:
        epoch = self.model.runs[run_id].epoch if run_id in self.model.runs else 0
        rivals: list[Op] = [Acquire(run_id, holder, epoch - behind) for holder in "xyz"]
        found = self.do(clerk, rivals, death)
        return multiple(*(one for one in found if isinstance(one, Lease)))

    @rule(lease=leases, clerk=CONNECTIONS, death=DEATHS, verb=st.sampled_from([Renew, Release]))
    def keep_or_give_back(self, lease: Lease, clerk: int, death: str, verb: type[Renew] | type[Release]) -> None:
        self.do(clerk, [verb(lease)], death)

    @rule(lease=leases, clerk=CONNECTIONS, death=DEATHS, appends=APPENDS, passings=st.integers(1, 2))
    def append(
        self, lease: Lease, clerk: int, death: str, appends: list[tuple[str, str | None]], passings: int
    ) -> None:
        self.do(clerk, [Append(lease, value, key) for value, key in appends], death, passings)

    @rule(lease=leases, other=leases, clerk=CONNECTIONS, death=DEATHS, appends=APPENDS)
    def append_many(
        self, lease: Lease, other: Lease, clerk: int, death: str, appends: list[tuple[str, str | None]]
    ) -> None:
        self.do(clerk, [AppendMany(lease, tuple(appends)), AppendMany(other, tuple(appends))], death)

    @rule(clerk=CONNECTIONS)
    def reopen(self, clerk: int) -> None:
        self.clerks[clerk].end()
        self.clerks[clerk] = Clerk(self.path)

    @invariant()
    def the_journal_says_the_same(self) -> None:
        actual = self.loop.run_until_complete(self.look())
        assert actual == state(self.model)
        for run_id, run in self.model.runs.items():
            assert run.epoch >= self.highest.get(run_id, 0)
            self.highest[run_id] = run.epoch


def state(model: Model) -> dict[str, object]:
    return {
        run_id: (run.number, run.holder, run.epoch, run.values, run.keys)
        for run_id, run in reversed(model.runs.items())
    }


def explore(examples: int, steps: int) -> None:
    run_state_machine_as_test(
        Journal,
        settings=settings(
            database=None,
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_whatever_is_done_and_whoever_is_killed_the_journal_is_what_was_acknowledged() -> None:
    explore(examples=8, steps=25)


@pytest.mark.torture
@pytest.mark.timeout(1800)
def test_whatever_is_done_and_whoever_is_killed_for_long() -> None:
    explore(examples=300, steps=60)

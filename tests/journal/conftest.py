"""A journal of its own for every test, and a run in it that has started."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest

from poolboard.journal import queue
from poolboard.journal.model import Checkpoint, Claimed, Enqueued, Lease, NewRun, NewWork, RunRow, Token
from poolboard.journal.sqlite import SqliteJournal

T = TypeVar("T")
TTL_MS = 30_000


@dataclass
class StartedRun:
    """A run whose root is claimed by worker w0: what a coordinator has in its hands."""

    journal: SqliteJournal
    lease: Lease
    root: Token

    @staticmethod
    def child(key: str, payload: str = '{"input": {}}', workflow: str = "one_file") -> NewWork:
        """Return a child to enqueue."""
        return NewWork(key, workflow, f"label of {key}", payload)

    @staticmethod
    def checkpoint(key: str = "measure", payload: str | None = None, **changed: object) -> Checkpoint:
        """Return a checkpoint, recorded some time in 2023."""
        text = payload or '{"value": 1, "started_at": 1700000000000, "completed_at": 1700000000010}'
        values: dict[str, object] = {
            "key": key,
            "stage": "measure",
            "payload": text,
            "started_at": 1_700_000_000_000,
            "completed_at": 1_700_000_000_010,
            "duration_ms": 10.0,
        }
        return Checkpoint(**{**values, **changed})  # type: ignore[arg-type]

    async def do(self, verb: Callable[..., T], *values: object, **named: object) -> T:
        """Run one queue verb in a transaction, under this run's lease."""
        return await self.journal.transact(partial(_in_order, verb, self.lease, values, named))

    async def enqueue(self, *items: NewWork) -> list[Enqueued]:
        """Enqueue children of the root."""
        return await self.do(queue.enqueue, self.root, items)

    async def claim(self, n: int, worker: str = "w1") -> Token:
        """Claim a work item that is ready."""
        claimed = await self.do(queue.claim, n, worker, TTL_MS)
        assert isinstance(claimed, Claimed)
        return claimed.token

    async def claimed_child(self, key: str = "a", worker: str = "w1") -> Token:
        """Enqueue a child and claim it."""
        [made] = await self.enqueue(self.child(key))
        return await self.claim(made.n, worker)

    async def row(self) -> RunRow:
        """Return the run's row."""
        return await self.journal.get_run(self.lease.run_id)

    async def sql(self, statement: str, *values: object) -> None:
        """Change the file behind everybody's back, to stand in for time that has passed."""
        await self.journal.transact(lambda tx: tx.execute(statement, values))


def _in_order(
    verb: Callable[..., T], lease: Lease, values: tuple[object, ...], named: dict[str, object], tx: object
) -> T:
    return verb(tx, lease, *values, **named)


Starter = Callable[..., Awaitable[StartedRun]]


async def _start(journal: SqliteJournal, run_id: str = "run-1") -> StartedRun:
    """Record a run, take it and claim its root."""
    await journal.create_run(NewRun(run_id, "survey", "/somewhere", "{}"))
    lease = await journal.acquire_lease(run_id, "coordinator 1")
    await journal.transact(lambda tx: queue.enqueue(tx, lease, None, [StartedRun.child("root", workflow="survey")]))
    claimed = await journal.transact(lambda tx: queue.claim(tx, lease, 0, "w0", TTL_MS))
    assert claimed is not None
    return StartedRun(journal, lease, claimed.token)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the test's journal lies."""
    return tmp_path / "journal.sqlite"


@pytest.fixture
async def journal(path: Path) -> AsyncIterator[SqliteJournal]:
    """An empty journal."""
    opened = await SqliteJournal.open(path)
    yield opened
    await opened.close()


@pytest.fixture(scope="session")
def start() -> Starter:
    """Return ``start(journal, run_id)``, for tests with a run more."""
    return _start


@pytest.fixture
async def run(journal: SqliteJournal) -> StartedRun:
    """A run that has started."""
    return await _start(journal)

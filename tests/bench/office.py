"""A coordinator's post office over a real journal, without processes: what messages cost where they are decided."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from poolboard.engine import wire_messages
from poolboard.engine.dispatch import Dispatcher
from poolboard.engine.peers import Peer
from poolboard.engine.pool import Pool
from poolboard.engine.post_office import PostOffice
from poolboard.engine.recorder import Recorder
from poolboard.journal import queue
from poolboard.journal.model import Lease, NewRun, NewWork, Token
from poolboard.journal.sqlite import SqliteJournal

from .figure import Unmeasured


@dataclass
class Office:
    """The office, its journal, and how many commits that has made."""

    journal: SqliteJournal
    lease: Lease
    dispatcher: Dispatcher
    post: PostOffice
    counted: Counted
    failures: list[Exception] = field(default_factory=list)

    async def say(self, address: str, key: str, size: int = 20) -> None:
        """Send a message and return once it is acknowledged."""
        value = '"' + "x" * size + '"'
        await self.post.post(
            wire_messages.PostMessage(
                req=1, key=f'["Message","{key}"]', address=address, mode="steer", value=value, by="bench"
            )
        )

    def got(self, n: int, numbers: list[int]) -> None:
        """Have child n say that it has these messages."""
        peer = Peer(lambda peer, message: None, lambda peer: None)
        self.post.got("w", peer, wire_messages.GotMessages(n=n, generation=1, numbers=numbers))

    async def settled(self) -> None:
        """Return when nothing is under way to the journal; raises Unmeasured for what failed."""
        await self.dispatcher.recorder.drain()
        if self.failures:
            raise Unmeasured(f"the journal refused: {self.failures[0]}")


@dataclass
class Counted:
    """Called by the journal's writer: counts commits, and makes each as slow as is asked."""

    commits: int = 0
    slow_s: float = 0.0

    def at(self, point: str) -> None:
        """Be at a point of a commit."""
        if point == "journal.begun" and self.slow_s:
            time.sleep(self.slow_s)
        self.commits += point == "journal.committed"


@asynccontextmanager
async def office(path: Path, children: int) -> AsyncIterator[Office]:
    """Make a run with so many children, all of which have started."""
    counted = Counted()
    journal = await SqliteJournal.open(path, fault=counted.at)
    try:
        await journal.create_run(NewRun("bench", "bench", "/", "{}"))
        lease = await journal.acquire_lease("bench", "bench")
        await journal.transact(lambda tx: queue.enqueue(tx, lease, None, [NewWork("root", "bench", "root", "{}")]))
        root = await journal.transact(lambda tx: queue.claim(tx, lease, 0, "w"))
        assert root is not None
        items = [NewWork(f"child {i}", "bench", f"child {i}", "{}") for i in range(children)]
        await journal.transact(lambda tx: queue.enqueue(tx, lease, root.token, items))
        failures: list[Exception] = []
        recorder = Recorder(journal, failures.append)
        dispatcher = Dispatcher(lease, recorder, Pool(), 30_000, lambda: None, lambda: None)
        for n in range(1, children + 1):
            dispatcher.tokens[n] = Token(n, 1, "w", lease.epoch)
        yield Office(journal, lease, dispatcher, PostOffice(journal, dispatcher), counted, failures)
        await recorder.drain()
    finally:
        await journal.close()


@asynccontextmanager
async def reopened(path: Path, lease: Lease) -> AsyncIterator[PostOffice]:
    """Open the journal as the next coordinator does, and give it an office that has read nothing yet."""
    journal = await SqliteJournal.open(path, create=False)
    try:
        recorder = Recorder(journal, lambda problem: None)
        yield PostOffice(journal, Dispatcher(lease, recorder, Pool(), 30_000, lambda: None, lambda: None))
    finally:
        await journal.close()

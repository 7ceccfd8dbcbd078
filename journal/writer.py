"""Group commit: one thread, one connection; what queued while the last commit ran shares the next one.

The members of a commit run in request order. A failing member loses only its own writes; everybody is settled only
after the COMMIT; a COMMIT that fails, fails everybody (SPEC 1.3). The thread runs whole functions on the connection: a
hop per statement would cost 25 times as much. A member may be run twice, the first time with all its writes undone.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from random import uniform
from typing import Any, Final

from .batch import BatchRunner, Member, MustRunApart, Request
from .checkpointer import Checkpointer
from .driver import ADAPTER, BUSY, Connection, primary_code, sqlite
from .errors import JournalError, StorageUnavailable
from .together import Together
from .transaction import Transaction

Fault = Callable[[str], None]

#: A batch takes no further request once it has this many members, and no request may have more.
MAX_MEMBERS: Final = 2_000
#: Members that wait for a commit; a caller that goes on past this is told so, not queued.
MAX_QUEUED: Final = 100_000
BUSY_LIMIT_S: Final = 30.0
#: Waits for a busy lock, jittered, so that two writers do not meet again and again. SQLite's own busy handler sleeps up
#: to 100 ms: it starves beside one that writes flat out, who lets go for some 30 us between commits. Measured beside
#: such a one, p99 of a commit: 50 to 100 ms with waits of 0.2 to 1 ms that grow at once, 3 to 20 ms with these.
SHORT_WAIT_S: Final = (0.0001, 0.0004)
#: Somebody who lets go at all did so many times by then: it is one long hold, which must not cost a core.
LONG_HOLD_S: Final = 0.25
LONGEST_WAIT_S: Final = 0.005
#: Commits without waiting for company after one whose waiting brought none.
COMMITS_ALONE: Final = 32
#: After this long without a request, what is in the WAL goes to the main file.
IDLE_S: Final = 1.0


def no_fault(point: str) -> None:
    """Do nothing: the fault points' default."""


def longest_wait_s(busy_s: float) -> float:
    """Return how long a lock that has been busy for so long may be left alone until it is asked for again."""
    return min(SHORT_WAIT_S[1] * max(busy_s / LONG_HOLD_S, 1), LONGEST_WAIT_S)


class Writer:
    """Runs members in shared transactions. All methods belong to the loop's thread that made it."""

    def __init__(
        self,
        connection: Connection,
        where: str,
        *,
        fault: Fault = no_fault,
        busy_limit_s: float = BUSY_LIMIT_S,
        together: Mapping[Callable[..., object], Together] | None = None,
    ) -> None:
        self._connection, self._where, self._fault, self._busy_limit_s = connection, where, fault, busy_limit_s
        self._execute = connection.cursor().execute
        # With a log only BEGIN meets others' locks, and _begin waits better. Without one, COMMIT waits for readers.
        logged = self._execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        self._execute(f"PRAGMA busy_timeout = {0 if logged else int(busy_limit_s * 1000)}")
        self._runner = BatchRunner(connection, where, together)
        self._checkpointer = Checkpointer(connection, Path(where))
        self._loop = asyncio.get_running_loop()
        self._requests: SimpleQueue[Request | None] = SimpleQueue()
        self._queued = 0
        self._alone_for = 0
        self._closed: asyncio.Future[None] | None = None
        self._busy_since: float | None = None
        # A daemon: an interpreter that ends without close() must not hang; what was acknowledged is committed.
        self._thread = threading.Thread(target=self._run, name="journal writer", daemon=True)
        self._thread.start()

    @property
    def busy_s(self) -> float:
        """How long the writer has been waiting for another process's lock; 0 while it is not."""
        since = self._busy_since
        return 0.0 if since is None else time.monotonic() - since

    @property
    def held_bytes(self) -> int:
        """How large the log is while a reader's old state keeps it from being reused; 0 normally."""
        return self._checkpointer.held_bytes

    def put(self, members: Sequence[Member], alone: bool) -> asyncio.Future[Any]:
        """Queue members for one commit. With ``alone`` the future gets the one outcome itself, not a list."""
        if self._closed is not None:
            raise StorageUnavailable(ADAPTER, self._where, "the journal is closed")
        if len(members) > MAX_MEMBERS:
            raise ValueError(f"{len(members):,} members in one request; at most {MAX_MEMBERS:,}: send them in parts")
        if self._queued + len(members) > MAX_QUEUED:
            raise StorageUnavailable(ADAPTER, self._where, f"{self._queued:,} writes wait already; try again later")
        self._queued += len(members)
        future: asyncio.Future[Any] = self._loop.create_future()
        self._requests.put(Request(future, members, alone))
        return future

    async def close(self) -> None:
        """Finish what is queued, truncate the WAL, close the connection and end the thread."""
        if self._closed is None:
            self._closed = self._loop.create_future()
            self._requests.put(None)
        await asyncio.shield(self._closed)

    def _run(self) -> None:
        held: Request | None = None
        open_ = True
        while open_ or held is not None:
            batch, held, open_ = self._next_batch(held, open_)
            if not batch:
                continue
            try:
                self._commit(batch)
            except BaseException as error:  # nobody may wait for ever, whatever a member did to this thread
                self._fail(batch, error)
            self._settle(batch)
            self._checkpointer.after_commit()
        self._checkpointer.truncate()
        self._connection.close()
        self._hop(self._end)

    def _next_batch(self, held: Request | None, open_: bool) -> tuple[list[Request], Request | None, bool]:
        """Return what is queued up to MAX_MEMBERS, the request that did not fit, and whether more may come."""
        first = held if held is not None else self._wait()
        if first is None:
            return [], None, False
        self._await_company(open_)
        batch = [first]
        total = len(first.members)
        while open_:
            try:
                request = self._requests.get_nowait()
            except Empty:
                break
            if request is None:
                return batch, None, False
            total += len(request.members)
            if total > MAX_MEMBERS:
                return batch, request, True
            batch.append(request)
        return batch, None, open_

    def _wait(self) -> Request | None:
        if self._checkpointer.pending:
            try:
                return self._requests.get(timeout=IDLE_S)
            except Empty:
                self._checkpointer.passive()
        return self._requests.get()

    def _await_company(self, open_: bool) -> None:
        """Wait a little before a commit while the log cannot be reused; see Checkpointer.linger_s."""
        linger_s = self._checkpointer.linger_s if open_ else 0.0
        if not linger_s:
            return
        if self._alone_for:
            self._alone_for -= 1
            return
        time.sleep(linger_s)
        if self._requests.empty():  # a lone caller, who waits for this very commit: not again for a while
            self._alone_for = COMMITS_ALONE

    def _commit(self, batch: list[Request]) -> None:
        self._begin()
        self._fault("journal.begun")
        transaction = Transaction(self._connection)
        try:
            kept = self._runner.run(transaction, batch)
        except MustRunApart:
            self._execute("ROLLBACK")
            self._begin()
            transaction = Transaction(self._connection)
            kept = self._runner.run_apart(transaction, batch)
        if not kept:
            if self._connection.in_transaction:
                self._execute("ROLLBACK")
            return
        transaction.flush()
        self._fault("journal.written")
        self._execute("COMMIT")
        self._fault("journal.committed")

    def _begin(self) -> None:
        """Begin, waiting for another process's lock up to the limit; any other error fails at once."""
        deadline = time.monotonic() + self._busy_limit_s
        try:
            while True:
                try:
                    self._execute("BEGIN IMMEDIATE")
                    return
                except sqlite.Error as error:
                    if primary_code(error) != BUSY or time.monotonic() > deadline:
                        raise
                if self._busy_since is None:
                    self._busy_since = time.monotonic()
                time.sleep(uniform(SHORT_WAIT_S[0], longest_wait_s(self.busy_s)))
        finally:
            self._busy_since = None

    def _fail(self, batch: list[Request], error: BaseException) -> None:
        """Give everybody in the batch the error, and leave no transaction open."""
        outcome = self._failure(error)
        for request in batch:
            request.outcomes = [outcome] * len(request.members)
        with suppress(sqlite.Error):  # the next BEGIN says what is wrong
            if self._connection.in_transaction:
                self._execute("ROLLBACK")

    def _failure(self, error: BaseException) -> Exception:
        if isinstance(error, (JournalError, sqlite.Error)):
            return self._runner.outcome(error)
        return StorageUnavailable(ADAPTER, self._where, f"{type(error).__name__}: {error}")

    def _settle(self, batch: list[Request]) -> None:
        # One hop to the loop for the whole batch: call_soon_threadsafe writes to a pipe each time.
        self._hop(lambda: self._deliver(batch))

    def _deliver(self, batch: list[Request]) -> None:
        for request in batch:
            self._queued -= len(request.members)
            future = request.future
            if future.done():  # its caller was cancelled
                continue
            if not request.alone:
                future.set_result(request.outcomes)
                continue
            outcome = request.outcomes[0]
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)

    def _end(self) -> None:
        if self._closed is not None and not self._closed.done():
            self._closed.set_result(None)

    def _hop(self, callback: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(callback)

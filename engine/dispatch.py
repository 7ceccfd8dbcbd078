"""Turns the pool's decisions into journal writes and messages, and what came of them back into events."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from poolboard.journal import queue
from poolboard.journal.errors import Refused
from poolboard.journal.model import Checkpoint, Claimed, Lease, Token
from poolboard.journal.states import IllegalMove

from . import faults, wire
from .failure import as_payload
from .peers import Peer
from .pool import Pool
from .pool_ahead import RECALL_MS
from .pool_events import (
    Action,
    AllParked,
    CancelWork,
    Claim,
    ClaimMissed,
    Event,
    FailLost,
    GrantSlot,
    HoldRun,
    Recall,
    Requeue,
    Requeued,
    SendHome,
    Settled,
    TellSettled,
    Tick,
)
from .pool_events import Claimed as ClaimedEvent
from .recorder import CLAIM, Recorder

log = logging.getLogger("poolboard")


class Post(Protocol):
    """What brings messages to runs."""

    def started(self, token: Token) -> None:
        """An attempt begins."""

    def ended(self, n: int) -> None:
        """A work item has settled."""


class Dispatcher:
    """Holds the tokens of live attempts and the peers of live workers; all else is in the pool or the journal."""

    def __init__(
        self,
        lease: Lease,
        recorder: Recorder,
        pool: Pool,
        lease_ms: int,
        on_all_parked: Callable[[], None],
        on_root_settled: Callable[[], None],
    ) -> None:
        self.lease, self.recorder, self.pool, self._lease_ms = lease, recorder, pool, lease_ms
        self.tokens: dict[int, Token] = {}
        self.workers: dict[str, Peer] = {}
        #: Who is to know of starts and ends because messages wait; None in a run that has none.
        self.post: Post | None = None
        self._on_all_parked, self._on_root_settled = on_all_parked, on_root_settled
        self._events: deque[Event] = deque()
        self._feeding = False
        self._tick_due = False
        #: Told of every end, once somebody wants to know.
        self.on_settled: list[Callable[[int], None]] = []
        #: Told whose work cost something that a budget may limit: a charge, or a failure.
        self.on_cost: Callable[[int], None] = lambda n: None

    def feed(self, event: Event) -> None:
        """Let the pool decide and do what it says; events that come up meanwhile wait their turn."""
        self._events.append(event)
        if self._feeding:
            return
        self._feeding = True
        try:
            while self._events:
                next_event = self._events.popleft()
                for action in self.pool.handle(next_event, time.time_ns() // 1_000_000):
                    self._do(action)
                if isinstance(next_event, Settled) and next_event.n == 0:
                    self._on_root_settled()
        finally:
            self._feeding = False
        if not self._tick_due and self.pool.ahead.count:
            self._tick_due = True
            asyncio.get_running_loop().call_later(RECALL_MS / 1000, self._tick)

    def _tick(self) -> None:
        self._tick_due = False
        self.feed(Tick())

    def send(self, token: Token, message: wire.Message) -> None:
        """Send to the attempt's worker, if it is there."""
        peer = self.workers.get(token.worker)
        if peer is not None:
            peer.send(message)

    def token(self, n: int, generation: int) -> Token | None:
        """Return the token of a live attempt."""
        token = self.tokens.get(n)
        return token if token is not None and token.generation == generation else None

    def adopted(self, token: Token) -> None:
        """An attempt that an earlier coordinator began goes on under this one."""
        self.tokens[token.n] = token
        self.send(token, wire.Adopted(n=token.n, generation=token.generation, epoch=token.epoch))
        if self.post is not None:
            self.post.started(token)

    def settle(self, n: int, *, failed: bool = False) -> None:
        """The end of a work item is durable."""
        self.tokens.pop(n, None)
        for hear in self.on_settled:
            hear(n)
        if failed:
            self.on_cost(n)
        if self.post is not None:
            self.post.ended(n)
        self.feed(Settled(n, failed))

    def drop(self, n: int, reason: str) -> None:
        """The work item was ended from outside: whoever runs it lets go."""
        if (token := self.tokens.get(n)) is not None:
            self.send(token, wire.Abandon(n=n, generation=token.generation, reason=reason))
        self.settle(n)

    def _do(self, action: Action) -> None:
        lease, add = self.lease, self.recorder.add
        match action:
            case Claim(n, worker):
                claim = partial(queue.claim, lease=lease, n=n, worker=worker, ttl_ms=self._lease_ms)
                add(claim, partial(self._claimed, n), CLAIM)
            case GrantSlot(n):
                if (token := self.tokens.get(n)) is not None:
                    add(partial(queue.wake, lease=lease, token=token), partial(self._granted, token))
            case Requeue(n, give_start_back):
                if (token := self.tokens.get(n)) is not None:
                    release = partial(queue.release, lease=lease, token=token, give_start_back=give_start_back)
                    add(release, partial(self._requeued, token))
            case FailLost(n, reason):
                if (token := self.tokens.get(n)) is not None:
                    payload = as_payload({"type": "worker_lost", "message": reason, "traceback": ""})
                    add(
                        partial(queue.fail, lease=lease, token=token, error_line=reason, payload=payload),
                        partial(self._ended, n),
                    )
            case CancelWork(n):
                add(partial(queue.cancel, lease=lease, n=n), partial(self._cancelled, n))
            case TellSettled(parent, generation, group):
                if (token := self.token(parent, generation)) is not None:
                    self.send(token, wire.GroupSettled(n=parent, generation=generation, group=group))
            case HoldRun(n, held):
                if (token := self.tokens.get(n)) is not None:
                    self.send(token, wire.HoldRun(n=n, generation=token.generation, held=held))
            case AllParked():
                self._on_all_parked()
            case Recall(worker):
                if (peer := self.workers.get(worker)) is not None:
                    peer.send(wire.Recall())
            case SendHome(worker):
                if (peer := self.workers.get(worker)) is not None:
                    peer.send(wire.Goodbye())

    def _claimed(self, n: int, result: Claimed | Exception | None) -> None:
        fatal_unless_refused(result)
        if not isinstance(result, Claimed):
            log.error("#%d could not be claimed: %s", n, result)
            self.feed(ClaimMissed(n))
            return
        faults.fault("coordinator.claimed")
        token = self.tokens[n] = result.token
        self.send(
            token,
            wire.Assign(
                n=n,
                generation=token.generation,
                epoch=token.epoch,
                workflow=result.workflow,
                boundary=result.boundary,
                starts=result.starts,
                depth=result.depth,
                recorded=result.recorded,
            ),
        )
        if self.post is not None:
            self.post.started(token)
        self.feed(ClaimedEvent(n, token.generation, result.starts))

    def _granted(self, token: Token, result: Any) -> None:
        fatal_unless_refused(result)
        self.send(token, wire.Grant(n=token.n, generation=token.generation))

    def _requeued(self, token: Token, result: Any) -> None:
        fatal_unless_refused(result)
        if self.tokens.get(token.n) is token:
            del self.tokens[token.n]
        # Its worker may live (it retires): then it must let go before somebody else takes the run up.
        self.send(token, wire.Abandon(n=token.n, generation=token.generation, reason="taken up elsewhere"))
        self.feed(Requeued(token.n))

    def _cancelled(self, n: int, result: Any) -> None:
        fatal_unless_refused(result)
        self.drop(n, "cancelled")

    def _ended(self, n: int, result: Any) -> None:
        fatal_unless_refused(result)
        self.settle(n, failed=True)


def fatal_unless_refused(result: Any) -> None:
    """Raise what means that this coordinator cannot go on (storage, lost lease); a refusal concerns one item only."""
    if isinstance(result, Exception) and not isinstance(result, (Refused, IllegalMove)):
        raise result


def checkpoint_of(message: wire.CommitStage) -> Checkpoint:
    """Return what is recorded of a stage's outcome."""
    return Checkpoint(
        message.key,
        message.stage,
        message.payload,
        message.started_at,
        message.completed_at,
        message.duration_ms,
        message.ok,
    )

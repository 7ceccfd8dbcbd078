"""What the coordinator does with each message of a worker: record it, then answer."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from poolboard.journal import child_budgets, queue
from poolboard.journal.errors import BadPayload, IdentityConflict, Refused
from poolboard.journal.model import Enqueued, NewWork, Token
from poolboard.journal.states import SETTLED_WORK, IllegalMove, WorkState

from . import faults, wire
from .control import OWN_NAME
from .dispatch import Dispatcher, checkpoint_of, fatal_unless_refused
from .peers import Peer
from .pool_events import GroupGrew, Requeued, Returned, RunParked, SlotGiven, SlotWanted
from .recorder import END, OUTCOME

log = logging.getLogger("poolboard")


class WorkerDesk:
    """Serves the attempts of all workers; one that is not current is told so (fenced), whoever asks."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        on_blocked: Callable[[int, str], None],
        on_spent: Callable[[str], None],
    ) -> None:
        self._dispatcher, self._on_blocked, self._on_spent = dispatcher, on_blocked, on_spent
        self.activity: dict[str, tuple[float, list[wire.ActiveSlot]]] = {}
        #: Children that had failed before this coordinator came: their parents may still wait for others.
        self.failed_before: frozenset[int] = frozenset()
        #: Told of children that may use no more than that, each with all below it.
        self.on_budget: Callable[[Iterable[int], Mapping[str, float]], None] = lambda children, limits: None
        #: Who takes what only some runs say: limits, messages, prompts.
        self.others: dict[type, Callable[[str, Peer, Any], None]] = {}

    def take(self, worker: str, peer: Peer, message: wire.AnyMessage) -> None:
        """Handle a message of a worker that was taken in; raises WireError for one that a worker does not say."""
        match message:
            case wire.CommitStage(taken=None):
                self._commit(peer, message)
            case wire.Charge():
                self._charge(peer, message)
            case wire.EnqueueChildren():
                self._enqueue(peer, message)
            case wire.CompleteRun() | wire.FailRun():
                self._end(peer, message)
            case wire.Activity():
                self.activity[worker] = (time.monotonic(), message.active)
            case wire.GiveSlot(n=n, generation=generation):
                if (token := self._dispatcher.token(n, generation)) is not None:
                    self._add(partial(queue.wait, token=token), lambda result: None)
                    self._dispatcher.feed(SlotGiven(n, generation))
            case wire.WantSlot(n=n, generation=generation):
                self._dispatcher.feed(SlotWanted(n, generation))
            case wire.Parked(n=n, generation=generation, stage=stage):
                self._dispatcher.feed(RunParked(n, generation, stage))
            case wire.OpenGroup():
                self._regroup(message)
            case wire.Spent():
                self._on_spent(worker)
            case wire.Dropped(n=n, generation=generation):
                self._dropped(n, generation)
            case wire.BlockRun(n=n, generation=generation, reason=reason):
                if self._dispatcher.token(n, generation) is not None:
                    self._on_blocked(n, reason)
                    self._dropped(n, generation)
            case _:
                take = self.others.get(type(message))
                if take is None:
                    raise wire.WireError(f"a worker does not say {type(message).__name__}")
                take(worker, peer, message)

    def _add(self, member: Callable[..., Any], then: Callable[[Any], None], kind: int | None = None) -> None:
        self._dispatcher.recorder.add(partial(member, lease=self._dispatcher.lease), then, kind)

    def _commit(self, peer: Peer, message: wire.CommitStage) -> None:
        token = self._dispatcher.token(message.n, message.generation)
        if token is None:
            return _fence(peer, message.req)
        self._add(
            partial(queue.commit, token=token, checkpoint=checkpoint_of(message)),
            partial(self._answer, peer, message.req, "coordinator.committed"),
            OUTCOME,
        )
        return None

    def _charge(self, peer: Peer, message: wire.Charge) -> None:
        token = self._dispatcher.token(message.n, message.generation)
        if token is None:
            return _fence(peer, message.req)
        self._add(
            partial(queue.charge, token=token, key=message.key, amounts=message.amounts),
            partial(self._charged, peer, message),
        )
        return None

    def _charged(self, peer: Peer, message: wire.Charge, result: Any) -> None:
        self._answer(peer, message.req, "coordinator.charged", result)
        self._dispatcher.on_cost(message.n)

    def _answer(self, peer: Peer, req: int, point: str, result: Any) -> None:
        fatal_unless_refused(result)
        faults.fault(point)
        if isinstance(result, (Refused, IllegalMove)):
            _refuse(peer, req, result)
        else:
            peer.send(wire.Recorded(req=req))

    def _enqueue(self, peer: Peer, message: wire.EnqueueChildren) -> None:
        token = self._dispatcher.token(message.n, message.generation)
        if token is None:
            return _fence(peer, message.req)
        items = [NewWork(i.key, i.workflow, i.label, i.payload, message.depth) for i in message.items]
        member = partial(queue.enqueue, parent=token, items=items)
        if message.budget:
            member = partial(
                child_budgets.enqueue_limited, parent=token, items=items, limits=message.budget, by=OWN_NAME
            )
        self._add(member, partial(self._enqueued, peer, message))
        return None

    def _enqueued(self, peer: Peer, message: wire.EnqueueChildren, result: list[Enqueued] | Exception) -> None:
        fatal_unless_refused(result)
        faults.fault("coordinator.enqueued")
        if isinstance(result, Exception):
            return _refuse(peer, message.req, result)
        children = tuple((child.n, child.state) for child in result)
        if message.budget:
            self.on_budget([n for n, state in children if state not in SETTLED_WORK], message.budget)
        peer.send(wire.Recorded(req=message.req, children=list(children)))
        self._dispatcher.feed(
            GroupGrew(message.n, message.generation, message.group, message.concurrency, children, 0, message.last)
        )
        return None

    def _regroup(self, message: wire.OpenGroup) -> None:
        if self._dispatcher.token(message.n, message.generation) is None:
            return
        # The unsettled ones are known to the pool from its start; "completed" keeps it from making the others anew.
        numbers = (n for first, last in message.numbers for n in range(first, last + 1))
        failed = self.failed_before
        children: tuple[tuple[int, WorkState], ...] = tuple(
            (n, "failed" if n in failed else "completed") for n in numbers
        )
        self._dispatcher.feed(
            GroupGrew(message.n, message.generation, message.group, message.concurrency, children, 0, message.closed)
        )

    def _end(self, peer: Peer, message: wire.CompleteRun | wire.FailRun) -> None:
        token = self._dispatcher.token(message.n, message.generation)
        if token is None:
            return _fence(peer, message.req)
        if isinstance(message, wire.CompleteRun):
            member, kind = partial(queue.complete, token=token, result=message.result), END
        else:
            member, kind = partial(queue.fail, token=token, error_line=message.line, payload=message.payload), None
        self._add(member, partial(self._ended, peer, message), kind)
        # The slot is free now: the next claim rides in the same commit as this end.
        self._dispatcher.feed(Returned(message.n, message.generation))
        return None

    def _ended(self, peer: Peer, message: wire.CompleteRun | wire.FailRun, result: Any) -> None:
        fatal_unless_refused(result)
        faults.fault("coordinator.ended")
        if isinstance(result, (Refused, IllegalMove)):
            _refuse(peer, message.req, result)
            return
        peer.send(wire.Recorded(req=message.req))
        self._dispatcher.settle(message.n, failed=isinstance(message, wire.FailRun))

    def _dropped(self, n: int, generation: int) -> None:
        token = self._dispatcher.token(n, generation)
        if token is None:
            return
        self._dispatcher.feed(Returned(n, generation))
        self._add(partial(queue.release, token=token, give_start_back=True), partial(self._released, token))

    def _released(self, token: Token, result: Any) -> None:
        fatal_unless_refused(result)
        if self._dispatcher.tokens.get(token.n) is token:
            del self._dispatcher.tokens[token.n]
        self._dispatcher.feed(Requeued(token.n))


def _fence(peer: Peer, req: int) -> None:
    peer.send(wire.NotRecorded(req=req, fenced=True, reason="Stale work lease"))


def _refuse(peer: Peer, req: int, error: Exception) -> None:
    fenced = not isinstance(error, (BadPayload, IdentityConflict))
    if fenced:
        log.warning("fenced: %s", error)
    peer.send(wire.NotRecorded(req=req, fenced=fenced, reason=str(error)))

"""The coordinator's side of named limits: what workers want, what admission decides, what screens see of it."""

from __future__ import annotations

import asyncio
import json
import logging
import math
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Literal

from poolboard.journal import queue
from poolboard.journal.model import RunRow
from poolboard.journal.sqlite import SqliteJournal
from poolboard.journal.states import ControlState

from . import wire_limits
from .admission import Admission
from .admission_events import (
    Action,
    AskShared,
    Changed,
    ClaimId,
    Closed,
    Event,
    GiveBackShared,
    Grant,
    Holds,
    Observed,
    Opened,
    Refuse,
    Released,
    SharedAnswered,
    Ticked,
    Wait,
    Wanted,
)
from .admission_reason import ahead, reason
from .control import Refusal
from .dispatch import Dispatcher
from .errors import UserMistake
from .fleet import LocalFleet
from .folder import shared_limits_path
from .header import RunHeader
from .limit_spec import LimitSpec, parse_limit
from .limit_view import limit_view
from .payload import dumps
from .peers import Peer
from .shared_book import SharedBook
from .shared_desk import SharedDesk
from .views import LimitView

log = logging.getLogger("poolboard")
#: A timer is never set for sooner than that: a rate of thousands per second is served in small groups.
LEAST_TIMER_S = 0.001
PAUSED: dict[ControlState, str] = {
    "pausing": "the run is paused",
    "paused": "the run is paused",
    "stopping": "the run is stopping",
    "stopped": "the run is stopped",
}


def setting_name(name: str) -> str:
    """Return the name of the run's setting that holds a limit which was changed live."""
    return f"limit {name}"


class LimitDesk:
    """Serves the claims of all workers. Without limits it is never asked anything."""

    def __init__(
        self, dispatcher: Dispatcher, specs: Iterable[LimitSpec], shared: SharedDesk | None, *, first: bool
    ) -> None:
        self._dispatcher, self._shared = dispatcher, shared
        self._loop = asyncio.get_running_loop()
        self.admission = Admission(specs, self._loop.time(), full=first)
        self._workers: dict[ClaimId, str] = {}
        self._awaited: set[str] = set()
        self._state: ControlState = "running"
        self._timer: asyncio.TimerHandle | None = None
        if shared is not None:
            shared.on_answer = lambda claim, why: self._feed(SharedAnswered(claim, why))
            shared.on_specs = self._changed_elsewhere

    # --- workers ---------------------------------------------------------------------------------------------------

    def want(self, worker: str, peer: Peer, message: wire_limits.WantLimit) -> None:
        """A worker wants something for one of its attempts; one that is not current is told nothing."""
        if self._dispatcher.token(message.n, message.generation) is None:
            return
        claim = ClaimId(message.n, message.generation, message.claim)
        within = tuple(ClaimId(message.n, message.generation, number) for number in message.within)
        self._workers[claim] = worker
        needs = tuple((name, amount) for name, amount in message.needs)
        self._feed(Wanted(claim, needs, within, message.what))

    def release(self, worker: str, peer: Peer, message: wire_limits.ReleaseLimit) -> None:
        """A worker let go of a claim."""
        self._release(ClaimId(message.n, message.generation, message.claim))

    def observe(self, worker: str, peer: Peer, message: wire_limits.ObserveLimit) -> None:
        """A service asked to be left alone."""
        for name in message.names:
            limit = self.admission.limits.get(name)
            if limit is None or not math.isfinite(message.retry_after_s):
                continue
            log.info("#%d: %s is to be left alone for %.1f s", message.n, name, message.retry_after_s)
            self._feed(Observed(name, message.retry_after_s))
            if limit.spec.shared and self._shared is not None:
                self._shared.observe(name, message.retry_after_s)

    def await_workers(self, workers: Iterable[str]) -> None:
        """Grant nothing until these, which outlived an earlier coordinator, have said what they hold."""
        self._awaited = set(workers)
        self._steer()

    def joined(self, worker: str, held: Iterable[wire_limits.HeldLimits]) -> None:
        """A worker came in, and holds this already."""
        kept = []
        for one in held:
            if self._dispatcher.token(one.n, one.generation) is not None:
                claim = ClaimId(one.n, one.generation, one.claim)
                kept.append(claim)
                self._workers[claim] = worker
                self._feed(Holds(claim, tuple((name, amount) for name, amount in one.needs)))
        if self._shared is not None:
            self._shared.keep(worker, kept)
        if worker in self._awaited:
            self._awaited.discard(worker)
            self._steer()

    def lost(self, worker: str) -> None:
        """A worker's process is gone, and with it what it held."""
        for claim in [claim for claim, holder in self._workers.items() if holder == worker]:
            self._release(claim)
        if worker in self._awaited:
            self._awaited.discard(worker)
            self._steer()

    def _release(self, claim: ClaimId) -> None:
        self._workers.pop(claim, None)
        self._feed(Released(claim))

    # --- the run ---------------------------------------------------------------------------------------------------

    def steer(self, state: ControlState) -> None:
        """The run is paused, or goes on."""
        self._state = state
        self._steer()

    def _steer(self) -> None:
        if not self.admission.limits:
            return
        why = PAUSED.get(self._state)
        if why is None and self._awaited:
            first = min(self._awaited)
            why = f"worker {first} of the earlier coordinator has not said yet what it holds"
        if why is None:
            self._feed(Opened())
        else:
            self._feed(Closed(why))
            if self._shared is not None:
                self._shared.withdraw()

    async def change(self, message: wire_limits.ChangeLimit) -> str:
        """Make a limit another one, from now on and after a restart. Return a sentence; raises Refusal."""
        limit = self.admission.limits.get(message.name)
        if limit is None:
            known = ", ".join(self.admission.limits) or "none"
            raise Refusal(f"{message.name!r} is no limit of this run (limits: {known})")
        try:
            spec = parse_limit(message.name, message.text)
        except UserMistake as mistake:
            raise Refusal(str(mistake)) from None
        if spec.is_rate != limit.spec.is_rate:
            kind = "a rate" if limit.spec.is_rate else "a capacity"
            raise Refusal(f"limit {message.name} is {kind} ({limit.spec.text}) and stays one")
        spec = replace(spec, shared=limit.spec.shared)
        if spec.is_rate and "burst" not in message.text:
            spec = replace(spec, most=max(spec.most, limit.spec.most))
        await self._dispatcher.recorder.record(
            partial(
                queue.set_setting,
                lease=self._dispatcher.lease,
                name=setting_name(message.name),
                value=dumps(str(spec)),
                by=message.by,
            )
        )
        if spec.shared and self._shared is not None:
            self._shared.declare([spec])
        self._feed(Changed(spec))
        return f"{message.name} = {spec.text}, from now on"

    def _changed_elsewhere(self, specs: Iterable[LimitSpec]) -> None:
        for spec in specs:
            limit = self.admission.limits.get(spec.name)
            if limit is not None and limit.spec.shared and limit.spec != spec and limit.spec.is_rate == spec.is_rate:
                self._feed(Changed(spec))

    # --- what screens see ------------------------------------------------------------------------------------------

    def views(self) -> tuple[LimitView, ...]:
        """Return every limit as it is now."""
        if not self.admission.limits:
            return ()
        others = self._shared.others() if self._shared is not None else {}
        now_s = self._loop.time()
        return tuple(limit_view(self.admission, name, now_s, others.get(name)) for name in self.admission.limits)

    def reason(self, n: int) -> str | None:
        """Return why a run waits for a limit, None if it does not."""
        for claim in self.admission.claims.values():
            if claim.id.n == n and claim.state != "held":
                told = reason(self.admission, claim, self._loop.time())
                before = ahead(self.admission, claim.id)
                return f"{told} ({before} before it)" if before else told
        return None

    async def leave(self) -> None:
        """The run ends, its workers are gone."""
        if self._timer is not None:
            self._timer.cancel()
        if self._shared is not None:
            await self._shared.leave()

    # --- deciding --------------------------------------------------------------------------------------------------

    def _feed(self, event: Event) -> None:
        for action in self.admission.handle(event, self._loop.time()):
            self._do(action)
        due_s = self.admission.due_s
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if due_s is not None:
            self._timer = self._loop.call_at(max(due_s, self._loop.time() + LEAST_TIMER_S), self._feed, Ticked())

    def _do(self, action: Action) -> None:
        match action:
            case Grant(claim):
                self._tell(claim, "granted")
            case Wait(claim):
                self._tell(claim, "waits")
            case Refuse(claim, why):
                self._workers.pop(claim, None)
                self._tell(claim, "refused", why)
            case AskShared(claim, needs):
                self._ask(claim, needs)
            case GiveBackShared(claim):
                if self._shared is not None:
                    self._shared.give_back(claim)

    def _ask(self, claim: ClaimId, needs: tuple[tuple[str, int], ...]) -> None:
        token = self._dispatcher.token(claim.n, claim.generation)
        if self._shared is None or token is None:
            self._loop.call_soon(self._feed, SharedAnswered(claim, "its attempt is over"))
            return
        self._shared.ask(claim, needs, token.worker)

    def _tell(self, claim: ClaimId, state: Literal["granted", "waits", "refused"], why: str = "") -> None:
        token = self._dispatcher.token(claim.n, claim.generation)
        if token is not None:
            answer = wire_limits.LimitAnswer(
                n=claim.n, generation=claim.generation, claim=claim.number, state=state, reason=why
            )
            self._dispatcher.send(token, answer)


async def no_limit(message: wire_limits.ChangeLimit) -> str:
    """Answer for a run without limits; raises Refusal."""
    raise Refusal(f"{message.name!r} is no limit of this run: it was started without any")


async def open_desk(
    journal: SqliteJournal, dispatcher: Dispatcher, run: RunRow, header: RunHeader, fleet: LocalFleet
) -> LimitDesk:
    """Return the desk with the run's limits: those of its start, and what was changed since."""
    specs = []
    for name, text in header.limits.items():
        changed = await journal.reader.setting(dispatcher.lease.number, setting_name(name))
        specs.append(parse_limit(name, text if changed is None else json.loads(changed)))
    shared = [spec for spec in specs if spec.shared]
    desk = None
    if shared:
        book = SharedBook(shared_limits_path(), run.run_id)

        def identity_of(worker: str) -> str | None:
            member = fleet.members.get(worker)
            return None if member is None else str(member.identity)

        desk = SharedDesk(book, shared, identity_of)
    return LimitDesk(dispatcher, specs, desk, first=run.status == "pending")

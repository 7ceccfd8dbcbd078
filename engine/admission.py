"""Who gets which share of scarce things, pure: ``handle(event, now_s) -> [Action]``. No clock, socket or database.

Rules kept here:
1. A claim gets all that it needs at once, or nothing.
2. Each limit has one queue in order of arrival. A claim is granted when it is first in the queue of everything that it
   needs and there is room for it: nobody overtakes, so nobody starves, and the oldest claim of all is always next.
3. A capacity is in use until its claim is released; a rate is used up by taking.
4. A claim that is wanted while others are kept for it (``within``) is refused if then nothing could ever move again.
5. Shared limits have no room of their own here: what the user's other runs leave is asked for last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

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
from .admission_state import Limit, OpenClaim
from .bucket import Bucket
from .limit_spec import LimitSpec, check_needs

#: How soon the shared book is asked again.
SHARED_RETRY_S: Final = 0.1
#: Nobody is kept waiting for longer by one word of a service.
MOST_RETRY_AFTER_S: Final = 24 * 3600.0


class Admission:
    """The limits of one root run. ``full`` says whether rates start with their burst (a first start) or empty."""

    def __init__(self, specs: Iterable[LimitSpec], now_s: float, *, full: bool = True) -> None:
        self.limits: dict[str, Limit] = {}
        self.claims: dict[ClaimId, OpenClaim] = {}
        #: Why nothing is granted now, None while it is.
        self.closed: str | None = None
        for spec in specs:
            limit = self.limits[spec.name] = Limit(spec)
            if spec.per_s is not None and not spec.shared:
                limit.bucket = Bucket(spec.per_s, spec.most, spec.most if full else 0.0, now_s)
        self._due: dict[str, float] = {}
        self._handlers: dict[type, Callable[[Any, float], list[Action]]] = {
            Wanted: self._wanted,
            Holds: self._holds,
            Released: self._released,
            Changed: self._changed,
            Observed: self._observed,
            Closed: self._closed,
            Opened: self._opened,
            SharedAnswered: self._shared_answered,
            Ticked: self._ticked,
        }

    def handle(self, event: Event, now_s: float) -> list[Action]:
        """Take in one event and return what is to be done, in order."""
        return self._handlers[type(event)](event, now_s)

    @property
    def due_s(self) -> float | None:
        """When time alone may let somebody in; None while only an event can."""
        return min(self._due.values(), default=None) if self.closed is None else None

    @property
    def specs(self) -> dict[str, LimitSpec]:
        """The limits as they are now."""
        return {name: limit.spec for name, limit in self.limits.items()}

    # --- claims ----------------------------------------------------------------------------------------------------

    def _wanted(self, event: Wanted, now_s: float) -> list[Action]:
        known = self.claims.get(event.claim)
        if known is not None:  # said again after a change of coordinator
            return [Grant(event.claim) if known.state == "held" else Wait(event.claim)]
        why = check_needs(dict(event.needs), self.specs, event.what)
        if why is not None:
            return [Refuse(event.claim, why)]
        claim = self.claims[event.claim] = OpenClaim(event.claim, event.needs, event.within, now_s)
        for name, _ in event.needs:
            self.limits[name].queue[event.claim] = None
        actions = self._drain((name for name, _ in event.needs), now_s)
        if claim.state != "waiting":
            return actions
        if event.within and not self._can_ever(claim):
            self._forget(claim)
            return [*actions, Refuse(event.claim, self._knot(claim)), *self._drain(_names(claim), now_s)]
        return [*actions, *self._told_to_wait(claim)]

    def _holds(self, event: Holds, now_s: float) -> list[Action]:
        needs = tuple((name, amount) for name, amount in event.needs if name in self.limits)
        if event.claim not in self.claims:
            claim = self.claims[event.claim] = OpenClaim(event.claim, needs, (), now_s)
            self._take(claim, now_s, from_buckets=False)
        return []

    def _released(self, event: Released, now_s: float) -> list[Action]:
        claim = self.claims.get(event.claim)
        if claim is None:
            return []
        back: list[Action] = [GiveBackShared(claim.id)] if claim.state == "held" and self._shared(claim) else []
        self._forget(claim)
        return [*back, *self._drain(_names(claim), now_s)]

    def _forget(self, claim: OpenClaim) -> None:
        del self.claims[claim.id]
        for name, _ in claim.needs:
            limit = self.limits[name]
            limit.queue.pop(claim.id, None)
            limit.in_use -= limit.holders.pop(claim.id, 0)

    def _take(self, claim: OpenClaim, now_s: float, *, from_buckets: bool = True) -> None:
        claim.state = "held"
        for name, amount in claim.needs:
            limit = self.limits[name]
            limit.queue.pop(claim.id, None)
            if not limit.spec.is_rate:
                limit.holders[claim.id] = amount
                limit.in_use += amount
            elif limit.bucket is not None and from_buckets:
                limit.bucket.take(amount, now_s)

    def _told_to_wait(self, claim: OpenClaim) -> list[Action]:
        if claim.told_to_wait:
            return []
        claim.told_to_wait = True
        return [Wait(claim.id)]

    # --- limits ----------------------------------------------------------------------------------------------------

    def _changed(self, event: Changed, now_s: float) -> list[Action]:
        spec, limit = event.spec, self.limits[event.spec.name]
        limit.spec = spec
        if limit.bucket is not None and spec.per_s is not None:
            limit.bucket.change(spec.per_s, spec.most, now_s)
        return self._drain((spec.name,), now_s)

    def _observed(self, event: Observed, now_s: float) -> list[Action]:
        limit = self.limits.get(event.name)
        if limit is not None:
            wait_s = min(max(event.retry_after_s, 0.0), MOST_RETRY_AFTER_S)
            limit.slow_until_s = max(limit.slow_until_s, now_s + wait_s)
            self._due.pop(event.name, None)
            return self._drain((event.name,), now_s)
        return []

    def _closed(self, event: Closed, now_s: float) -> list[Action]:
        self.closed = event.why
        return []

    def _opened(self, event: Opened, now_s: float) -> list[Action]:
        self.closed = None
        return self._drain(list(self.limits), now_s)

    def _ticked(self, event: Ticked, now_s: float) -> list[Action]:
        return self._drain([name for name, due_s in self._due.items() if due_s <= now_s], now_s)

    def _shared_answered(self, event: SharedAnswered, now_s: float) -> list[Action]:
        claim = self.claims.get(event.claim)
        if claim is None or claim.state != "asking":
            return [] if event.reason is not None else [GiveBackShared(event.claim)]
        claim.state = "waiting"
        if event.reason is not None:
            claim.shared_reason, claim.ask_again_s = event.reason, now_s + SHARED_RETRY_S
            self._due[claim.needs[0][0]] = claim.ask_again_s
            return self._told_to_wait(claim)
        if self.closed is None and self._has_room(claim, now_s):
            self._take(claim, now_s)
            return [Grant(claim.id), *self._drain(_names(claim), now_s)]
        return [GiveBackShared(claim.id), *self._told_to_wait(claim)]  # its own limit was lowered meanwhile

    # --- choosing --------------------------------------------------------------------------------------------------

    def _drain(self, names: Iterable[str], now_s: float) -> list[Action]:
        """Serve the heads of these queues; whoever is granted may have stood before the next."""
        if self.closed is not None:
            return []
        actions: list[Action] = []
        left = list(dict.fromkeys(names))
        while left:  # bounded: every grant takes a claim out of its queues
            name = left.pop()
            self._due.pop(name, None)
            head = self.limits[name].head
            if head is None:
                continue
            claim = self.claims[head]
            if claim.state != "waiting" or any(self.limits[n].head != head for n, _ in claim.needs):
                continue
            if not self._has_room(claim, now_s):
                self._set_due(claim, now_s)
            elif shared := self._shared(claim):
                if claim.ask_again_s > now_s:
                    self._due[name] = claim.ask_again_s
                    continue
                claim.state = "asking"
                actions.append(AskShared(claim.id, shared))
            else:
                self._take(claim, now_s)
                actions.append(Grant(claim.id))
                left += [n for n, _ in claim.needs if n not in left]
        return actions

    def _has_room(self, claim: OpenClaim, now_s: float) -> bool:
        for name, amount in claim.needs:
            limit = self.limits[name]
            if limit.slow_until_s > now_s:
                return False
            if limit.spec.shared:
                continue
            if limit.bucket is None:
                if limit.in_use + amount > limit.spec.most:
                    return False
            elif not limit.bucket.has(amount, now_s):
                return False
        return True

    def _set_due(self, claim: OpenClaim, now_s: float) -> None:
        """Note when each thing that only time brings will be there."""
        for name, amount in claim.needs:
            limit = self.limits[name]
            due_s = limit.slow_until_s
            if limit.bucket is not None and amount <= limit.spec.most:
                due_s = max(due_s, limit.bucket.ready_s(amount, now_s))
            if due_s > now_s:
                self._due[name] = due_s

    def _shared(self, claim: OpenClaim) -> tuple[tuple[str, int], ...]:
        return tuple((name, amount) for name, amount in claim.needs if self.limits[name].spec.shared)

    # --- knots -----------------------------------------------------------------------------------------------------

    def _can_ever(self, claim: OpenClaim) -> bool:
        """Whether the claim can be granted once all that can move has moved; only capacities of this run can knot."""
        kept = {held for other in self._waiting() for held in other.within}
        while True:  # bounded: every turn lets go of at least one claim
            free = {
                name: limit.spec.most - sum(amount for held, amount in limit.holders.items() if held in kept)
                for name, limit in self.limits.items()
            }
            movable = [
                other
                for other in self._waiting()
                if all(amount <= free[n] or self.limits[n].spec.is_rate for n, amount in other.needs)
            ]
            if any(other is claim for other in movable):
                return True
            loose = {held for other in movable for held in other.within} & kept
            if not loose:
                return False
            kept -= loose

    def _waiting(self) -> list[OpenClaim]:
        return [claim for claim in self.claims.values() if claim.state != "held"]

    def _knot(self, claim: OpenClaim) -> str:
        names = " and ".join(_names(claim))
        return (
            f"waiting for {names} here would never end: it is held by runs that wait for what this run keeps; "
            "take all that is needed at once, in one ctx.limit(…) or one needs={…}"
        )


def _names(claim: OpenClaim) -> list[str]:
    return [name for name, _ in claim.needs]

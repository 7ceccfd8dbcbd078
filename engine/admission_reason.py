"""Why a claim waits, in one true sentence. Pure; reads admission's state, changes nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .admission import Admission
from .admission_events import ClaimId
from .admission_state import Limit, OpenClaim

#: Holders that a sentence names; the rest is counted.
NAMED = 3


def reason(admission: Admission, claim: OpenClaim, now_s: float) -> str:
    """Return ``waits for gpu: 2 of 2 in use by child 7 and child 9``."""
    names = " and ".join(name if amount == 1 else f"{amount} of {name}" for name, amount in claim.needs)
    return f"waits for {names}: {_why(admission, claim, now_s)}"


def _why(admission: Admission, claim: OpenClaim, now_s: float) -> str:
    if admission.closed is not None:
        return admission.closed
    for name, amount in claim.needs:
        limit = admission.limits[name]
        if limit.slow_until_s > now_s:
            return f"{name} is to be left alone for {seconds(limit.slow_until_s - now_s)} more"
        if not limit.spec.shared and (told := _full(limit, amount, now_s)) is not None:
            return told
    for name, _ in claim.needs:
        head = admission.limits[name].head
        if head is not None and head != claim.id:
            return f"{person(head.n)} came first and waits for {_wanted(admission.claims[head], name)}"
    return claim.shared_reason or "the runs that share it are being asked"


def _full(limit: Limit, amount: int, now_s: float) -> str | None:
    spec = limit.spec
    if amount > spec.most:
        return f"{spec.name} was lowered to {spec.most}"
    if limit.bucket is not None:
        return None if limit.bucket.has(amount, now_s) else f"{spec.text} is used up"
    if limit.in_use + amount <= spec.most:
        return None
    return f"{limit.in_use} of {spec.most} in use by {people([claim.n for claim in limit.holders])}"


def _wanted(claim: OpenClaim, name: str) -> str:
    amount = dict(claim.needs)[name]
    return f"{amount} of {name}" if amount > 1 else name


def people(numbers: Sequence[int], more: int = 0) -> str:
    """Return ``child 7 and child 9``; of many the first are named and the rest counted."""
    told = [person(n) for n in dict.fromkeys(numbers)]
    more += max(0, len(told) - NAMED)
    told = told[:NAMED]
    if more:
        told.append(f"{more} more")
    return " and ".join([", ".join(told[:-1]), told[-1]] if len(told) > 1 else told) or "nobody"


def person(n: int) -> str:
    """Return how a run is called in a sentence."""
    return f"child {n}" if n else "the root"


def ahead(admission: Admission, claim: ClaimId) -> int:
    """Return how many came before it to the longest of its queues; it walks that queue: for one that is looked at."""
    found = 0
    for name, _ in admission.claims[claim].needs:
        for place, other in enumerate(admission.limits[name].queue):
            if other == claim:
                found = max(found, place)
                break
    return found


def seconds(duration_s: float) -> str:
    return f"{math.ceil(duration_s)} s"

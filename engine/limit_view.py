"""A limit as screens see it: bounded, with the reason of the first who wait. Pure."""

from __future__ import annotations

import math
from itertools import islice

from .admission import Admission
from .admission_reason import reason
from .views import HolderView, LimitView, WaiterView

#: Holders and waiters that are listed of each limit; the rest is counted (SPEC 1.28).
LISTED = 5


def limit_view(admission: Admission, name: str, now_s: float, others: tuple[HolderView, ...] | None) -> LimitView:
    """Return one limit; ``others`` is what the user's other runs hold of it, where it is shared."""
    limit = admission.limits[name]
    own = [HolderView(claim.n, amount) for claim, amount in islice(limit.holders.items(), LISTED)]
    waiters = []
    for claim_id in islice(limit.queue, LISTED):
        claim = admission.claims[claim_id]
        why = reason(admission, claim, now_s)
        waiters.append(WaiterView(claim_id.n, dict(claim.needs)[name], float(int(now_s - claim.since_s)), why))
    theirs = others or ()
    return LimitView(
        name=name,
        text=limit.spec.text,
        most=limit.spec.most,
        per_s=limit.spec.per_s,
        shared=limit.spec.shared,
        in_use=limit.in_use + sum(holder.amount for holder in theirs),
        left=None if limit.bucket is None else round(limit.bucket.fill(now_s), 1),
        holders=(*own, *theirs)[:LISTED],
        holding=len(limit.holders) + len(theirs),
        waiters=tuple(waiters),
        waiting=len(limit.queue),
        slow_s=float(max(0, math.ceil(limit.slow_until_s - now_s))),
    )

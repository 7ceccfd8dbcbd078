"""What a decision about limits costs with many waiting: pure admission, no process, no socket.

Counts first: how many claims a decision looks at. Then times, with as many waiting as not.
"""

from __future__ import annotations

import time

from poolboard.engine.admission import Admission
from poolboard.engine.admission_events import ClaimId, Released, Wanted
from poolboard.engine.limit_spec import parse_limits

from .figure import Figure, Section

WAITING = 1_000
DECISIONS = 2_000
#: What the issue asks for.
TARGET_US = 50.0


async def measure(rounds: int = 5) -> Section:
    """Return the CPU time of one hand-over (a release with the grant of who was next, and a new wish) and of one wish
    that has to wait: what others do on the machine is none of a decision's."""
    few, many, wishes, looked = [], [], [], []
    for _ in range(rounds):
        few.append(_hand_over(1)[0])
        time_us, claims = _hand_over(WAITING)
        many.append(time_us)
        looked.append(claims)
        wishes.append(_wish(WAITING))
    return Section(
        "limits",
        f"decisions about a capacity of 1 and a rate, with {WAITING:,} waiting, in CPU time",
        (
            Figure("claims looked at by a hand-over", f"of {WAITING:,} waiting", tuple(looked)),
            Figure(f"hand-over, {WAITING:,} waiting", "us", tuple(many)),
            Figure("hand-over, 1 waiting", "us", tuple(few)),
            Figure("hand-over, many / one", "ratio", tuple(one / other for one, other in zip(many, few, strict=True))),
            Figure(f"a wish that waits behind {WAITING:,}", "us", tuple(wishes)),
        ),
        (f"target: a decision under {TARGET_US:g} us with {WAITING:,} waiting; a hand-over is two of them",),
    )


class _Counted(dict[ClaimId, object]):
    looked = 0

    def __getitem__(self, key: ClaimId) -> object:
        _Counted.looked += 1
        return super().__getitem__(key)


def _filled(waiting: int) -> Admission:
    pool = Admission(parse_limits({"gpu": 1, "api": "1000000/s", "api.burst": 1_000_000}).values(), 0.0)
    for n in range(waiting + 1):
        pool.handle(_wanted(n), 0.0)
    return pool


def _wanted(n: int) -> Wanted:
    return Wanted(ClaimId(n, 1, 0), (("api", 1), ("gpu", 1)))


def _hand_over(waiting: int) -> tuple[float, float]:
    """Release the holder again and again, a new claim joining each time; return us and claims looked at for each."""
    pool = _filled(waiting)
    started = time.process_time()
    for n in range(DECISIONS):
        pool.handle(Released(ClaimId(n, 1, 0)), n / 1000)
        pool.handle(_wanted(n + waiting + 1), n / 1000)
    both_us = (time.process_time() - started) * 1e6 / DECISIONS
    pool.claims = counted = _Counted(pool.claims)  # type: ignore[assignment]
    _Counted.looked = 0
    pool.handle(Released(ClaimId(DECISIONS, 1, 0)), DECISIONS / 1000)
    assert len(counted) == waiting
    return both_us, float(_Counted.looked)


def _wish(waiting: int) -> float:
    pool = _filled(waiting)
    started = time.process_time()
    for n in range(DECISIONS):
        pool.handle(_wanted(n + waiting + 1), 0.0)
    return (time.process_time() - started) * 1e6 / DECISIONS

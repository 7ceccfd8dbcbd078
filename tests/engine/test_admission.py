"""Limits: who gets what, in which order, and what is said to those who wait. Time is an argument."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from poolboard.engine.admission import Admission
from poolboard.engine.admission_events import (
    AskShared,
    Changed,
    ClaimId,
    Closed,
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
from poolboard.engine.admission_reason import ahead, reason
from poolboard.engine.errors import UserMistake
from poolboard.engine.limit_spec import check_needs, parse_limit, parse_limits


def limits(**told: int | str) -> Admission:
    return Admission(parse_limits(told).values(), 0.0)


def shared_gpu(**more: int | str) -> Admission:
    return Admission(parse_limits({"gpu": 1, "gpu.shared": "true", **more}).values(), 0.0)


def claim(n: int, number: int = 0) -> ClaimId:
    return ClaimId(n, 1, number)


def wanted(n: int, number: int = 0, within: tuple[ClaimId, ...] = (), **needs: int) -> Wanted:
    return Wanted(claim(n, number), tuple(needs.items()), within)


def why(admission: Admission, n: int, now_s: float = 0.0, number: int = 0) -> str:
    return reason(admission, admission.claims[claim(n, number)], now_s)


# --- what a person writes --------------------------------------------------------------------------------------------


def test_a_capacity_a_rate_a_burst_and_shared_are_read() -> None:
    found = parse_limits({"gpu": 2, "api": "60/min", "api.burst": 10, "gpu.shared": "true", "slow": "5/10s"})
    assert (found["gpu"].most, found["gpu"].per_s, found["gpu"].shared) == (2, None, True)
    assert (found["api"].most, found["api"].per_s, found["api"].shared) == (10, 1.0, False)
    assert (found["slow"].most, found["slow"].per_s) == (1, 0.5)
    assert all(parse_limit(name, str(spec)) == spec for name, spec in found.items())


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"gpu": 0}, "whole number from 1"),
        ({"gpu": "many"}, "write a capacity such as gpu=2"),
        ({"api": "60/fortnight"}, "such as 60/min"),
        ({"api": "0/min"}, "such as 60/min"),
        ({"api": "1/0s"}, "such as 60/min"),
        ({"a b": 1}, "letters, digits"),
        ({"gpu": 2, "gpu.burst": 3}, "only a rate has a burst"),
        ({"gpu": 2, "gpu.color": 3}, "burst and shared"),
        ({"api.burst": 3}, "there is no limit api"),
        ({"gpu": 2, "gpu.shared": "perhaps"}, "true or false"),
        ({f"limit{i}": 1 for i in range(65)}, "too many"),
    ],
)
def test_what_is_no_limit_is_refused_by_name(told: Mapping[str, int | str], says: str) -> None:
    with pytest.raises(UserMistake, match=says):
        parse_limits(told)


def test_an_unknown_name_and_a_need_above_the_limit_are_refused_by_name() -> None:
    specs = parse_limits({"gpu": 2, "api": "60/min"})
    assert check_needs({"gpu": 2, "api": 1}, specs, "stage embed") is None
    assert "stage embed needs 'tpu', which is no limit of this run (limits: api, gpu)" in (
        check_needs({"tpu": 1}, specs, "stage embed") or ""
    )
    assert "stage embed needs 3 of gpu, more than it can ever get: there are 2" in (
        check_needs({"gpu": 3}, specs, "stage embed") or ""
    )
    assert "its burst is 1 (set api.burst)" in (check_needs({"api": 2}, specs, "stage embed") or "")
    assert limits(gpu=2).handle(wanted(1, tpu=1), 0) == [
        Refuse(claim(1), check_needs({"tpu": 1}, parse_limits({"gpu": 2}), "this") or "")
    ]


# --- capacities ------------------------------------------------------------------------------------------------------


def test_two_of_two_are_given_and_the_third_waits_and_says_for_whom() -> None:
    pool = limits(gpu=2)
    assert pool.handle(wanted(7, gpu=1), 0) == [Grant(claim(7))]
    assert pool.handle(wanted(9, gpu=1), 0) == [Grant(claim(9))]
    assert pool.handle(wanted(3, gpu=1), 0) == [Wait(claim(3))]
    assert why(pool, 3) == "waits for gpu: 2 of 2 in use by child 7 and child 9"
    assert pool.handle(Released(claim(7)), 1) == [Grant(claim(3))]
    assert pool.limits["gpu"].in_use == 2


def test_a_small_need_does_not_overtake_a_large_one_so_the_large_one_does_not_starve() -> None:
    pool = limits(gpu=2)
    pool.handle(wanted(1, gpu=1), 0)
    assert pool.handle(wanted(2, gpu=2), 0) == [Wait(claim(2))]
    assert pool.handle(wanted(3, gpu=1), 0) == [Wait(claim(3))]
    assert why(pool, 3) == "waits for gpu: child 2 came first and waits for 2 of gpu"
    assert ahead(pool, claim(3)) == 1
    assert pool.handle(Released(claim(1)), 0) == [Grant(claim(2))]
    assert pool.handle(Released(claim(2)), 0) == [Grant(claim(3))]


def test_a_claim_gets_everything_or_nothing() -> None:
    pool = limits(gpu=1, api="1/s")
    pool.handle(wanted(1, gpu=1), 0)
    pool.handle(wanted(2, gpu=1, api=1), 0)
    assert pool.handle(wanted(3, api=1), 0) == [Wait(claim(3))]
    assert pool.handle(Released(claim(1)), 0) == [Grant(claim(2))]
    assert why(pool, 3) == "waits for api: 1/s is used up"
    assert pool.handle(Ticked(), 1.0) == [Grant(claim(3))]


def test_what_waits_and_is_given_up_leaves_no_trace() -> None:
    pool = limits(gpu=1)
    pool.handle(wanted(1, gpu=1), 0)
    pool.handle(wanted(2, gpu=1), 0)
    pool.handle(wanted(3, gpu=1), 0)
    assert pool.handle(Released(claim(2)), 0) == []
    assert pool.handle(Released(claim(2)), 0) == []
    assert pool.handle(Released(claim(1)), 0) == [Grant(claim(3))]


def test_a_limit_that_is_raised_lets_in_and_one_that_is_lowered_waits_for_its_holders() -> None:
    pool = limits(gpu=1)
    for n in (1, 2, 3):
        pool.handle(wanted(n, gpu=1), 0)
    assert pool.handle(Changed(parse_limit("gpu", 3)), 0) == [Grant(claim(2)), Grant(claim(3))]
    assert pool.handle(Changed(parse_limit("gpu", 1)), 0) == []
    pool.handle(wanted(4, gpu=1), 0)
    assert pool.handle(Released(claim(1)), 0) == [] == pool.handle(Released(claim(2)), 0)
    assert pool.handle(Released(claim(3)), 0) == [Grant(claim(4))]


def test_paused_nobody_is_let_in_and_the_reason_says_so() -> None:
    pool = limits(gpu=1)
    pool.handle(Closed("the run is paused"), 0)
    assert pool.handle(wanted(1, gpu=1), 0) == [Wait(claim(1))]
    assert why(pool, 1) == "waits for gpu: the run is paused"
    assert pool.due_s is None
    assert pool.handle(Opened(), 0) == [Grant(claim(1))]


def test_what_a_worker_still_holds_counts_for_a_new_coordinator() -> None:
    pool = limits(gpu=1)
    pool.handle(Closed("workers come back"), 0)
    pool.handle(wanted(2, gpu=1), 0)
    assert pool.handle(Holds(claim(1), (("gpu", 1), ("gone", 1))), 0) == []
    assert pool.handle(Opened(), 0) == []
    assert pool.handle(wanted(1, gpu=1), 0) == [Grant(claim(1))]
    assert pool.handle(Released(claim(1)), 0) == [Grant(claim(2))]


# --- rates -----------------------------------------------------------------------------------------------------------


def test_a_rate_gives_its_burst_at_once_and_then_one_at_a_time() -> None:
    pool = limits(api="60/min", **{"api.burst": 2})
    assert [pool.handle(wanted(n, api=1), 0) for n in (1, 2)] == [[Grant(claim(1))], [Grant(claim(2))]]
    for n in (3, 4):
        assert pool.handle(wanted(n, api=1), 0) == [Wait(claim(n))]
    assert pool.due_s == 1.0
    assert pool.handle(Released(claim(1)), 0.5) == []
    assert pool.handle(Ticked(), 0.9) == []
    assert pool.handle(Ticked(), 1.0) == [Grant(claim(3))]
    assert pool.due_s == 2.0
    assert pool.handle(Ticked(), 2.0) == [Grant(claim(4))]
    assert pool.due_s is None


def test_after_a_429_everyone_who_shares_the_limit_waits() -> None:
    pool = limits(api="100/s", gpu=1)
    assert pool.handle(Observed("api", 30.0), 10.0) == []
    assert pool.handle(wanted(1, api=1), 10.0) == [Wait(claim(1))]
    assert why(pool, 1, 10.5) == "waits for api: api is to be left alone for 30 s more"
    assert pool.handle(wanted(2, gpu=1), 10.0) == [Grant(claim(2))]
    assert pool.handle(Observed("api", 5.0), 10.0) == []  # a shorter word does not shorten a longer one
    assert pool.due_s == 40.0
    assert pool.handle(Ticked(), 40.0) == [Grant(claim(1))]
    assert pool.handle(Observed("unheard of", 5.0), 40.0) == []


def test_a_rate_that_a_new_coordinator_takes_over_does_not_start_with_its_burst_again() -> None:
    pool = Admission(parse_limits({"api": "1/s", "api.burst": 50}).values(), 0.0, full=False)
    assert pool.handle(wanted(1, api=1), 0) == [Wait(claim(1))]
    assert pool.handle(Ticked(), 1.0) == [Grant(claim(1))]


# --- knots -----------------------------------------------------------------------------------------------------------


def test_two_runs_that_would_wait_for_each_other_for_ever_are_told_instead() -> None:
    pool = limits(gpu=1, disk=1)
    pool.handle(wanted(1, gpu=1), 0)
    pool.handle(wanted(2, disk=1), 0)
    assert pool.handle(wanted(1, 1, (claim(1),), disk=1), 0) == [Wait(claim(1, 1))]
    (refused,) = pool.handle(wanted(2, 1, (claim(2),), gpu=1), 0)
    assert isinstance(refused, Refuse) and "would never end" in refused.reason
    assert pool.handle(Released(claim(2)), 0) == [Grant(claim(1, 1))]


def test_a_run_that_asks_for_more_of_what_it_keeps_is_told_instead_of_waiting_for_itself() -> None:
    pool = limits(gpu=1)
    pool.handle(wanted(1, gpu=1), 0)
    (refused,) = pool.handle(wanted(1, 1, (claim(1),), gpu=1), 0)
    assert isinstance(refused, Refuse)
    # Two branches of one run that do not enclose each other are no knot.
    assert pool.handle(wanted(1, 2, gpu=1), 0) == [Wait(claim(1, 2))]


# --- shared ----------------------------------------------------------------------------------------------------------


def test_a_shared_limit_is_asked_last_and_asked_again_while_others_hold_it() -> None:
    pool = shared_gpu(disk=1)
    assert pool.handle(wanted(1, gpu=1, disk=1), 0) == [AskShared(claim(1), (("gpu", 1),))]
    assert pool.handle(SharedAnswered(claim(1), "1 of 1 in use by run ab12"), 0) == [Wait(claim(1))]
    assert why(pool, 1) == "waits for gpu and disk: 1 of 1 in use by run ab12"
    assert pool.due_s == 0.1
    assert pool.handle(Ticked(), 0.1) == [AskShared(claim(1), (("gpu", 1),))]
    assert pool.handle(SharedAnswered(claim(1), None), 0.1) == [Grant(claim(1))]
    assert pool.handle(Released(claim(1)), 0.2) == [GiveBackShared(claim(1))]


def test_what_was_given_up_while_the_others_were_asked_is_given_back() -> None:
    pool = shared_gpu()
    pool.handle(wanted(1, gpu=1), 0)
    assert pool.handle(Released(claim(1)), 0) == []
    assert pool.handle(SharedAnswered(claim(1), None), 0) == [GiveBackShared(claim(1))]


# --- always ----------------------------------------------------------------------------------------------------------

NAMES = ("gpu", "disk", "api")
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("want"), st.dictionaries(st.sampled_from(NAMES), st.integers(1, 2), min_size=1)),
        st.tuples(st.just("release"), st.integers(0, 60)),
        st.tuples(st.just("wait"), st.floats(0.0, 3.0)),
        st.tuples(st.just("gpu"), st.integers(2, 4)),
        st.tuples(st.just("pause"), st.booleans()),
    ),
    max_size=60,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS)
def test_nothing_is_ever_over_its_limit_order_is_kept_and_in_the_end_everyone_is_served(
    steps: list[tuple[str, object]],
) -> None:
    pool = limits(gpu=2, disk=3, api="2/s", **{"api.burst": 2})
    now_s = 0.0
    order: list[ClaimId] = []
    granted: list[ClaimId] = []
    taken: list[float] = []
    needs: dict[ClaimId, dict[str, int]] = {}

    def note(actions: list[object]) -> None:
        for action in actions:
            if isinstance(action, Grant):
                granted.append(action.claim)
                touched = [pool.limits[name] for name in needs[action.claim]]
                assert all(limit.in_use <= limit.spec.most for limit in touched)
                taken.extend([now_s] * needs[action.claim].get("api", 0))

    def check() -> None:
        for limit in pool.limits.values():
            assert limit.in_use == sum(limit.holders.values())
            assert set(limit.holders).isdisjoint(limit.queue)
        assert all(len([t for t in taken if since <= t < since + 1]) <= 4 for since in taken)  # burst + one second's

    for what, value in steps:
        if what == "want" and isinstance(value, dict):
            one = claim(len(order) + 1)
            order.append(one)
            needs[one] = value
            note([*pool.handle(Wanted(one, tuple(value.items())), now_s)])
        elif what == "release" and isinstance(value, int) and value < len(granted):
            note([*pool.handle(Released(granted[value]), now_s)])
        elif what == "wait" and isinstance(value, float):
            now_s += value
            note([*pool.handle(Ticked(), now_s)])
        elif what == "gpu" and isinstance(value, int):
            note([*pool.handle(Changed(parse_limit("gpu", value)), now_s)])
        elif what == "pause":
            note([*pool.handle(Closed("paused") if value else Opened(), now_s)])
        check()

    note([*pool.handle(Opened(), now_s)])
    for _ in range(len(order) * 4 + 4):
        for one in [c for c in granted if c in pool.claims]:
            note([*pool.handle(Released(one), now_s)])
        now_s = pool.due_s or now_s
        note([*pool.handle(Ticked(), now_s)])
    assert sorted(granted) == sorted(order) and pool.claims == {}
    for name in NAMES:  # first come, first served, limit by limit
        among = [c for c in order if name in needs[c]]
        assert [c for c in granted if name in needs[c]] == among


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(1, 200))
def test_a_decision_looks_at_the_heads_of_queues_alone_however_many_wait(waiting: int) -> None:
    pool = limits(gpu=1)
    for n in range(waiting + 1):
        pool.handle(wanted(n, gpu=1), 0)
    looked: list[ClaimId] = []
    claims = pool.claims

    class Counted(dict):  # type: ignore[type-arg]
        def __getitem__(self, key: ClaimId) -> object:
            looked.append(key)
            return super().__getitem__(key)

    pool.claims = Counted(claims)
    pool.handle(Released(claim(0)), 1)
    assert len(looked) <= 2

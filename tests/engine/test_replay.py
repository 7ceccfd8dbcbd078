"""Replay: identical calls by ordinal, concurrent calls in any order, sequential calls only as recorded."""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import pytest

from poolboard.engine.replay import Call, Mismatch, Replay, stage_payload


def recorded(*calls: Call, alone: bool = True) -> list[dict[str, Any]]:
    return [
        json.loads(stage_payload(call, json.dumps(f"{call.name} {call.ordinal}"), None, (1, 2, 1), alone=alone))
        for call in calls
    ]


def made(replay: Replay, *names: str, at_once: bool = False) -> list[Call]:
    calls = []
    for name in names:
        calls.append(replay.begin("stage", name, "f"))
        if not at_once:
            assert replay.is_alone(calls[-1])
            replay.end(calls[-1])
    if at_once:
        assert not any(replay.is_alone(call) for call in calls), "not even the first, once the others have begun"
        for call in calls:
            replay.end(call)
    return calls


def test_a_first_run_finds_nothing() -> None:
    replay = Replay([])
    assert [replay.outcome(call) for call in made(replay, "a", "b", "a")] == [None, None, None]


def test_the_same_calls_in_the_same_order_get_what_they_got() -> None:
    first = Replay([])
    calls = made(first, "a", "b", "a")
    again = Replay(recorded(*calls))
    outcomes = [again.outcome(call) for call in made(again, "a", "b", "a")]
    assert [outcome.value for outcome in outcomes if outcome] == ["a 0", "b 0", "a 1"]


def test_concurrent_calls_may_come_in_any_order_and_keep_their_own_results() -> None:
    """R5."""
    calls = made(Replay([]), "a", "b", "c", at_once=True)
    for order in permutations("abc"):
        again = Replay(recorded(*calls, alone=False))
        found = {call.name: again.outcome(call) for call in made(again, *order, at_once=True)}
        assert {name: outcome.value for name, outcome in found.items() if outcome} == {n: f"{n} 0" for n in "abc"}


def test_another_sequential_call_is_told_with_both_names() -> None:
    calls = made(Replay([]), "first", "second")
    again = Replay(recorded(*calls))
    with pytest.raises(Mismatch, match=r"recorded stage first .* at place 1, found stage second"):
        made(again, "second")


def test_a_map_in_the_place_of_a_stage_is_noticed() -> None:
    again = Replay(recorded(*made(Replay([]), "first")))
    with pytest.raises(Mismatch, match=r"recorded stage first .*, found map first"):
        again.begin("map", "first", "f")


def test_a_reopened_run_may_ask_for_something_else_and_still_reuses_what_it_asks_for_again() -> None:
    calls = made(Replay([]), "list", "sum")
    again = Replay(recorded(*calls), reopened=True)
    listed, other = made(again, "list", "another")
    found = again.outcome(listed)
    assert found is not None and found.value == "list 0"
    assert again.outcome(other) is None


def test_a_failure_has_a_key_of_its_own_for_each_attempt() -> None:
    (call,) = made(Replay([]), "a")
    assert len({call.key, call.failure_key(1), call.failure_key(2)}) == 3

"""Who gets which message: paths, patterns by an index, and steps that touch only what changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolboard.engine.address import BadAddress, parse, path_of
from poolboard.engine.delivery import Delivery, Patience
from poolboard.engine.patterns import Patterns, means
from poolboard.journal.message_model import OpenMessage


def pattern(number: int, target: str) -> OpenMessage:
    return OpenMessage(number, None, target, None, None, "steer")


def direct(number: int, n: int, target: str | None = None) -> OpenMessage:
    return OpenMessage(number, None, target if target is not None else f"child-{n}", n, None, "steer")


def numbers(messages: list[OpenMessage]) -> list[int]:
    return [message.number for message in messages]


@pytest.mark.parametrize(
    ("text", "target", "only", "stage"),
    [
        ("", "", 0, None),
        ("root", "", 0, None),
        ("7", "child-7", 7, None),
        ("child-007", "child-7", 7, None),
        ("child-3/child-9", "child-3/child-9", 9, None),
        ("3/fetch", "child-3", 3, "fetch"),
        ("fetch", "", 0, "fetch"),
        ("child-*/**", "child-*/**", None, None),
        ("**/**", "**", None, None),
        ("child-1*/load it", "child-1*", None, "load it"),
        ("3/fetch-*", "child-3", None, "fetch-*"),
        ("child-*/**/*-check", "child-*/**", None, "*-check"),
    ],
)
def test_an_address_is_a_path_a_pattern_and_perhaps_a_stage(
    text: str, target: str, only: int | None, stage: str | None
) -> None:
    address = parse(text)
    assert (address.target, address.direct, address.stage) == (target, only, stage)


@pytest.mark.parametrize("text", ["child-3//x", "kid/child-3", "child-3/f*/x", "child-x/y", "/".join(["*"] * 17)])
def test_an_address_that_cannot_be_one_is_refused_in_words(text: str) -> None:
    with pytest.raises(BadAddress):
        parse(text)


SEGMENTS = st.sampled_from(["child-1", "child-2", "child-12", "child-*", "child-1*", "child-*2", "*", "**"])
PATHS = st.lists(st.integers(1, 25), max_size=4).map(lambda ns: path_of(tuple(ns)))


@given(st.lists(st.lists(SEGMENTS, max_size=4).map(tuple), max_size=30), PATHS)
def test_m9_the_index_finds_what_a_look_at_every_pattern_finds(
    patterns: list[tuple[str, ...]], path: tuple[str, ...]
) -> None:
    index = Patterns()
    for number, segments in enumerate(patterns):
        index.add(number, segments)
    assert index.matching(path) == [number for number, segments in enumerate(patterns) if means(segments, path)]


@pytest.mark.parametrize("queued", [3_000, 8_000])
def test_m9_one_delivery_among_thousands_of_patterns_is_two_checks_and_one_read(queued: int) -> None:
    delivery = Delivery()
    for n in range(1, queued + 1):
        delivery.accept(pattern(n, f"child-{n}/**"))
    assert (delivery.checks, delivery.reads) == (0, 0)
    assert numbers(delivery.start(77, path_of((77,)))) == [77]
    assert delivery.checks == 2
    assert delivery.deliver(77, [77]) == [77]
    assert (delivery.checks, delivery.reads) == (2, 1)


@pytest.mark.parametrize("queued", [3_000, 8_000])
def test_m9_globs_are_found_by_what_they_begin_with(queued: int) -> None:
    delivery = Delivery()
    for n in range(1, queued + 1):
        delivery.accept(pattern(n, f"child-{n}0*"))
    found = numbers(delivery.start(1, path_of((120034,))))
    assert found == [number for number in (1, 12, 120, 1200) if f"{number}0" == "120034"[: len(str(number)) + 1]]
    assert delivery.checks == len(found)


def test_a_pattern_reaches_who_is_there_and_who_comes_later_and_what_was_taken_not_again() -> None:
    delivery = Delivery()
    delivery.start(1, path_of((1,)))
    delivery.start(2, path_of((1, 2)))
    assert delivery.accept(pattern(10, "child-*")) == [1]
    assert delivery.accept(pattern(11, "**")) == [1, 2]
    assert delivery.accept(pattern(11, "**")) == []
    delivery.take(1, [10])
    assert numbers(delivery.start(1, path_of((1,)))) == [11]  # a new attempt
    assert numbers(delivery.start(3, path_of((3,)))) == [10, 11]


def test_what_is_for_a_pattern_of_stages_stays_until_the_root_ends_also_if_it_is_for_one_child() -> None:
    delivery = Delivery()
    address = parse("3/fetch-*")
    delivery.accept(OpenMessage(10, None, address.target, address.direct, address.stage, "steer"))
    assert numbers(delivery.start(3, path_of((3,)))) == [10]
    delivery.deliver(3, [10])
    delivery.take(3, [10])  # one of its stages has read it; others may be still to come
    assert numbers(delivery.start(3, path_of((3,)))) == [10]
    assert (delivery.start(4, path_of((4,))), delivery.end(3), len(delivery)) == ([], [], 1)


def test_a_receipt_is_asked_for_once() -> None:
    delivery = Delivery()
    delivery.accept(pattern(10, "**"))
    assert delivery.deliver(1, [10]) == [10]
    assert delivery.deliver(1, [10, 99]) == []
    delivery.known([(10, "taken", [2, 3])], {2})
    assert delivery.deliver(2, [10]) == []
    assert delivery.start(2, path_of((2,))) == []


def test_a_message_for_one_run_waits_for_it_and_is_given_back_when_it_ends() -> None:
    delivery = Delivery()
    assert delivery.accept(direct(10, 5)) == []
    delivery.accept(direct(11, 5))
    assert numbers(delivery.start(5, path_of((2, 5)))) == [10, 11]
    delivery.take(5, [10])
    assert delivery.end(5) == [11]
    assert (delivery.end(5), len(delivery)) == ([], 0)


def test_a_path_that_does_not_lead_to_its_run_reaches_nobody_and_is_given_back() -> None:
    delivery = Delivery()
    delivery.accept(direct(10, 5, "child-3/child-5"))
    assert delivery.start(5, path_of((2, 5))) == []
    assert delivery.end(5) == [10]
    delivery.start(6, path_of((2, 6)))
    assert delivery.accept(direct(11, 6, "child-3/child-6")) == []


def test_a_stage_waits_a_minute_from_the_last_thing_that_came() -> None:
    patience = Patience.begin(100.0)
    assert patience.left_s(159.0) == 1.0
    patience.progress(159.0)
    assert patience.left_s(200.0) == 19.0
    assert patience.left_s(219.5) == 0.0

"""Values: what a stage returns live is what its replay returns, or it fails naming the path."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from poolboard.engine.codec import Codec
from poolboard.engine.payload import MAX_PAYLOAD_BYTES, Unrecordable, canonical, dumps, fingerprint
from poolboard.engine.signature import Signature


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True)
class Point:
    x: int
    y: float


class Model(BaseModel):
    name: str
    when: datetime


VALUES: list[tuple[Any, Any]] = [
    (int, 3),
    (float, 0.1),
    (bool, True),
    (str, "é\ud800"[:1]),
    (bytes, b"plain"),
    (Path, Path("/tmp/x")),
    (date, date(2026, 11, 30)),
    (Colour, Colour.RED),
    (Point, Point(1, 2.5)),
    (Model, Model(name="m", when=datetime(2026, 1, 1, tzinfo=UTC))),
    (list[Point], [Point(1, 2.0), Point(3, 4.0)]),
    (dict[str, tuple[int, str]], {"a": (1, "b")}),
    (int | None, None),
]


@pytest.mark.parametrize(("annotation", "value"), VALUES)
def test_a_declared_type_comes_back_as_itself(annotation: Any, value: Any) -> None:
    codec = Codec(annotation, "result")
    assert codec.decode(codec.encode(value)) == value
    assert type(codec.decode(codec.encode(value))) is type(value)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_json_without_a_declared_type_comes_back_as_itself(value: Any) -> None:
    codec = Codec(Any, "result")
    assert codec.decode(codec.encode(value)) == value


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"score": float("nan")}, r"\$\.score is nan"),
        ([1, {"deep": [float("inf")]}], r"\$\[1\]\.deep\[0\] is inf"),
        (object(), "result: "),
    ],
)
def test_what_json_cannot_hold_is_named_with_its_path(value: Any, told: str) -> None:
    with pytest.raises(Unrecordable, match=told):
        Codec(Any, "result").encode(value)


def test_a_wrong_type_is_told_with_the_value() -> None:
    with pytest.raises(Unrecordable, match=r"result: \$\.x: .*'three'"):
        Codec(Point, "result").encode({"x": "three", "y": 1.0})


def test_a_value_over_the_limit_is_told_with_advice() -> None:
    with pytest.raises(Unrecordable, match="over the limit of 1048576; write it to a file and return its path"):
        Codec(str, "result").encode("x" * MAX_PAYLOAD_BYTES)


def test_a_list_that_holds_itself_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(Unrecordable):
        Codec(Any, "result").encode(loop)


@given(st.dictionaries(st.text(), st.integers()))
def test_equal_values_have_equal_fingerprints_whatever_their_order(value: dict[str, int]) -> None:
    turned = dict(reversed(value.items()))
    assert canonical(value) == canonical(turned) and fingerprint(value) == fingerprint(turned)


def typed(n: int, path: Path, names: list[str] | None = None) -> None: ...


@pytest.mark.parametrize(
    ("name", "word", "value"),
    [("n", "3", 3), ("n", " 4 ", 4), ("path", "~/x", "~/x"), ("names", '["a"]', ["a"]), ("names", "null", None)],
)
def test_words_of_the_command_line_are_read_by_the_parameters_type(name: str, word: str, value: Any) -> None:
    assert Signature(typed, skip_first=False).parameters[name].codec.from_word(word) == value


def test_a_call_that_does_not_fit_says_what_would() -> None:
    signature = Signature(typed, skip_first=False)
    with pytest.raises(
        Unrecordable, match=r"has no parameter 'm'; it takes n: int, path: Path, names: .* \(optional\)"
    ):
        signature.decode_call({"m": 1})
    with pytest.raises(Unrecordable, match="needs 'path'"):
        signature.decode_call({"n": 1})
    with pytest.raises(TypeError, match="typed: missing a required argument"):
        signature.bind_call((1,), {})


def test_an_item_of_a_map_is_a_value_or_a_dict_of_arguments() -> None:
    def one(value: int) -> None: ...

    assert Signature(one, skip_first=False).item_call(3) == {"value": 3}
    assert Signature(typed, skip_first=False).item_call({"n": 1, "path": Path("x")}) == {"n": 1, "path": "x"}
    with pytest.raises(TypeError, match="each item must be a dict"):
        Signature(typed, skip_first=False).item_call(3)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(_JSON)
def test_the_encoder_that_is_made_once_writes_what_pythons_own_does(value: object) -> None:
    assert dumps(value) == json.dumps(value, separators=(",", ":"), allow_nan=False)
    assert canonical(value) == json.dumps(value, separators=(",", ":"), allow_nan=False, sort_keys=True)


@pytest.mark.parametrize("value", [float("nan"), [float("inf")], {"a": -float("inf")}, {1, 2}, b"x"])
def test_what_json_cannot_hold_is_refused_also_at_the_second_call(value: object) -> None:
    for _ in range(2):
        with pytest.raises((TypeError, ValueError)):
            dumps(value)
    assert dumps([1]) == "[1]"

"""The filter bar's language."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolboard.tui.query import Query, Term, parse

KINDS = {"state": "text", "error": "text", "took": "duration", "starts": "number"}


def _shows(query: Query, text: str, **values: str | float | None) -> bool:
    return all(term.holds(text, None if term.field is None else values.get(term.field)) for term in query.terms)


def test_words_must_all_match_and_case_does_not_matter() -> None:
    query = parse("Parse FILE", KINDS)
    assert _shows(query, "parse of file 7")
    assert not _shows(query, "parse of line 7")


def test_quoted_words_belong_together() -> None:
    assert _shows(parse('"of file"', KINDS), "parse of file 7")
    assert not _shows(parse('"file of"', KINDS), "parse of file 7")


def test_a_field_looks_at_that_field_alone() -> None:
    query = parse("state:fail", KINDS)
    assert _shows(query, "", state="failed")
    assert not _shows(query, "failed", state="ready")
    assert not _shows(query, "failed", state=None)


def test_an_exclamation_mark_turns_a_term_around() -> None:
    query = parse("!state:failed !tmp", KINDS)
    assert _shows(query, "x", state="ready")
    assert not _shows(query, "x", state="failed")
    assert not _shows(query, "/tmp", state="ready")


@pytest.mark.parametrize(
    ("typed", "seconds", "shown"),
    [("took>5s", 6, True), ("took>5s", 5, False), ("took<1m", 59, True), ("took>1.5h", 5000, False)],
)
def test_durations_are_compared(typed: str, seconds: float, shown: bool) -> None:
    assert _shows(parse(typed, KINDS), "", took=seconds) is shown


def test_what_has_not_started_is_neither_long_nor_short() -> None:
    assert not _shows(parse("took>0s", KINDS), "", took=None)
    assert not _shows(parse("took<9s", KINDS), "", took=None)


def test_a_term_that_cannot_be_understood_is_told_and_left_out() -> None:
    query = parse("took>abc state>x starts:2m word", KINDS)
    assert query.terms == (Term(None, ":", "word"),)
    assert len(query.problems) == 3
    assert "took>abc: not a duration" in query.problems[0]


def test_an_unknown_field_is_plain_text() -> None:
    assert _shows(parse("http://x", KINDS), "see http://x/y")


def test_a_term_that_is_still_being_typed_hides_nothing() -> None:
    assert parse("state:", KINDS) == Query()


@given(st.text(max_size=200))
def test_any_text_can_be_typed(text: str) -> None:
    query = parse(text, KINDS)
    assert len(query.terms) + len(query.problems) <= 32
    _shows(query, "anything", state="ready", took=1.0, starts=2.0)

"""Errors that are the same but for their details are one group."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolboard.engine.views import ChildRow, ControlView, Counts, RunView
from poolboard.journal.states import WorkState
from poolboard.tui.failures import Failures
from poolboard.tui.fingerprint import LIMIT, fingerprint, group_id

RUN = RunView("run-1", "survey", "failed", True, "/", 0, 0, 9, 1.0, Counts(), ControlView("running", 0), None, None)


def child(n: int, error: str | None, ended_at: int = 100, state: WorkState = "failed") -> ChildRow:
    return ChildRow(n, 0, "one", f"file {n}", 1, state, "parse", 0, 1, None, 0, 0, ended_at, error)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("ValueError: no 'id' in /data/7.json", "ValueError: no '…' in …"),
        ('KeyError: "a b/c"', 'KeyError: "…"'),
        ("stage parse: SyntaxError: bad (bom.py, line 12)", "stage parse: SyntaxError: bad (bom.py, line #)"),
        ("timeout after 3.5s of 10", "timeout after #s of #"),
        ("got https://example.org/x?y=1 (404)", "got … (#)"),
        ("object at 0x7f3a2b lost", "object at # lost"),
        ("item 123e4567-e89b-12d3-a456-426614174000 gone", "item # gone"),
        (r"cannot open C:\data\x.txt: denied", "cannot open …: denied"),
        ("worker_lost (signal 9)", "worker_lost (signal #)"),
        ("it doesn't work and won't", "it doesn't work and won't"),
        ("either/or is no path", "either/or is no path"),
        ("first line\nsecond line 7", "first line"),
        ("", "no message"),
    ],
)
def test_details_that_differ_from_child_to_child_are_left_out(error: str, words: str) -> None:
    assert fingerprint(error) == words


@given(st.text(max_size=2000))
def test_any_text_has_a_short_fingerprint_that_is_its_own(error: str) -> None:
    words = fingerprint(error)
    assert 0 < len(words) <= 2 * LIMIT
    assert "\n" not in words
    assert len(group_id(error)) == 6


def test_a_megabyte_of_quotes_is_looked_at_in_bounded_time() -> None:
    assert len(fingerprint("'" * 1_000_000)) <= 2 * LIMIT


def test_groups_are_counted_largest_first_and_the_first_to_fail_is_named() -> None:
    failures = Failures()
    failures.take([child(1, "ValueError: 1", 300), child(2, "ValueError: 22", 200), child(3, "OSError: x", 100)])
    failures.take([child(4, "ValueError: 333", 400), child(5, None, state="completed")])
    groups = failures.groups()
    assert [(one.words, one.failed, one.first.n, one.last_at, one.earliest) for one in groups] == [
        ("ValueError: #", 3, 2, 400, False),
        ("OSError: x", 1, 3, 100, True),
    ]
    assert (failures.total, len(failures)) == (4, 2)


def test_a_child_that_is_tried_again_leaves_its_group_and_the_next_one_is_first() -> None:
    failures = Failures()
    failures.take([child(1, "ValueError: 1", 100), child(2, "ValueError: 2", 200)])
    failures.take([child(1, None, state="ready")])
    assert [(one.failed, one.first.n) for one in failures.groups()] == [(1, 2)]
    failures.take([child(2, "OSError: new", 500)])
    assert [(one.words, one.failed) for one in failures.groups()] == [("OSError: new", 1)]
    failures.take([child(2, None, state="completed")])
    assert failures.groups() == [] and failures.total == 0


def test_the_report_names_the_run_the_first_child_and_says_what_it_leaves_out() -> None:
    failures = Failures()
    failures.take(child(n, f"ValueError: \x1b[31mbad {n}", 1000 + n) for n in range(1, 31))
    report = failures.report(failures.groups()[0], RUN)
    assert "30 children of run run-1 (survey) failed in one way" in report
    assert "First: #1 file 1, stage parse, 1 start" in report
    assert "#20 and 10 more" in report and "#21" not in report
    assert "poolboard logs run-1 1" in report
    assert "\x1b" not in report

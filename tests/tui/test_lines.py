"""Columns, lines, bars: what fits, what leaves first, what is never wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolboard.engine.views import Counts
from poolboard.tui.bar import legend, parts, spark, strip
from poolboard.tui.child_list import CHILD_COLUMNS
from poolboard.tui.columns import GAP, LEFT, RIGHT, place
from poolboard.tui.json_text import indent
from poolboard.tui.line import Piece, Sides, fitting, lay_out, taken
from poolboard.tui.run_list import short_ids
from poolboard.tui.tab_line import Tab, fit_tabs
from poolboard.tui.text import width


@given(st.integers(10, 300))
def test_columns_never_overlap_and_never_leave_the_screen(cells: int) -> None:
    placed = place(CHILD_COLUMNS, cells)
    x = LEFT
    for column in placed:
        assert column.x == x
        assert column.width >= 1
        x += column.width + GAP
    assert x - GAP <= cells - RIGHT


def test_on_a_narrow_terminal_the_child_and_its_time_stay() -> None:
    assert [one.column.id for one in place(CHILD_COLUMNS, 40)] == ["glyph", "n", "label", "took"]
    assert {"stage", "error"} <= {one.column.id for one in place(CHILD_COLUMNS, 80)}
    without_errors = [column for column in CHILD_COLUMNS if column.id != "error"]
    assert {"state", "stage"} <= {one.column.id for one in place(without_errors, 80)}
    assert len(place(CHILD_COLUMNS, 160)) == len(CHILD_COLUMNS)


@pytest.mark.parametrize("cells", [40, 80, 100, 160])
def test_the_child_has_more_room_than_any_other_column(cells: int) -> None:
    placed = place(CHILD_COLUMNS, cells)
    assert max(placed, key=lambda one: one.width).column.id == "label"


def test_a_line_drops_what_matters_least_and_cuts_names_in_the_middle() -> None:
    sides = Sides(
        [Piece("● running", keep=9), Piece("a-very-long-name-of-a-workflow-indeed", keep=8, elastic=True)],
        [Piece("elapsed 1m", keep=6), Piece("epoch 1", keep=1)],
    )
    assert [one.text for one in lay_out(sides, 120)][-1] == "epoch 1"
    narrow = [one.text for one in lay_out(sides, 42)]
    assert narrow == ["● running", "a-v…kflow-indeed", "elapsed 1m"]


def test_what_is_glued_to_a_piece_leaves_with_it() -> None:
    tabs = [
        Piece("1", keep=9),
        Piece(" children", keep=9, glued=True),
        Piece("2", keep=4),
        Piece(" workers", glued=True),
    ]
    assert [one.text for one in lay_out(Sides(tabs), 15)] == ["1", " children"]


pieces = st.lists(st.builds(Piece, st.text(max_size=30), keep=st.integers(0, 9), elastic=st.booleans()), max_size=6)


@given(pieces, pieces, st.integers(1, 100))
def test_a_line_never_runs_over_its_end(left: list[Piece], right: list[Piece], cells: int) -> None:
    x = 0
    for one in lay_out(Sides(left, right), cells):
        assert one.x >= x
        x = one.x + width(one.text)
    assert x <= cells


counts = st.builds(
    lambda ready, leased, waiting, completed, failed, cancelled: Counts(
        ready + leased + waiting + completed + failed + cancelled, ready, leased, waiting, completed, failed, cancelled
    ),
    *[st.integers(0, 100_000)] * 6,
)


@given(counts, st.integers(5, 200))
def test_a_bar_is_as_wide_as_asked_and_hides_no_failure(children: Counts, cells: int) -> None:
    drawn = parts(children, cells)
    assert sum(len(part.text) for part in drawn) == cells
    assert (children.failed > 0) == any(part.tone == "failed" for part in drawn)


def test_a_bar_is_full_only_when_nothing_is_left() -> None:
    assert "─" not in "".join(part.text for part in parts(Counts(3, completed=3), 10))
    assert "─" in "".join(part.text for part in parts(Counts(1000, ready=1, completed=999), 10))
    assert strip(Counts(1000, ready=1, completed=999), 10) == "━━━━━━━━━─"
    assert strip(Counts(), 4, ascii=True) == "----"


def test_the_words_beside_a_bar_leave_out_what_is_nothing() -> None:
    assert [part.text for part in legend(Counts(5, ready=1, completed=4))] == ["1 ready", "4 completed"]


def test_a_sparkline_needs_two_values_and_stands_on_zero() -> None:
    assert spark([3.0], 8) == ""
    assert spark([0.0, 0.0], 8) == ""
    assert spark([0.0, 5.0, 10.0], 8) == "▁▅█"
    assert spark([1.0] * 30, 8) == "█" * 8


def test_ids_are_as_short_as_tells_them_apart() -> None:
    assert short_ids(["abcdef1234", "abcdef9999", "zz"]) == {
        "abcdef1234": "abcdef1",
        "abcdef9999": "abcdef9",
        "zz": "zz",
    }


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            '{"a":[1,2.50,{"b":"x, {y}"}],"e":[]}',
            '{\n  "a": [\n    1,\n    2.50,\n    {\n      "b": "x, {y}"\n    }\n  ],\n  "e": []\n}',
        ),
        ("1e400", "1e400"),
        ('"text"', '"text"'),
        ("[NaN", "[\n  NaN"),
    ],
)
def test_json_is_laid_out_and_no_token_changes(text: str, shown: str) -> None:
    assert indent(text) == shown


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(json_values)
def test_laid_out_json_says_the_same(value: object) -> None:
    import json

    assert json.loads(indent(json.dumps(value))) == value


_TABS = [
    Tab(str(place), words, "", f"view_{place}")
    for place, words in enumerate(("children 2,000", "failures 2", "workers 2", "timeline", "prompts 1", "messages"), 1)
]


def test_a_column_takes_no_more_than_its_texts_so_that_others_are_not_cut() -> None:
    short = {one.column.id: one.width for one in place(CHILD_COLUMNS, 80, {"label": 4, "stage": 14, "state": 9})}
    long = {one.column.id: one.width for one in place(CHILD_COLUMNS, 80, {"label": 90, "stage": 14, "state": 9})}
    assert short["label"] == len("child") + 1 and short["stage"] >= 13
    assert "state" in short and "state" not in long, "what short names leave goes to other columns"
    assert long["label"] > 20
    assert place(CHILD_COLUMNS, 80, {"label": 90})[-1].x < 80


@given(st.integers(0, 5), st.integers(30, 120), st.sampled_from([None, 4]))
def test_tabs_fit_the_line_and_signs_say_that_there_are_more(here: int, cells: int, calling: int | None) -> None:
    pieces = fit_tabs(_TABS, here, cells, calling=calling)
    words = [piece.text for piece in pieces]
    assert taken(pieces) <= cells or words.count(" ") == 1 + (calling is not None and calling != here)
    assert _TABS[here].words in words
    named = [tab.words for tab in _TABS if tab.words in words]
    first, last = _TABS.index(next(tab for tab in _TABS if tab.words == named[0])), named[-1]
    assert ("‹" in words) == (first > 0)
    assert ("›" in words) or last == _TABS[-1].words
    if calling is not None and calling >= here:
        assert _TABS[calling].words in words, "what waits for a person is named, whatever is in front"


def test_of_one_end_of_a_line_the_least_wanted_leaves_first() -> None:
    pieces = [Piece("reading…", keep=6), Piece("2,000 in all", keep=7), Piece("by state ▲", keep=3)]
    assert [one.text for one in fitting(pieces, 26)] == ["reading…", "2,000 in all"]
    assert [one.text for one in fitting(pieces, 3)] == ["2,000 in all"], "one always stays"

"""The rows behind a list: order, filter, cursor and marks while everything moves."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poolboard.tui.query import parse
from poolboard.tui.rows import Rows
from poolboard.tui.shape import Shape


class Job(NamedTuple):
    n: int
    name: str
    state: str = "ready"
    started_at: int | None = None
    ended_at: int | None = None


def _took(row: Job, now_ms: int | None) -> float | None:
    end = row.ended_at if row.ended_at is not None else now_ms
    return None if row.started_at is None or end is None else (end - row.started_at) / 1000


SHAPE: Shape[Job] = Shape(
    key=lambda row: row.n,
    text=lambda row: row.name,
    fields={"state": lambda row, _: row.state, "took": _took},
    kinds={"state": "text", "took": "duration"},
    live=lambda row: row.started_at is not None and row.ended_at is None,
)


def rows_of(*jobs: Job, follow_top: bool = False) -> Rows[Job]:
    rows = Rows(SHAPE, follow_top=follow_top)
    rows.upsert(jobs)
    rows.settle(0)
    return rows


def shown(rows: Rows[Job]) -> list[int]:
    return [int(key) for key in rows.keys(0, len(rows))]


def only(text: str, rows: Rows[Job]) -> None:
    rows.filter_by(parse(text, SHAPE.kinds))


def by_state(row: Job, now_ms: int | None) -> str:
    return row.state


def many(count: int) -> list[Job]:
    return [Job(n, f"job {n}") for n in range(1, count + 1)]


def test_rows_come_in_any_order_and_stand_by_their_number() -> None:
    assert shown(rows_of(Job(3, "c"), Job(1, "a"), Job(2, "b"))) == [1, 2, 3]


def test_a_whole_list_keeps_its_own_order_and_forgets_what_left_it() -> None:
    rows = Rows(SHAPE)
    rows.replace([Job(3, "c"), Job(1, "a"), Job(2, "b")])
    rows.settle(0)
    rows.toggle_mark(1)
    rows.toggle_mark(2)
    assert shown(rows) == [3, 1, 2]
    rows.replace([Job(2, "b"), Job(3, "c")])
    rows.settle(0)
    assert shown(rows) == [2, 3]
    assert rows.marks == {2}


def test_nothing_moves_before_it_is_settled() -> None:
    rows = rows_of(Job(1, "a"))
    rows.upsert([Job(2, "b")])
    assert shown(rows) == [1]
    assert rows.settle(0).moved
    assert shown(rows) == [1, 2]


def test_the_same_row_again_is_no_change() -> None:
    rows = rows_of(Job(1, "a"))
    assert rows.upsert([Job(1, "a")]) == 0
    assert rows.settle(0) == rows.settle(0)
    assert not rows.settle(0).dirty


def test_a_change_that_does_not_move_the_row_only_makes_it_dirty() -> None:
    rows = rows_of(*many(5))
    rows.upsert([Job(3, "renamed")])
    settled = rows.settle(0)
    assert not settled.moved
    assert settled.dirty == {3}


@pytest.mark.parametrize("count", [100, 10_000])
def test_a_delta_looks_at_its_own_rows_whatever_the_number_of_the_others(count: int) -> None:
    """No quiet regressions: rows that the filter reads for each row of a delta."""
    read: list[int] = []

    def state(row: Job, now_ms: int | None) -> str:
        read.append(row.n)
        return row.state

    rows = Rows(replace(SHAPE, fields={**SHAPE.fields, "state": state}))
    rows.upsert(many(count))
    only("state:ready", rows)
    rows.settle(0)
    read.clear()
    rows.upsert([Job(n, "changed") for n in (3, 5, 8)])
    assert rows.settle(0).dirty == {3, 5, 8}
    assert sorted(read) == [3, 5, 8]


def test_a_filter_follows_the_rows_that_change() -> None:
    rows = rows_of(Job(1, "a", "failed"), Job(2, "b"), Job(3, "c"))
    only("state:failed", rows)
    rows.settle(0)
    assert (shown(rows), rows.total) == ([1], 3)
    rows.upsert([Job(3, "c", "failed"), Job(1, "a", "ready")])
    rows.settle(0)
    assert shown(rows) == [3]


def test_a_filter_by_time_lets_rows_in_as_they_grow_old() -> None:
    rows = rows_of(Job(1, "a", started_at=0), Job(2, "b", started_at=4_000))
    only("took>5s", rows)
    rows.settle(4_500)
    assert shown(rows) == []
    rows.settle(6_000)
    assert shown(rows) == [1]


def test_an_order_by_time_moves_as_time_goes_by() -> None:
    rows = rows_of(Job(1, "ended", started_at=0, ended_at=5_000), Job(2, "going", started_at=2_000))
    rows.sort_by("took", lambda row, now: _took(row, now) or 0.0, reverse=True, timed=True)
    rows.settle(4_000)
    assert shown(rows) == [1, 2]
    rows.settle(9_000)
    assert shown(rows) == [2, 1]


def test_the_cursor_stays_on_its_row_when_the_order_turns() -> None:
    rows = rows_of(*many(300))
    rows.move_to(149)
    assert rows.cursor == 150
    rows.sort_by("state", by_state, reverse=True)
    rows.settle(0)
    assert rows.cursor == 150
    assert rows.index_of(150) == 150


def test_thirty_rows_leave_above_and_the_cursor_still_names_the_same_child() -> None:
    """B46, what stands above moves."""
    rows = rows_of(*many(300))
    only("state:ready", rows)
    rows.settle(0)
    rows.move_to(149)
    rows.upsert([Job(n, f"job {n}", "completed") for n in range(10, 40)])
    rows.settle(0)
    assert rows.cursor == 150
    assert rows.index_of(150) == 119


def test_the_last_row_leaves_and_the_row_before_it_has_the_cursor() -> None:
    """B46, what is looked at leaves."""
    rows = rows_of(*many(5))
    only("state:ready", rows)
    rows.settle(0)
    rows.move_to(4)
    rows.upsert([Job(5, "job 5", "completed")])
    rows.settle(0)
    assert rows.cursor == 4


@pytest.mark.parametrize("reverse", [False, True])
def test_a_row_in_the_middle_leaves_and_its_successor_has_the_cursor(reverse: bool) -> None:
    rows = rows_of(*many(5))
    rows.sort_by("name", lambda row, _: row.name, reverse=reverse)
    only("state:ready", rows)
    rows.settle(0)
    rows.move_to(2)
    rows.upsert([Job(3, "job 3", "completed")])
    rows.settle(0)
    assert rows.cursor == (2 if reverse else 4)


def test_a_filter_that_hides_everything_keeps_the_place_for_when_it_goes() -> None:
    rows = rows_of(*many(5))
    rows.move_to(3)
    only("nothing-like-this", rows)
    rows.settle(0)
    assert rows.index_of(rows.cursor) is None
    only("", rows)
    rows.settle(0)
    assert rows.cursor == 4


def test_an_untouched_cursor_follows_the_top_and_a_moved_one_its_row() -> None:
    rows = rows_of(*many(5), follow_top=True)
    rows.sort_by("state", by_state)
    rows.upsert([Job(4, "job 4", "failed")])
    rows.settle(0)
    assert rows.cursor == 4
    rows.move_to(1)
    assert rows.cursor == 1
    rows.upsert([Job(5, "job 5", "failed")])
    rows.settle(0)
    assert rows.cursor == 1
    rows.to_top()
    rows.upsert([Job(2, "job 2", "broken")])
    rows.settle(0)
    assert rows.cursor == 2


def test_numbers_beside_a_list_say_how_much_of_it_is_shown() -> None:
    rows = rows_of(*many(7))
    only("!job", rows)
    rows.settle(0)
    assert (len(rows), rows.total) == (0, 7)


states = st.sampled_from(["ready", "leased", "failed", "completed"])
changes = st.lists(st.lists(st.tuples(st.integers(1, 60), states), max_size=90), max_size=6)


@settings(max_examples=60, deadline=None)
@given(changes, st.booleans(), st.sampled_from(["", "state:failed", "!state:ready"]))
def test_settling_bit_by_bit_ends_where_sorting_all_at_once_does(
    steps: list[list[tuple[int, str]]], reverse: bool, text: str
) -> None:
    bit_by_bit = Rows(SHAPE)
    at_once = Rows(SHAPE)
    for rows in (bit_by_bit, at_once):
        rows.sort_by("state", by_state, reverse=reverse)
        only(text, rows)
    for step in steps:
        jobs = [Job(n, f"job {n}", state) for n, state in step]
        bit_by_bit.upsert(jobs)
        at_once.upsert(jobs)
        bit_by_bit.settle(0)
    at_once.settle(0)
    assert shown(bit_by_bit) == shown(at_once)
    for index, n in enumerate(shown(bit_by_bit)):
        assert bit_by_bit.index_of(n) == index
    if len(bit_by_bit):
        assert bit_by_bit.index_of(bit_by_bit.cursor) is not None

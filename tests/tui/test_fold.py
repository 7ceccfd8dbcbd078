"""A folded list: groups with counts that open and close, while rows come, change and leave."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

import pytest

from poolboard.tui.fold import Group, GroupKey, by_name
from poolboard.tui.query import parse
from poolboard.tui.rows import Rows
from poolboard.tui.shape import FoldBy, Shape


class Job(NamedTuple):
    n: int
    state: str
    weight: int = 0


BY_STATE: FoldBy[Job] = by_name("state", lambda row: row.state)
SHAPE: Shape[Job] = Shape(
    key=lambda row: row.n,
    text=lambda row: f"job {row.n} {row.state}",
    fields={"state": lambda row, _: row.state},
    kinds={"state": "text"},
    live=lambda row: False,
    folds=(BY_STATE,),
)


def folded(*jobs: Job) -> Rows[Job]:
    rows = Rows[Job](SHAPE)
    rows.upsert(jobs)
    rows.fold_by(BY_STATE)
    rows.settle(None)
    return rows


def lines(rows: Rows[Job]) -> list[str]:
    """Return the view as a person reads it: a group with its count, or a row."""
    shown = []
    for key in rows.keys(0, len(rows)):
        group = rows.group(key)
        shown.append(f"{group.label} {group.amount}" if group else f"  {key}")
    return shown


JOBS = (Job(1, "failed"), Job(2, "ready"), Job(3, "failed"), Job(4, "done"))


def test_groups_are_closed_at_first_and_tell_how_many_there_are() -> None:
    rows = folded(*JOBS)
    assert lines(rows) == ["done 1", "failed 2", "ready 1"]
    assert rows.matching == rows.total == 4
    assert rows.group(GroupKey("failed")) == Group("failed", 2, False)


def test_an_open_group_shows_its_rows_below_its_line_in_either_order() -> None:
    rows = folded(*JOBS)
    rows.toggle_fold(GroupKey("failed"))
    rows.settle(None)
    assert lines(rows) == ["done 1", "failed 2", "  1", "  3", "ready 1"]
    rows.sort_by("n", lambda row, _: row.n, reverse=True)
    rows.settle(None)
    assert lines(rows) == ["ready 1", "failed 2", "  3", "  1", "done 1"]


def test_a_row_that_changes_moves_to_its_new_group_and_an_empty_group_leaves() -> None:
    rows = folded(*JOBS)
    rows.upsert([Job(2, "done"), Job(5, "new")])
    rows.settle(None)
    assert lines(rows) == ["done 2", "failed 2", "new 1"]
    rows.remove([5])
    rows.settle(None)
    assert lines(rows) == ["done 2", "failed 2"]


def test_closing_a_group_leaves_the_cursor_on_its_line() -> None:
    rows = folded(*JOBS)
    rows.toggle_fold(GroupKey("failed"))
    rows.settle(None)
    rows.move_to(3)
    assert str(rows.cursor) == "3"
    rows.toggle_fold(rows.cursor)
    rows.settle(None)
    assert rows.cursor == GroupKey("failed") and lines(rows) == ["done 1", "failed 2", "ready 1"]


def test_a_row_under_the_cursor_that_goes_to_a_closed_group_leaves_the_cursor_on_a_line_that_is_there() -> None:
    rows = folded(*JOBS)
    rows.toggle_fold(GroupKey("failed"))
    rows.settle(None)
    rows.move_to(2)
    rows.upsert([Job(1, "done")])
    rows.settle(None)
    assert rows.cursor == GroupKey("done")


def test_a_filter_counts_what_it_lets_through_and_unfolding_shows_every_row() -> None:
    rows = folded(*JOBS)
    rows.filter_by(parse("!state:ready", SHAPE.kinds))
    rows.settle(None)
    assert lines(rows) == ["done 1", "failed 2"] and rows.matching == 3
    rows.fold_by(None)
    rows.settle(None)
    assert lines(rows) == ["  1", "  3", "  4"] and rows.matching == 3


def test_marking_a_group_marks_its_rows_and_marking_all_marks_closed_groups_too() -> None:
    rows = folded(*JOBS)
    rows.toggle_mark(GroupKey("failed"))
    assert rows.marks == {1, 3}
    rows.toggle_mark(GroupKey("failed"))
    assert rows.marks == set()
    rows.mark_all()
    assert rows.marks == {1, 2, 3, 4}


@pytest.mark.parametrize("seed", range(5))
def test_a_thousand_changes_end_where_folding_anew_would(seed: int) -> None:
    random = Random(seed)
    states = ("ready", "leased", "failed", "done")
    rows = folded()
    rows.sort_by("weight", lambda row, _: row.weight, reverse=bool(seed % 2))
    now: dict[int, Job] = {}
    for _ in range(200):
        for _ in range(random.choice((1, 5, 90))):
            job = Job(random.randrange(120), random.choice(states), random.randrange(10))
            now[job.n] = job
            rows.upsert([job])
        if random.random() < 0.1:
            rows.toggle_fold(GroupKey(random.choice(states)))
        rows.settle(None)
        open_ones = {str(key) for key in rows.keys(0, len(rows)) if (group := rows.group(key)) and group.is_open}
        fresh = Rows[Job](SHAPE)
        fresh.sort_by("weight", lambda row, _: row.weight, reverse=rows.reverse)
        fresh.fold_by(BY_STATE)
        fresh.upsert(now.values())
        fresh.settle(None)
        for state in open_ones:
            fresh.toggle_fold(GroupKey(state))
        fresh.settle(None)
        assert lines(rows) == lines(fresh)

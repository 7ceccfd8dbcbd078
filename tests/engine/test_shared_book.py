"""The file of limits that all runs of a user share: who is in, who is next, and what the dead held."""

from __future__ import annotations

from pathlib import Path

import pytest

from poolboard.engine.admission_events import ClaimId
from poolboard.engine.limit_spec import parse_limits
from poolboard.engine.shared_book import Ask, SharedBook
from poolboard.journal.driver import connect, sqlite


class People:
    """Runs that share one file; ``dead`` are the processes that are gone."""

    def __init__(self, folder: Path, boot: str = "boot 1") -> None:
        self.path, self.boot = folder / "state" / "limits.sqlite", boot
        self.dead: set[str] = set()

    def book(self, run_id: str) -> SharedBook:
        return SharedBook(self.path, run_id, alive=lambda holder: holder not in self.dead, boot=self.boot)


def ask(n: int, holder: str = "w", **needs: int) -> list[Ask]:
    return [Ask(ClaimId(n, 1, 0), tuple(needs.items()), holder)]


@pytest.fixture
def people(tmp_path: Path) -> People:
    return People(tmp_path)


def both(people: People, **limits: int | str) -> tuple[SharedBook, SharedBook]:
    one, two = people.book("run-one-xxxx"), people.book("run-two-xxxx")
    for book in (one, two):
        book.declare(parse_limits(limits).values(), 0.0)
    return one, two


def test_what_one_run_holds_another_waits_for_and_is_told_who_has_it(people: People) -> None:
    one, two = both(people, gpu=1)
    assert one.take(ask(7, gpu=1), 0.0) == [None]
    assert two.take(ask(1, gpu=1), 0.1) == ["1 of 1, shared by all runs, in use by child 7 of run run-one-"]
    one.give_back([ClaimId(7, 1, 0)])
    assert two.take(ask(1, gpu=1), 0.2) == [None]


def test_runs_take_turns_so_that_a_run_of_a_thousand_children_shuts_nobody_out(people: People) -> None:
    one, two = both(people, gpu=1)
    one.take(ask(1, gpu=1), 0.0)
    two.take(ask(1, gpu=1), 0.1)
    one.take(ask(2, gpu=1), 0.2)
    one.give_back([ClaimId(1, 1, 0)])
    assert one.take(ask(2, gpu=1), 0.3) == ["run run-two- asked for gpu first"]
    assert two.take(ask(1, gpu=1), 0.4) == [None]
    two.take(ask(2, gpu=1), 0.5)
    two.give_back([ClaimId(1, 1, 0)])
    assert one.take(ask(2, gpu=1), 0.6) == [None]


def test_a_run_that_does_not_ask_any_more_or_withdrew_holds_nobody_up(people: People) -> None:
    one, two = both(people, gpu=1)
    one.take(ask(1, gpu=1), 0.0)
    two.take(ask(1, gpu=1), 0.1)
    one.take(ask(2, gpu=1), 0.2)
    one.give_back([ClaimId(1, 1, 0)])
    assert one.take(ask(2, gpu=1), 60.0) == [None]
    one.give_back([ClaimId(2, 1, 0)])
    one.take(ask(3, gpu=1), 60.0)
    two.take(ask(1, gpu=1), 60.1)
    two.withdraw()
    one.give_back([ClaimId(3, 1, 0)])
    assert one.take(ask(4, gpu=1), 60.2) == [None]


def test_the_dead_give_back_what_they_held(people: People) -> None:
    one, two = both(people, gpu=2)
    one.take(ask(1, "worker 1", gpu=1), 0.0)
    one.take(ask(2, "worker 2", gpu=1), 0.0)
    people.dead.add("worker 1")
    assert two.take(ask(1, gpu=1), 0.1) == [None]
    assert two.take(ask(2, gpu=1), 0.1) == ["2 of 2, shared by all runs, in use by child 2 of run run-one- and child 1"]


def test_a_worker_that_comes_back_to_a_new_coordinator_keeps_what_it_says_and_nothing_else(people: People) -> None:
    one, two = both(people, gpu=2)
    one.take(ask(1, "worker 1", gpu=1), 0.0)
    one.take(ask(2, "worker 1", gpu=1), 0.0)
    people.book("run-one-xxxx").keep("worker 1", [ClaimId(1, 1, 0)])
    assert [hold.n for hold in two.others(["gpu"], 0.1)[1]["gpu"]] == [1]


def test_it_is_all_or_nothing_here_too(people: People) -> None:
    one, two = both(people, gpu=1, disk=1)
    one.take(ask(1, disk=1), 0.0)
    assert two.take(ask(1, gpu=1, disk=1), 0.1) != [None]
    assert two.others(["gpu"], 0.1)[1]["gpu"] == one.others(["gpu"], 0.1)[1]["gpu"] == []


def test_a_shared_rate_counts_all_runs_together_and_a_429_is_for_all(people: People) -> None:
    one, two = both(people, api="1/s")
    assert one.take(ask(1, api=1), 0.0) == [None]
    assert two.take(ask(1, api=1), 0.5) == ["1/s, shared by all runs, is used up"]
    assert two.take(ask(1, api=1), 1.0) == [None]
    one.slow_down("api", 30.0, 1.0)
    assert two.take(ask(2, api=1), 20.0) == ["api is to be left alone for 10 s more, as a service said"]
    assert two.take(ask(2, api=1), 30.0) == [None]


def test_after_a_boot_no_time_of_before_counts(people: People) -> None:
    one, _ = both(people, api="1/s")
    one.slow_down("api", 1e9, 0.0)
    people.boot = "boot 2"
    assert people.book("run-three").take(ask(1, api=1), 0.0) == [None]


def test_who_says_the_size_last_says_it_for_all(people: People) -> None:
    one, two = both(people, gpu=1)
    one.declare(parse_limits({"gpu": "3 shared"}).values(), 0.0)
    assert [spec.most for spec in two.others(["gpu"], 0.0)[0]] == [3]


def test_the_file_is_private_and_one_of_a_newer_version_is_not_touched(people: People) -> None:
    one, _ = both(people, gpu=1)
    assert people.path.stat().st_mode & 0o777 == 0o600
    assert people.path.parent.stat().st_mode & 0o777 == 0o700
    connection = connect(people.path, readonly=False)
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    one.close()
    with pytest.raises(sqlite.DatabaseError, match="version 2, this Poolboard knows 1"):
        one.take(ask(1, gpu=1), 0.0)

"""What is held back inside a run, how a part of it is cancelled, and which failures are tried again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from poolboard.journal import queue
from poolboard.journal.model import NewWork
from poolboard.journal.states import IllegalMove

if TYPE_CHECKING:
    from tests.journal.conftest import StartedRun


async def test_a_hold_is_found_by_a_successor_with_who_and_why(run: StartedRun) -> None:
    assert await run.do(queue.set_holds, "stage", ["fetch"], True, "ann", "the server is down") == ["fetch"]
    assert await run.do(queue.set_holds, "child", ["3", "4"], True, "ann", None) == ["3", "4"]
    found = await run.journal.reader.holds(1)
    assert [(hold.scope, hold.name, hold.who, hold.why) for hold in found] == [
        ("child", "3", "ann", None),
        ("child", "4", "ann", None),
        ("stage", "fetch", "ann", "the server is down"),
    ]


async def test_the_same_hold_again_is_no_news_and_keeps_who_came_first(run: StartedRun) -> None:
    await run.do(queue.set_holds, "stage", ["fetch"], True, "ann", None)
    seq = (await run.row()).last_seq
    assert await run.do(queue.set_holds, "stage", ["fetch"], True, "bob", None) == []
    assert (await run.row()).last_seq == seq
    assert [hold.who for hold in await run.journal.reader.holds(1)] == ["ann"]


async def test_every_change_of_a_hold_is_an_event(run: StartedRun) -> None:
    await run.do(queue.set_holds, "child", ["3", "4"], True, "ann", "\udcff")
    await run.do(queue.set_holds, "child", ["4", "5"], False, "bob", None)
    told = [json.loads(e.event.payload) for e in await run.journal.reader.events(1, 0, 100, types=["HoldChanged"])]
    assert [(one["held"], one["names"], one["by"], one["why"]) for one in told] == [
        (True, ["3", "4"], "ann", "?"),
        (False, ["4"], "bob", None),
    ]
    assert [hold.name for hold in await run.journal.reader.holds(1)] == ["3"]


async def test_an_ended_run_holds_nothing_back(run: StartedRun) -> None:
    await run.do(queue.finish_run, "failed", None, "x")
    with pytest.raises(IllegalMove, match="has ended"):
        await run.do(queue.set_holds, "stage", ["fetch"], True, None, None)


async def test_a_child_is_cancelled_with_everything_below_it_at_once(run: StartedRun) -> None:
    above = await run.claimed_child("above")
    await run.enqueue(run.child("beside"))
    below = await run.do(queue.enqueue, above, [NewWork("x", "w", "l", "{}", 2), NewWork("y", "w", "l", "{}", 2)])
    assert await run.do(queue.cancel_tree, above.n, "ann", "wrong file") == [above.n, *(each.n for each in below)]
    row = await run.row()
    assert (row.cancelled, row.ready, row.leased) == (3, 1, 0)
    [told] = await run.journal.reader.events(1, 0, 100, types=["WorkCancelled"])
    assert json.loads(told.event.payload) == {"count": 3, "by": "ann", "why": "wrong file"}
    assert await run.do(queue.cancel_tree, above.n, "ann", None) == []


async def test_only_the_chosen_failures_are_tried_again(run: StartedRun) -> None:
    for key in "abc":
        token = await run.claimed_child(key)
        await run.do(queue.fail, token, "no", "{}")
    assert await run.do(queue.retry_failed, [1, 3, 99], "ann", "mended") == [1, 3]
    assert [(await run.journal.reader.work(1, n)).state for n in (1, 2, 3)] == ["ready", "failed", "ready"]
    [told] = await run.journal.reader.events(1, 0, 100, types=["WorkRetried"])
    assert json.loads(told.event.payload) == {"count": 2, "failed": [1, 3], "by": "ann", "why": "mended"}


async def test_a_pause_can_become_a_stop_and_letting_go_ends_both(run: StartedRun) -> None:
    await run.do(queue.set_holds, "child", ["3"], True, "ann", None)
    assert await run.do(queue.set_holds, "child", ["3"], True, "bob", None, cut=True) == ["3"]
    assert await run.do(queue.set_holds, "child", ["3"], True, "bob", None, cut=True) == []
    assert [(hold.name, hold.who, hold.cut) for hold in await run.journal.reader.holds(1)] == [("3", "ann", True)]
    assert await run.do(queue.set_holds, "child", ["3"], False, "bob", None) == ["3"]
    await run.do(queue.set_holds, "child", ["3"], True, "ann", None)
    assert [hold.cut for hold in await run.journal.reader.holds(1)] == [False]

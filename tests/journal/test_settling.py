"""How work ends, what a late word gets, and how failed work comes back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from poolboard.journal import queue
from poolboard.journal.errors import IdentityConflict, Refused, RootNotRunning, StaleWorkLease
from poolboard.journal.model import Token
from poolboard.journal.states import WORK_MOVES, WORK_STATES, WorkState

if TYPE_CHECKING:
    from tests.journal.conftest import StartedRun


async def test_a_completed_child_has_a_result_and_no_lease(run: StartedRun) -> None:
    token = await run.claimed_child()
    receipt = await run.do(queue.complete, token, '{"lines": 3}')
    row = await run.journal.reader.work(1, 1)
    assert (row.state, row.worker, row.error) == ("completed", "w1", None)
    assert row.ended_at == receipt.at
    assert await run.journal.reader.results(1, [1]) == {1: ("completed", '{"lines": 3}', None)}


async def test_completing_again_with_the_same_result_gets_the_same_receipt(run: StartedRun) -> None:
    """Catalogue Q9."""
    token = await run.claimed_child()
    receipt = await run.do(queue.complete, token, "1")
    await run.sql("UPDATE work SET expires_at = 1")
    assert await run.do(queue.complete, token, "1") == receipt
    with pytest.raises(IdentityConflict, match=r"^Pool result identity mismatch"):
        await run.do(queue.complete, token, "2")
    assert (await run.journal.reader.results(1, [1]))[1][1] == "1"
    assert (await run.row()).completed == 1


async def test_a_failed_child_keeps_one_line_and_the_whole_story(run: StartedRun) -> None:
    token = await run.claimed_child()
    story = json.dumps({"type": "ValueError", "traceback": "line 1\nline 2"})
    receipt = await run.do(queue.fail, token, "ValueError: two\nlines\tand \x1b[31m more", story)
    assert await run.do(queue.fail, token, "ValueError: …", story) == receipt
    row = await run.journal.reader.work(1, 1)
    assert (row.state, row.error) == ("failed", "ValueError: two lines and \x1b[31m more")
    failure = await run.journal.reader.failure(1, 1)
    assert failure is not None
    assert (failure.seq, failure.event.payload) == (receipt.seq, story)
    assert await run.journal.reader.failure(1, 0) is None
    with pytest.raises(IdentityConflict):
        await run.do(queue.fail, token, "x", '{"another": "story"}')


async def test_an_endless_error_line_is_cut_and_a_broken_one_is_mended(run: StartedRun) -> None:
    token = await run.claimed_child()
    await run.do(queue.fail, token, "\udcff" + "x" * 100_000, "{}")
    error = (await run.journal.reader.work(1, 1)).error
    assert error is not None
    assert (error[:2], error[-1], len(error)) == ("?x", "…", 500)


async def test_a_lost_workers_child_is_failed_from_wherever_it_is(run: StartedRun) -> None:
    waiting = await run.claimed_child("waiting")
    await run.do(queue.wait, waiting)
    released = await run.claimed_child("ready")
    await run.do(queue.release, released, give_start_back=False)
    leased = await run.claimed_child("of an older epoch")
    run.lease = await run.journal.acquire_lease("run-1", "coordinator 2", if_epoch=1)
    for token in (waiting, Token(released.n, 1, "", 2), leased):
        await run.do(queue.fail, token, "worker_lost (signal 9)", "{}")
    row = await run.row()
    assert (row.failed, row.ready, row.leased, row.waiting) == (3, 0, 0, 0)


async def test_the_attempt_that_was_replaced_can_end_nothing(run: StartedRun) -> None:
    old = await run.claimed_child()
    await run.do(queue.release, old, give_start_back=False)
    new = await run.claim(1, "w2")
    for verb, values in ((queue.complete, ("1",)), (queue.fail, ("line", "{}"))):
        with pytest.raises(StaleWorkLease):
            await run.do(verb, old, *values)
    await run.do(queue.complete, new, "1")
    with pytest.raises(StaleWorkLease):
        await run.do(queue.fail, new, "line", "{}")


async def test_a_waiting_child_keeps_its_attempt_and_gives_only_its_slot(run: StartedRun) -> None:
    token = await run.claimed_child()
    await run.do(queue.wait, token)
    assert ((await run.row()).waiting, (await run.row()).leased) == (1, 0)
    with pytest.raises(Refused):
        await run.do(queue.wait, token)
    with pytest.raises(Refused):
        await run.do(queue.complete, token, "1")
    await run.do(queue.wake, token)
    await run.do(queue.complete, token, "1")
    assert (await run.journal.reader.work(1, 1)).generation == 1


async def test_cancelled_work_is_never_touched_again(run: StartedRun) -> None:
    token = await run.claimed_child()
    await run.do(queue.cancel, 1)
    for ended in (
        run.do(queue.complete, token, "1"),
        run.do(queue.fail, token, "line", "{}"),
        run.do(queue.cancel, 1),
        run.do(queue.release, token, give_start_back=False),
        run.do(queue.wake, token),
        run.do(queue.adopt, token),
        run.do(queue.cancel, 99),
    ):
        with pytest.raises(Refused):
            await ended
    assert (await run.journal.reader.work(1, 1)).state == "cancelled"
    assert await run.do(queue.retry_failed) == []


async def test_retrying_takes_up_the_failed_children_and_only_those(run: StartedRun) -> None:
    for n in range(1, 7):
        token = await run.claimed_child(f"key {n}")
        if n % 2:
            await run.do(queue.fail, token, "line", "{}")
        else:
            await run.do(queue.complete, token, "1")
    assert await run.do(queue.retry_failed) == [1, 3, 5]
    row = await run.row()
    assert (row.ready, row.failed, row.completed) == (3, 0, 3)
    again = await run.journal.reader.work(1, 3)
    assert (again.state, again.starts, again.error, again.ended_at) == ("ready", 0, None, None)
    token = await run.claim(3)
    assert token.generation == 2
    await run.do(queue.fail, token, "again", '{"second": true}')
    failure = await run.journal.reader.failure(1, 3)
    assert failure is not None and failure.event.payload == '{"second": true}'
    await run.do(queue.set_control, "stopped", "me", None)
    with pytest.raises(RootNotRunning):
        await run.do(queue.retry_failed)


async def test_the_root_settles_as_a_row_but_does_not_count_or_end_the_run(run: StartedRun) -> None:
    await run.do(queue.complete, run.root, '"done"')
    row = await run.row()
    assert (row.total, row.status) == (0, "pending")
    assert await run.journal.reader.results(1, [0]) == {0: ("completed", '"done"', None)}


async def brought_to(run: StartedRun, state: WorkState) -> Token:
    token = await run.claimed_child()
    if state == "ready":
        await run.do(queue.release, token, give_start_back=False)
    elif state == "waiting":
        await run.do(queue.wait, token)
    elif state == "completed":
        await run.do(queue.complete, token, "1")
    elif state == "failed":
        await run.do(queue.fail, token, "line", '{"first": 1}')
    elif state == "cancelled":
        await run.do(queue.cancel, 1)
    return token


@pytest.mark.parametrize("state", WORK_STATES)
@pytest.mark.parametrize("verb", ["wait", "wake", "release", "complete", "fail", "cancel"])
async def test_every_move_that_the_table_does_not_hold_is_refused_and_changes_nothing(
    run: StartedRun, verb: str, state: WorkState
) -> None:
    token = await brought_to(run, state)
    before = await run.journal.reader.work(1, 1), await run.row()
    values: dict[str, tuple[object, ...]] = {"complete": (token, "2"), "fail": (token, "x", '{"y": 2}'), "cancel": (1,)}
    named = {"give_start_back": False} if verb == "release" else {}
    move = run.do(getattr(queue, verb), *values.get(verb, (token,)), **named)
    if state in WORK_MOVES[verb] and not (verb == "fail" and state == "ready"):
        await move
        assert (await run.journal.reader.work(1, 1)).state == WORK_MOVES[verb][state]
        return
    with pytest.raises(Refused):
        await move
    after = await run.journal.reader.work(1, 1), await run.row()
    assert after[0] == before[0]
    assert (after[1].changed, after[1].last_seq) == (before[1].changed, before[1].last_seq)

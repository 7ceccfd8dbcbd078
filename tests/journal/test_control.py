"""The run as a whole: wishes, status, and elapsed time that leaves pauses out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from poolboard.journal import queue
from poolboard.journal.errors import BadPayload, IdentityConflict, Refused
from poolboard.journal.model import WorkerRow
from poolboard.journal.states import CONTROL_MOVES, CONTROL_STATES, TERMINAL_RUN, ControlState, IllegalMove, RunStatus

if TYPE_CHECKING:
    from tests.journal.conftest import StartedRun

#: A way into each control state from the start.
WAYS: dict[ControlState, list[ControlState]] = {
    "running": [],
    "pausing": ["pausing"],
    "paused": ["pausing", "paused"],
    "stopping": ["stopping"],
    "stopped": ["stopping", "stopped"],
}


async def test_a_wish_is_kept_with_who_and_why_and_told_as_an_event(run: StartedRun) -> None:
    assert await run.do(queue.set_control, "pausing", "ann", "lunch") == ("pausing", 2)
    row = await run.row()
    assert (row.control, row.control_revision, row.control_by, row.control_why) == ("pausing", 2, "ann", "lunch")
    [entry] = await run.journal.reader.events(1, 0, 10, types=["ControlChanged"])
    assert json.loads(entry.event.payload) == {"state": "pausing", "revision": 2, "by": "ann", "why": "lunch"}


async def test_the_same_wish_again_changes_nothing(run: StartedRun) -> None:
    assert await run.do(queue.set_control, "running", "ann", None) == ("running", 1)
    await run.do(queue.set_control, "pausing", "ann", None)
    before = await run.row()
    assert await run.do(queue.set_control, "pausing", "bob", "me too") == ("pausing", 2)
    after = await run.row()
    assert (after.control_by, after.last_seq, after.changed) == ("ann", before.last_seq, before.changed)


@pytest.mark.parametrize("before", CONTROL_STATES)
@pytest.mark.parametrize("after", CONTROL_STATES)
async def test_control_moves_as_its_table_says(run: StartedRun, before: ControlState, after: ControlState) -> None:
    for state in WAYS[before]:
        await run.do(queue.set_control, state, "me", None)
    row = await run.row()
    if after == before or after in CONTROL_MOVES[before]:
        assert (await run.do(queue.set_control, after, "me", None))[0] == after
        return
    with pytest.raises(IllegalMove):
        await run.do(queue.set_control, after, "me", None)
    assert ((await run.row()).control, (await run.row()).last_seq) == (row.control, row.last_seq)


async def pass_time(run: StartedRun, by_ms: int) -> None:
    """Let the run's clock be further along, as if that much time had passed since it was last started."""
    await run.sql("UPDATE runs SET active_since = active_since - ?", by_ms)
    await run.sql("UPDATE events SET at = at - ?", by_ms)


async def test_elapsed_time_leaves_pauses_out(run: StartedRun) -> None:
    await run.do(queue.set_status, "running")
    started = (await run.row()).started_at
    assert started is not None
    await pass_time(run, 10_000)
    await run.do(queue.set_status, "pausing")
    await run.do(queue.set_status, "paused")
    paused = await run.row()
    assert paused.active_since is None
    assert 10_000 <= paused.active_ms < 70_000
    await run.sql("UPDATE runs SET started_at = started_at - 3600000")  # an hour in the pause
    await run.do(queue.set_status, "running")
    resumed = await run.row()
    assert (resumed.active_ms, resumed.started_at) == (paused.active_ms, started - 3_600_000)
    await pass_time(run, 5_000)
    await run.do(queue.finish_run, "completed", "1", None)
    ended = await run.row()
    assert ended.active_since is None
    assert paused.active_ms + 5_000 <= ended.active_ms < paused.active_ms + 65_000


async def test_a_clock_set_back_takes_no_time_away(run: StartedRun) -> None:
    await run.do(queue.set_status, "running")
    await pass_time(run, -3_600_000)
    await run.do(queue.set_status, "paused")
    assert (await run.row()).active_ms == 0


async def test_time_in_which_nobody_was_alive_does_not_count(run: StartedRun) -> None:
    await run.do(queue.set_status, "running")
    await pass_time(run, 60_000)
    since = (await run.row()).active_since
    assert since is not None
    await run.do(queue.close_gap, since + 1_000)
    row = await run.row()
    assert row.active_ms == 1_000
    assert row.active_since is not None and row.active_since >= since + 60_000
    await run.do(queue.close_gap, since - 5_000)
    assert (await run.row()).active_ms == 1_000


async def test_a_newer_event_than_the_leases_renewal_is_a_later_sign_of_life(run: StartedRun) -> None:
    await run.do(queue.set_status, "running")
    await pass_time(run, 60_000)
    since = (await run.row()).active_since
    assert since is not None
    await run.claimed_child()
    await run.sql("UPDATE events SET at = ? WHERE position = (SELECT max(position) FROM events)", since + 7_000)
    await run.do(queue.close_gap, since + 1_000)
    assert (await run.row()).active_ms == 7_000


async def test_a_run_that_is_not_active_has_no_gap(run: StartedRun) -> None:
    before = await run.row()
    await run.do(queue.close_gap, 1)
    assert (await run.row()).changed == before.changed


async def test_a_status_comes_with_its_reason_and_goes_without_it(run: StartedRun) -> None:
    await run.do(queue.set_status, "blocked", error="recorded X,\nfound Y")
    assert ((await run.row()).status, (await run.row()).error) == ("blocked", "recorded X, found Y")
    before = await run.row()
    await run.do(queue.set_status, "blocked", error="recorded X,\nfound Y")
    assert (await run.row()).last_seq == before.last_seq
    await run.do(queue.set_status, "running")
    assert (await run.row()).error is None
    events = await run.journal.reader.events(1, 0, 10, types=["StatusChanged"])
    assert [json.loads(entry.event.payload)["status"] for entry in events] == ["blocked", "running"]


@pytest.mark.parametrize("status", sorted(TERMINAL_RUN))
async def test_an_ended_run_stays_as_it_ended(run: StartedRun, status: RunStatus) -> None:
    await run.do(queue.set_status, "running")
    with pytest.raises(IllegalMove):
        await run.do(queue.set_status, status)
    await run.do(queue.finish_run, status, '"result"', "line")
    row = await run.row()
    assert (row.status, row.result, row.error) == (status, '"result"', "line")
    assert row.ended_at is not None
    await run.do(queue.finish_run, status, '"result"', "line")
    with pytest.raises(IdentityConflict):
        await run.do(queue.finish_run, status, '"another"', None)
    for late in (run.do(queue.set_status, "running"), run.do(queue.set_control, "pausing", "me", None)):
        with pytest.raises(Refused):
            await late
    assert await run.row() == row or (await run.row()).changed == row.changed


@pytest.mark.parametrize("status", ["running", "paused", "stopped", "blocked"])
async def test_a_run_does_not_end_in_a_status_that_it_can_leave(run: StartedRun, status: RunStatus) -> None:
    with pytest.raises(IllegalMove, match="does not end a run"):
        await run.do(queue.finish_run, status, None, None)


async def test_a_result_that_is_not_json_is_refused(run: StartedRun) -> None:
    with pytest.raises(BadPayload, match="result is not JSON"):
        await run.do(queue.finish_run, "completed", "NaN", None)


async def test_workers_are_known_until_they_are_forgotten(run: StartedRun) -> None:
    await run.do(queue.register_worker, "w2", "pid 2")
    await run.do(queue.register_worker, "w1", "pid 1")
    await run.do(queue.register_worker, "w2", "pid 22")
    rows = await run.journal.reader.workers(1)
    assert rows == [WorkerRow("w1", 1, "pid 1", rows[0].started_at), WorkerRow("w2", 1, "pid 22", rows[1].started_at)]
    await run.do(queue.forget_worker, "w2")
    await run.do(queue.forget_worker, "never seen")
    assert [row.worker for row in await run.journal.reader.workers(1)] == ["w1"]

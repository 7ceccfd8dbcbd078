"""Who may write for a run: one holder at a time, an epoch more with each."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from poolboard.journal import queue
from poolboard.journal.errors import LeaseHeld, StaleLease
from poolboard.journal.lease import ROOT_LEASE_TTL_MS
from poolboard.journal.model import Event, Lease, LeaseState, NewRun
from poolboard.journal.sqlite import SqliteJournal

if TYPE_CHECKING:
    from tests.journal.conftest import StartedRun


@pytest.fixture
async def free(journal: SqliteJournal) -> SqliteJournal:
    """A journal with a run that nobody holds."""
    await journal.create_run(NewRun("run-1", "n", "/", "{}"))
    return journal


async def age(journal: SqliteJournal, by_ms: int) -> None:
    """Let time pass for the lease, as the store sees it."""
    await journal.transact(lambda tx: tx.execute("UPDATE leases SET renewed_at = renewed_at - ?", (by_ms,)))


async def test_a_free_run_is_taken_with_the_first_epoch(free: SqliteJournal) -> None:
    assert await free.lease_state("run-1") == LeaseState(None, 0, None)
    assert await free.acquire_lease("run-1", "me") == Lease("run-1", 1, "me", 1)
    state = await free.lease_state("run-1")
    assert (state.holder, state.epoch) == ("me", 1)


async def test_a_held_run_is_not_taken_and_the_holder_is_named(free: SqliteJournal) -> None:
    await free.acquire_lease("run-1", "pid 17")
    for holder in ("pid 18", "pid 17"):
        with pytest.raises(LeaseHeld, match="pid 17"):
            await free.acquire_lease("run-1", holder)
    assert (await free.lease_state("run-1")).epoch == 1


async def test_a_released_run_is_taken_with_the_next_epoch(free: SqliteJournal) -> None:
    first = await free.acquire_lease("run-1", "me")
    await free.release_lease(first)
    state = await free.lease_state("run-1")
    assert (state.holder, state.epoch) == (None, 1)
    assert (await free.acquire_lease("run-1", "you")).epoch == 2
    with pytest.raises(StaleLease):
        await free.release_lease(first)


async def test_a_lease_that_ran_out_may_be_taken_and_one_that_was_renewed_may_not(free: SqliteJournal) -> None:
    lease = await free.acquire_lease("run-1", "me")
    await age(free, ROOT_LEASE_TTL_MS + 1)
    await free.renew_lease(lease)
    with pytest.raises(LeaseHeld):
        await free.acquire_lease("run-1", "you")
    await age(free, ROOT_LEASE_TTL_MS + 1)
    taken = await free.acquire_lease("run-1", "you")
    assert (taken.holder, taken.epoch) == ("you", 2)
    with pytest.raises(StaleLease, match="given epoch 1, actual epoch 2"):
        await free.renew_lease(lease)


async def test_a_lease_that_ran_out_but_was_not_taken_still_writes(free: SqliteJournal) -> None:
    lease = await free.acquire_lease("run-1", "me")
    await age(free, 10 * ROOT_LEASE_TTL_MS)
    assert (await free.append(lease, Event("Note", "{}"))).status == "appended"


async def test_a_takeover_names_the_epoch_that_was_seen_dead(free: SqliteJournal) -> None:
    await free.acquire_lease("run-1", "dead")
    taken = await free.acquire_lease("run-1", "heir", if_epoch=1)
    assert (taken.holder, taken.epoch) == ("heir", 2)
    with pytest.raises(LeaseHeld, match="heir"):
        await free.acquire_lease("run-1", "late heir", if_epoch=1)


@pytest.mark.parametrize("if_epoch", [None, 1])
async def test_of_many_that_race_for_a_run_exactly_one_wins(
    path: Path, free: SqliteJournal, if_epoch: int | None
) -> None:
    if if_epoch is not None:
        await free.acquire_lease("run-1", "dead")
    journals = [free, await SqliteJournal.open(path), await SqliteJournal.open(path)]
    races = [journals[n % 3].acquire_lease("run-1", f"racer {n}", if_epoch=if_epoch) for n in range(12)]
    ends = await asyncio.gather(*races, return_exceptions=True)
    winners = [end for end in ends if isinstance(end, Lease)]
    assert len(winners) == 1
    assert [type(end) for end in ends if end not in winners] == [LeaseHeld] * 11
    state = await free.lease_state("run-1")
    assert (state.holder, state.epoch) == (winners[0].holder, winners[0].epoch)
    await asyncio.gather(*(journal.close() for journal in journals[1:]))


async def test_a_heartbeat_leaves_no_trace_but_its_time(free: SqliteJournal) -> None:
    """Catalogue J15."""
    lease = await free.acquire_lease("run-1", "me")
    before, stamp = await free.get_run("run-1"), await free.reader.stamp()
    for _ in range(100):
        await free.renew_lease(lease)
    after = await free.get_run("run-1")
    assert (after.last_seq, after.changed, await free.reader.stamp()) == (before.last_seq, before.changed, stamp)


async def test_screens_learn_that_a_run_was_taken_or_released(free: SqliteJournal) -> None:
    seen = await free.reader.stamp()
    lease = await free.acquire_lease("run-1", "me")
    [row] = await free.reader.runs_changed(seen)
    assert row.lease_holder == "me"
    await free.release_lease(lease)
    [row] = await free.reader.runs_changed(row.changed)
    assert row.lease_holder is None


async def test_after_a_takeover_no_verb_of_the_old_coordinator_writes_anything(run: StartedRun) -> None:
    """Catalogue Q3."""
    token = await run.claimed_child("a")
    await run.enqueue(run.child("b"))
    await run.journal.acquire_lease("run-1", "coordinator 2", if_epoch=1)
    before = await run.journal.reader.events(1, 0, 100), await run.journal.reader.work_page(1, -1, 100), await run.row()
    attempts = [
        run.do(queue.enqueue, run.root, [run.child("c")]),
        run.do(queue.claim, 2, "w1", 1000),
        run.do(queue.commit, token, run.checkpoint()),
        run.do(queue.complete, token, "1"),
        run.do(queue.fail, token, "line", "{}"),
        run.do(queue.wait, token),
        run.do(queue.wake, token),
        run.do(queue.release, token, give_start_back=True),
        run.do(queue.adopt, token),
        run.do(queue.renew, "w1", 1000),
        run.do(queue.cancel, 1),
        run.do(queue.cancel_tree, 1, "me", None),
        run.do(queue.set_holds, "child", ["1"], True, "me", None),
        run.do(queue.charge, token, "charge", {"tokens": 1}),
        run.do(queue.retry_failed),
        run.do(queue.cancel_left),
        run.do(queue.set_setting, "workers", "3", None),
        run.do(queue.finish_as_root),
        run.do(queue.set_control, "pausing", "me", None),
        run.do(queue.set_status, "running"),
        run.do(queue.finish_run, "completed", None, None),
        run.do(queue.close_gap, 0),
        run.do(queue.register_worker, "w1", "{}"),
        run.do(queue.forget_worker, "w1"),
        run.journal.append(run.lease, Event("Note", "{}")),
        run.journal.renew_lease(run.lease),
        run.journal.release_lease(run.lease),
    ]
    ends = await asyncio.gather(*attempts, return_exceptions=True)
    assert [type(end) for end in ends] == [StaleLease] * len(attempts)
    after = await run.journal.reader.events(1, 0, 100), await run.journal.reader.work_page(1, -1, 100), await run.row()
    assert after[:2] == before[:2]
    assert (after[2].changed, after[2].last_seq) == (before[2].changed, before[2].last_seq)
    assert set(queue.__all__) - {"WORK_LEASE_TTL_MS"} == {
        "adopt", "cancel", "cancel_left", "cancel_tree", "charge", "claim", "close_gap", "commit", "complete",
        "enqueue", "fail", "finish_as_root", "finish_run", "forget_worker",
        "register_worker", "release", "renew", "retry_failed", "set_control", "set_holds", "set_setting",
        "set_status", "wait", "wake",
    }  # a new verb belongs into the list above  # fmt: skip

"""A stage's outcome is recorded once: by whom, when, and what a repetition gets."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pytest

from poolboard.journal import queue
from poolboard.journal.errors import BadPayload, IdentityConflict, RootNotRunning, StaleWorkLease
from poolboard.journal.model import Token
from poolboard.journal.payload import same_recorded_value

if TYPE_CHECKING:
    from tests.journal.conftest import StartedRun

EARLIER = '{"value": 1, "started_at": 1700000000000, "completed_at": 1700000000010}'
LATER = '{"completed_at": 1700000009999, "value": 1, "started_at": 1700000009000}'


async def test_a_checkpoint_is_an_event_and_shows_on_the_row(run: StartedRun) -> None:
    token = await run.claimed_child()
    receipt = await run.do(queue.commit, token, run.checkpoint(stage="measure", payload=EARLIER))
    [entry] = await run.journal.reader.checkpoints(1, 1)
    assert (entry.seq, entry.at, entry.event.type, entry.event.work) == (
        receipt.seq,
        receipt.at,
        "CheckpointRecorded",
        1,
    )
    assert entry.event.payload == EARLIER
    row = await run.journal.reader.work(1, 1)
    assert (row.stage, row.stages_done) == ("measure", 1)


async def test_a_failed_stage_is_recorded_but_not_done(run: StartedRun) -> None:
    token = await run.claimed_child()
    await run.do(queue.commit, token, run.checkpoint(ok=False))
    row = await run.journal.reader.work(1, 1)
    assert (row.stage, row.stages_done) == ("measure", 0)
    [stage] = await run.journal.reader.stages(1)
    assert (stage.done, stage.failed, sum(stage.buckets)) == (0, 1, 1)


async def test_a_commit_sent_again_gets_the_same_receipt_and_counts_once(run: StartedRun) -> None:
    """Catalogue Q4."""
    token = await run.claimed_child()
    receipts = [await run.do(queue.commit, token, run.checkpoint()) for _ in range(3)]
    assert len(set(receipts)) == 1
    assert len(await run.journal.reader.checkpoints(1, 1)) == 1
    [stage] = await run.journal.reader.stages(1)
    assert (stage.done, stage.total_ms) == (1, 10.0)


async def test_a_commit_sent_again_is_answered_whatever_happened_since(run: StartedRun) -> None:
    """Catalogue Q4, R9: also after lease expiry and after the end."""
    token = await run.claimed_child()
    receipt = await run.do(queue.commit, token, run.checkpoint())
    await run.sql("UPDATE work SET expires_at = 1")
    assert await run.do(queue.commit, token, run.checkpoint()) == receipt
    await run.do(queue.renew, "w1", 1_000)
    await run.do(queue.complete, token, "1")
    assert await run.do(queue.commit, token, run.checkpoint()) == receipt
    await run.do(queue.set_control, "stopped", "me", None)
    assert await run.do(queue.commit, token, run.checkpoint()) == receipt


@pytest.mark.parametrize("changed", [{"payload": '{"value": 2}'}, {"payload": LATER}, {"stage": "other"}])
async def test_one_key_with_another_body_from_the_same_attempt_is_a_conflict(
    run: StartedRun, changed: dict[str, str]
) -> None:
    """Catalogue Q5."""
    token = await run.claimed_child()
    await run.do(queue.commit, token, run.checkpoint(payload=EARLIER))
    with pytest.raises(IdentityConflict, match=r"^Pool operation identity conflict"):
        await run.do(queue.commit, token, run.checkpoint(**{"payload": EARLIER, **changed}))
    [entry] = await run.journal.reader.checkpoints(1, 1)
    assert entry.event.payload == EARLIER


async def replaced(run: StartedRun, recorded: str) -> Token:
    """Let an attempt record something and be lost; return the attempt that replaces it."""
    token = await run.claimed_child()
    await run.do(queue.commit, token, run.checkpoint(payload=recorded))
    await run.do(queue.release, token, give_start_back=False)
    return await run.claim(1, "w2")


async def test_a_replacement_that_differs_only_in_its_times_gets_the_first_receipt(run: StartedRun) -> None:
    """Catalogue Q6."""
    again = await replaced(run, EARLIER)
    [first] = await run.journal.reader.checkpoints(1, 1)
    receipt = await run.do(queue.commit, again, run.checkpoint(payload=LATER))
    assert (receipt.seq, receipt.at) == (first.seq, first.at)
    assert await run.journal.reader.checkpoints(1, 1) == [first]
    assert (await run.journal.reader.work(1, 1)).stages_done == 1


@pytest.mark.parametrize(
    "other",
    [
        '{"value": 2, "started_at": 1700000000000, "completed_at": 1700000000010}',
        '{"value": 1, "completed_at": 1700000000010}',
        '{"value": 1, "started_at": 1700000000000}',
        '{"value": 1, "started_at": "1700000000000", "completed_at": 1700000000010}',
        '{"value": 1, "started_at": true, "completed_at": 1700000000010}',
        '{"value": 1, "started_at": 1700000000000, "completed_at": 1700000000010, "more": null}',
    ],
)
async def test_a_replacement_that_differs_in_anything_else_is_a_conflict(run: StartedRun, other: str) -> None:
    """Catalogue Q7."""
    again = await replaced(run, EARLIER)
    with pytest.raises(IdentityConflict, match=r"^Pool checkpoint identity conflict"):
        await run.do(queue.commit, again, run.checkpoint(payload=other))
    [entry] = await run.journal.reader.checkpoints(1, 1)
    assert entry.event.payload == EARLIER


def test_the_order_of_members_is_no_difference_and_a_missing_time_is_one() -> None:
    assert same_recorded_value('{"a": 1, "b": 2}', '{"b":2,"a":1}')
    assert not same_recorded_value('{"a": 1}', '{"a": 1, "started_at": 5}')
    assert not same_recorded_value('{"a": 1, "started_at": 5}', '{"a": 1}')
    assert not same_recorded_value('{"a": 1}', '{"a": true}')


async def test_an_attempt_that_was_replaced_is_refused(run: StartedRun) -> None:
    """Catalogue Q2."""
    old = await run.claimed_child()
    await run.do(queue.commit, old, run.checkpoint("before"))
    await run.do(queue.release, old, give_start_back=False)
    await run.claim(1, "w2")
    for key in ("before", "after"):
        with pytest.raises(StaleWorkLease, match=r"^Stale work lease: .*attempt 2 by w2, not attempt 1 by w1"):
            await run.do(queue.commit, old, run.checkpoint(key))
    assert len(await run.journal.reader.checkpoints(1, 1)) == 1


async def test_work_of_an_older_epoch_records_only_once_it_is_adopted(run: StartedRun) -> None:
    token = await run.claimed_child()
    run.lease = await run.journal.acquire_lease("run-1", "coordinator 2", if_epoch=1)
    with pytest.raises(StaleWorkLease, match="leased under epoch 1, the run is at epoch 2: adopt it first"):
        await run.do(queue.commit, token, run.checkpoint())
    adopted = await run.do(queue.adopt, token)
    assert adopted == Token(1, 1, "w1", 2)
    assert await run.do(queue.adopt, token) == adopted
    receipt = await run.do(queue.commit, adopted, run.checkpoint())
    assert await run.do(queue.commit, token, run.checkpoint()) == receipt


async def test_a_commit_recorded_before_a_takeover_is_answered_after_the_adoption(run: StartedRun) -> None:
    token = await run.claimed_child()
    receipt = await run.do(queue.commit, token, run.checkpoint())
    run.lease = await run.journal.acquire_lease("run-1", "coordinator 2", if_epoch=1)
    adopted = await run.do(queue.adopt, token)
    assert await run.do(queue.commit, adopted, run.checkpoint()) == receipt


async def test_what_ran_out_is_refused_until_it_is_renewed(run: StartedRun) -> None:
    token = await run.claimed_child()
    await run.sql("UPDATE work SET expires_at = expires_at - 60000 WHERE id % 2 = 1")
    with pytest.raises(StaleWorkLease, match=r"ran out .* ms ago: renew it first"):
        await run.do(queue.commit, token, run.checkpoint())
    assert await run.do(queue.renew, "w1", 30_000) == 1
    await run.do(queue.commit, token, run.checkpoint())


@pytest.mark.parametrize("state", ["pausing", "paused", "stopping"])
async def test_a_run_that_pauses_or_stops_still_takes_what_its_attempts_have_done(run: StartedRun, state: str) -> None:
    """Catalogue Q12: the commit, admitted."""
    token = await run.claimed_child()
    await run.do(queue.set_control, state, "me", None)
    await run.do(queue.commit, token, run.checkpoint())
    await run.do(queue.complete, token, "1")


async def test_a_stopped_run_takes_nothing_more(run: StartedRun) -> None:
    """Catalogue Q12: the commit, refused."""
    token = await run.claimed_child()
    await run.do(queue.set_control, "stopped", "me", None)
    with pytest.raises(RootNotRunning, match=r"^Pool root is not running: run run-1 is stopped"):
        await run.do(queue.commit, token, run.checkpoint())
    with pytest.raises(RootNotRunning):
        await run.do(queue.complete, token, "1")


async def test_an_ended_run_takes_nothing_more(run: StartedRun) -> None:
    token = await run.claimed_child()
    await run.do(queue.finish_run, "failed", None, "boom")
    with pytest.raises(RootNotRunning, match="run-1 is failed"):
        await run.do(queue.commit, token, run.checkpoint())


async def test_a_checkpoint_from_the_future_is_refused(run: StartedRun) -> None:
    """Catalogue Q8."""
    token = await run.claimed_child()
    now = int(time.time() * 1000)
    with pytest.raises(BadPayload, match=r"^Pool checkpoint timestamp is in the future"):
        await run.do(queue.commit, token, run.checkpoint(completed_at=now + 3_600_000))
    await run.do(queue.commit, token, run.checkpoint(completed_at=now))


@pytest.mark.parametrize("payload", ["[]", '{"value": NaN}', '{"value": Infinity}', "{1: 2}", '{"a": "\ud800"}'])
async def test_a_value_that_is_not_json_is_refused_and_named(run: StartedRun, payload: str) -> None:
    """Catalogue Q17."""
    token = await run.claimed_child()
    with pytest.raises(BadPayload, match=r"^checkpoint is not"):
        await run.do(queue.commit, token, run.checkpoint(payload=payload))
    with pytest.raises(BadPayload, match=r"^result is not"):
        await run.do(queue.complete, token, "{1: 2}")


async def test_a_stage_name_that_is_not_unicode_is_refused(run: StartedRun) -> None:
    token = await run.claimed_child()
    with pytest.raises(BadPayload, match="stage name is not valid Unicode"):
        await run.do(queue.commit, token, run.checkpoint(stage="\udcff"))


async def test_twenty_commits_of_one_key_in_one_transaction_are_one_event(run: StartedRun) -> None:
    token = await run.claimed_child()
    receipts = await asyncio.gather(*(run.do(queue.commit, token, run.checkpoint()) for _ in range(20)))
    assert len(set(receipts)) == 1
    assert len(await run.journal.reader.checkpoints(1, 1)) == 1


async def test_every_checkpoint_of_a_long_child_is_read_in_order(run: StartedRun) -> None:
    token = await run.claimed_child()
    members = [lambda tx, n=n: queue.commit(tx, run.lease, token, run.checkpoint(f"key {n}")) for n in range(2_000)]
    await run.journal.submit(members)
    await run.do(queue.enqueue, token, [run.child("nested")])
    await run.do(queue.commit, token, run.checkpoint("one more"))
    found = await run.journal.reader.checkpoints(1, 1)
    assert len(found) == 2_001
    assert [entry.seq for entry in found] == sorted(entry.seq for entry in found)

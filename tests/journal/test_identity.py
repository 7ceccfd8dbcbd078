"""The identity errors, each by its exact condition and text, and receipts that come again byte for byte (SPEC 1.11).

A fourth kind, about the transcript of a session, has no place here: an attempt records checkpoints and its end alone.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from poolboard.journal import messages, queue
from poolboard.journal.errors import IdentityConflict, StaleWorkLease
from poolboard.journal.message_model import NewMessage
from poolboard.journal.model import Token
from poolboard.journal.sqlite import SqliteJournal

if TYPE_CHECKING:
    from tests.journal.conftest import StartedRun

EARLIER = '{"value": 1, "started_at": 1700000000000, "completed_at": 1700000000010}'
LATER = '{"value": 1, "started_at": 1700000005000, "completed_at": 1700000005010}'
OTHER = '{"value": 2, "started_at": 1700000000000, "completed_at": 1700000000010}'
TABLES = ("events", "operations", "work", "results", "stages", "runs")


async def everything(run: StartedRun) -> bytes:
    """Return every row that a verb of the queue could have changed."""
    return await run.journal.transact(
        lambda tx: pickle.dumps([tx.execute(f"SELECT * FROM {table}").fetchall() for table in TABLES])
    )


async def said(run: StartedRun, verb: Callable[..., object], *values: object) -> str:
    """Have a verb refused for its identity; return what it says, once it is sure that nothing was written."""
    before = await everything(run)
    with pytest.raises(IdentityConflict) as refused:
        await run.do(verb, *values)
    assert type(refused.value) is IdentityConflict
    assert await everything(run) == before
    return str(refused.value)


async def test_operation_identity_one_attempt_says_two_things_under_one_key(run: StartedRun) -> None:
    """SPEC 1.11, check 4; Q5. A difference in times alone is one too: an attempt sends the same bytes again."""
    token = await run.claimed_child()
    await run.do(queue.commit, token, run.checkpoint(payload=EARLIER))
    text = "Pool operation identity conflict: work item 1 of run run-1, key measure: what was recorded first is kept"
    for payload in (OTHER, LATER):
        assert await said(run, queue.commit, token, run.checkpoint(payload=payload)) == text
    # It comes before expiry and control: they could not make another content right.
    await run.sql("UPDATE work SET expires_at = 1")
    assert await said(run, queue.commit, token, run.checkpoint(payload=OTHER)) == text
    await run.do(queue.set_control, "stopped", "me", None)
    assert await said(run, queue.commit, token, run.checkpoint(payload=OTHER)) == text


async def test_checkpoint_identity_a_later_attempt_came_to_another_outcome(run: StartedRun) -> None:
    """SPEC 1.11, check 11; Q7. Times may differ here: the attempt did the work anew."""
    first = await run.claimed_child()
    receipt = await run.do(queue.commit, first, run.checkpoint(payload=EARLIER))
    await run.do(queue.release, first, give_start_back=False)
    second = await run.claim(1, "w2")
    text = "Pool checkpoint identity conflict: work item 1 of run run-1, key measure: what was recorded first is kept"
    assert await said(run, queue.commit, second, run.checkpoint(payload=OTHER)) == text
    assert await run.do(queue.commit, second, run.checkpoint(payload=LATER)) == receipt


async def test_boundary_identity_one_key_is_to_be_two_children(run: StartedRun) -> None:
    """SPEC 1.10, enqueue; Q10. It holds for another input and for another workflow."""
    await run.enqueue(run.child("a"))
    text = (
        "Pool boundary identity conflict: key a of work item 0 in run run-1 is child 1 with another input: "
        "what was recorded first is kept"
    )
    for changed in (run.child("a", '{"input": {"x": 2}}'), run.child("a", workflow="another")):
        assert await said(run, queue.enqueue, run.root, [changed]) == text
    await run.do(queue.enqueue, run.root, [run.child("a")])


async def test_result_identity_one_child_has_two_results(run: StartedRun) -> None:
    """SPEC 1.10, complete; Q9. A result names its child by the attempt's token, and another's token is no attempt."""
    token = await run.claimed_child("a")
    await run.enqueue(run.child("b"))
    await run.do(queue.complete, token, "1")
    text = "Pool result identity mismatch: work item 1 of run run-1 has another result already"
    assert await said(run, queue.complete, token, "2") == text
    before = await everything(run)
    for other in (Token(2, token.generation, token.worker, token.epoch), Token(0, 1, token.worker, token.epoch)):
        with pytest.raises(StaleWorkLease, match=r"^Stale work lease"):
            await run.do(queue.complete, other, "1")
    assert await everything(run) == before


async def test_receipts_come_again_byte_for_byte_and_nothing_is_written_for_them(run: StartedRun, path: Path) -> None:
    """Q4, Q11, R9: from this journal, through another one that opened the file, and from a new epoch."""
    token = await run.claimed_child("a")
    asked: list[tuple[Callable[..., object], tuple[object, ...]]] = [
        (queue.commit, (token, run.checkpoint(payload=EARLIER))),
        (queue.enqueue, (token, [run.child("nested")])),
        (queue.complete, (token, "1")),
    ]
    receipts = [pickle.dumps(await run.do(verb, *values)) for verb, values in asked]
    before = await everything(run)
    for verb, values in asked:
        if verb is not queue.enqueue:  # that is refused once its parent has ended
            assert pickle.dumps(await run.do(verb, *values)) in receipts
    other = await SqliteJournal.open(path)
    try:
        there = type(run)(other, run.lease, run.root)
        assert pickle.dumps(await there.do(queue.commit, *asked[0][1])) == receipts[0]
        assert pickle.dumps(await there.do(queue.complete, *asked[2][1])) == receipts[2]
    finally:
        await other.close()
    assert await everything(run) == before


async def test_a_second_resume_and_then_a_replacement_never_conflict(run: StartedRun) -> None:
    """Q6, R2: each attempt of three epochs does the stage anew, at other times, and gets the first receipt."""
    token = await run.claimed_child()
    receipt = await run.do(queue.commit, token, run.checkpoint(payload=EARLIER))
    for epoch in (1, 2):
        run.lease = await run.journal.acquire_lease("run-1", f"coordinator {epoch + 1}", if_epoch=epoch)
        await run.do(queue.release, token, give_start_back=True)
        token = await run.claim(1, f"w{epoch + 1}")
        again = run.checkpoint(payload=LATER.replace("50", f"6{epoch}"))
        assert await run.do(queue.commit, token, again) == receipt
    await run.do(queue.release, token, give_start_back=False)
    replacement = await run.claim(1, "w9")
    assert await run.do(queue.commit, replacement, run.checkpoint(payload=LATER)) == receipt
    assert len(await run.journal.reader.checkpoints(1, 1)) == 1


async def test_a_root_that_starts_again_finds_the_child_it_was_about_to_run(run: StartedRun) -> None:
    """R10, Q11: a crash after the boundary's start, before the child ran: the same child, and no orphan beside it."""
    [made] = await run.enqueue(run.child("a"))
    run.lease = await run.journal.acquire_lease("run-1", "coordinator 2", if_epoch=1)
    await run.do(queue.release, run.root, give_start_back=True)
    root = await run.claim(0, "w5")
    assert await run.do(queue.enqueue, root, [run.child("a")]) == [made]
    assert (await run.row()).total == 1
    events = await run.journal.reader.events(1, 0, 100, types=["ChildEnqueued"])
    assert [entry.event.work for entry in events] == [0, 1]
    assert (await run.claim(1)).generation == 1


async def test_a_living_workers_run_is_sent_messages_though_its_lease_has_just_run_out(run: StartedRun) -> None:
    """Q1: expiry alone revokes nobody; only the attempt's own next write waits for the renewal."""
    await run.claimed_child()
    new = NewMessage("child-1", 1, None, "steer", '"hello"')
    sent = await run.do(messages.accept, new, "key")
    await run.sql("UPDATE work SET expires_at = 1")
    assert await run.do(messages.deliver, [(sent.number, 1)]) == [(sent.number, 1)]
    assert await run.do(messages.deliver, [(sent.number, 1)]) == []

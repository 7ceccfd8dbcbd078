"""Messages in the journal: accepted once, receipts once, what ended gives them back, lists bounded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from poolboard.journal import message_reader, messages, queue
from poolboard.journal.errors import BadPayload
from poolboard.journal.message_model import MessageTotals, NewMessage, OpenMessage

if TYPE_CHECKING:
    from poolboard.journal.model import Token
    from tests.journal.conftest import StartedRun


def said(text: str = "hello", *, to: int | None = None, sender: int | None = None) -> NewMessage:
    return NewMessage("**" if to is None else f"child-{to}", to, None, "steer", json.dumps(text), sender, "ann")


async def sent(run: StartedRun, new: NewMessage, key: str = "k1") -> int:
    accepted = await run.do(messages.accept, new, key)
    return accepted.number


async def events(run: StartedRun, type: str) -> list[dict[str, object]]:
    return [json.loads(e.event.payload) async for e in run.journal.read("run-1") if e.event.type == type]


async def end(run: StartedRun, token: Token) -> None:
    await run.do(queue.complete, token, "1")


async def test_a_message_is_an_event_and_its_number_leads_to_it(run: StartedRun) -> None:
    number = await sent(run, said("hello", to=1))
    (at, payload) = (await run.journal.reader.messages.payloads(1, [number]))[number]
    assert at > 0
    assert json.loads(payload) | {"value": "hello", "by": "ann", "target": "child-1"} == json.loads(payload)
    assert await run.journal.reader.messages.waiting(1) == [OpenMessage(number, None, "child-1", 1, None, "steer")]


async def test_sent_again_under_its_key_it_is_the_same_message(run: StartedRun) -> None:
    assert await sent(run, said()) == await sent(run, said())
    assert (await run.journal.reader.messages.totals(1)).messages == 1


async def test_a_message_to_a_child_that_has_ended_is_refused_and_nothing_is_written(run: StartedRun) -> None:
    await end(run, await run.claimed_child())
    before = await run.row()
    with pytest.raises(messages.Undeliverable, match="child 1 has ended: it is completed"):
        await sent(run, said(to=1))
    assert (await run.row()).last_seq == before.last_seq


async def test_a_run_that_nobody_works_on_holds_messages_unless_it_or_their_child_has_ended(
    run: StartedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    await end(run, await run.claimed_child())
    await run.enqueue(run.child("b"))
    await run.do(queue.set_control, "stopping", "ann", None)
    await run.do(queue.set_control, "stopped", "ann", None)
    first = await run.do(messages.leave, said(to=2), "k1")
    assert await run.do(messages.leave, said(to=2), "k1") == first
    with pytest.raises(messages.Undeliverable, match="child 1 has ended: it is completed"):
        await run.do(messages.leave, said(to=1), "k2")
    monkeypatch.setattr(messages, "OPEN_LIMIT", 1)
    with pytest.raises(messages.TooManyWait, match="messages wait already"):
        await run.do(messages.leave, said(), "k3")
    assert [message.number for message in await run.journal.reader.messages.waiting(1)] == [first.number]


async def test_a_second_stage_that_takes_a_message_for_a_pattern_of_stages_leaves_one_receipt(run: StartedRun) -> None:
    number = await sent(run, NewMessage("child-1", None, "fetch-*", "steer", '"x"'))
    token = await run.claimed_child()
    for key in ("first", "second"):
        await run.do(messages.take, token, run.checkpoint(key=key, stage=""), [number])
    totals = await run.journal.reader.messages.totals(1)
    assert (totals.delivered, totals.taken, totals.open) == (0, 1, 1)


@pytest.mark.parametrize("value", ["{", '"' + "x" * 70_000 + '"'])
async def test_what_is_not_json_or_too_large_is_refused(run: StartedRun, value: str) -> None:
    with pytest.raises(BadPayload, match="message"):
        await sent(run, NewMessage("**", None, None, "steer", value))


async def test_m6_a_receipt_is_written_once_however_often_it_is_told(run: StartedRun) -> None:
    token = await run.claimed_child()
    first, second = await sent(run, said()), await sent(run, said(), "k2")
    assert await run.do(messages.deliver, [(first, 1), (second, 1)]) == [(first, 1), (second, 1)]
    assert await run.do(messages.deliver, [(first, 1)]) == []
    await run.do(messages.take, token, run.checkpoint(key="inbox", stage=""), [first])
    assert await run.do(messages.deliver, [(first, 1), (second, 1)]) == []
    assert await events(run, "MessageDelivered") == [{"delivered": [[first, 1], [second, 1]]}]
    assert await run.journal.reader.messages.totals(1) == MessageTotals(2, 2, delivered=1, taken=1)


async def test_m10_a_broadcast_to_160_children_is_events_as_large_as_what_changed(run: StartedRun) -> None:
    await run.enqueue(*(run.child(str(i)) for i in range(160)))
    number = await sent(run, said("x" * 5000))
    for start in range(1, 161, 16):
        await run.do(messages.deliver, [(number, n) for n in range(start, start + 16)])
    sizes = [len(json.dumps(told)) for told in await events(run, "MessageDelivered")]
    assert len(sizes) == 10
    assert max(sizes) < 16 * 16 + 50


async def test_what_a_run_took_is_settled_with_its_checkpoint_or_not_at_all(run: StartedRun) -> None:
    token = await run.claimed_child()
    number = await sent(run, said(to=1))
    checkpoint = run.checkpoint(key="inbox", stage="")
    receipt = await run.do(messages.take, token, checkpoint, [number])
    assert await run.do(messages.take, token, checkpoint, [number]) == receipt
    assert await events(run, "MessageSettled") == [{"taken": [number]}]
    assert await run.journal.reader.messages.waiting(1) == []
    assert await run.journal.reader.messages.totals(1) == MessageTotals(1, 0, taken=1)


async def test_a_run_sends_once_however_often_it_asks(run: StartedRun) -> None:
    token = await run.claimed_child()
    checkpoint = run.checkpoint(key="send", stage="")
    first = await run.do(messages.accept_from, token, said(sender=1), checkpoint)
    assert first is not None and first.sender == 1
    assert await run.do(messages.accept_from, token, said(sender=1), checkpoint) is None
    assert (await run.journal.reader.messages.totals(1)).messages == 1


async def test_m13_what_ended_gives_its_messages_back_once_and_the_sender_is_told(run: StartedRun) -> None:
    sender, other = await run.claimed_child("a"), await run.claimed_child("b", "w2")
    message = await run.do(messages.accept_from, sender, said(to=2, sender=1), run.checkpoint(key="send", stage=""))
    assert message is not None
    assert await run.do(messages.give_back, 2, [message.number]) == ([], [])  # it has not ended
    await end(run, other)
    assert await run.journal.reader.messages.to_give_back(1) == {2: [message.number]}
    given, [notice] = await run.do(messages.give_back, 2, [message.number])
    assert given == [message.number]
    assert (notice.direct, notice.notice) == (1, message.number)
    assert await run.do(messages.give_back, 2, [message.number]) == ([], [])
    payloads = await run.journal.reader.messages.payloads(1, [notice.number])
    assert json.loads(payloads[notice.number][1])["value"] == {"undeliverable": "child 2 has ended: it is completed"}
    # The notice itself is never told back.
    await end(run, sender)
    assert await run.do(messages.give_back, 1, [notice.number]) == ([notice.number], [])


async def test_m14_when_the_root_ends_nothing_is_left_in_the_queue(run: StartedRun) -> None:
    await run.enqueue(run.child("a"), run.child("b"))
    pattern, direct = await sent(run, said()), await sent(run, said(to=1), "k2")
    await run.do(messages.deliver, [(pattern, 1), (pattern, 2), (direct, 1)])
    assert await run.do(messages.close_all) == 2
    assert await run.do(messages.close_all) == 0
    assert await run.journal.reader.messages.waiting(1) == []
    assert await run.journal.reader.messages.totals(1) == MessageTotals(2, 0, delivered=2, undeliverable=1)


async def test_m17_a_list_names_five_recipients_a_message_those_that_need_somebody_first(run: StartedRun) -> None:
    tokens = [await run.claimed_child(str(i)) for i in range(8)]
    number = await sent(run, said())
    await run.do(messages.deliver, [(number, n) for n in range(1, 9)])
    for token in tokens[:4]:
        await run.do(messages.take, token, run.checkpoint(key="inbox", stage=""), [number])
    reader = run.journal.reader.messages
    shown = await reader.shown_receipts(1, number)
    assert [(row.n, row.state) for row in shown[:4]] == [(n, "delivered") for n in range(5, 9)]
    assert shown[4].state == "taken"
    [row] = await reader.page(1, 1 << 40, 10)
    assert (row.number, row.delivered, row.taken, row.value, row.by) == (number, 4, 4, '"hello"', "ann")
    assert await reader.page(1, number, 10) == []


async def test_a_coordinator_reads_the_receipts_of_open_messages(
    run: StartedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = await run.claimed_child("a")
    await run.enqueue(run.child("b"))
    first, second = await sent(run, said()), await sent(run, said(), "k2")
    gone = await sent(run, said(to=1), "k3")
    await run.do(messages.deliver, [(first, 1), (first, 2), (second, 2), (gone, 1)])
    await run.do(messages.take, token, run.checkpoint(key="inbox", stage=""), [first, gone])
    expected = [(first, "delivered", [2]), (first, "taken", [1]), (second, "delivered", [2])]
    for page in (1, 2, 2_000):
        monkeypatch.setattr(message_reader, "PAGE", page)
        assert await run.journal.reader.messages.receipts(1) == expected


async def test_a_run_with_messages_is_deleted_whole(run: StartedRun) -> None:
    number = await sent(run, said())
    await run.do(messages.deliver, [(number, 0)])
    await run.journal.release_lease(run.lease)
    await run.journal.delete_run("run-1")
    left = "SELECT (SELECT count(*) FROM messages) + (SELECT count(*) FROM receipts)"
    assert await run.journal.transact(lambda tx: tx.execute(left).fetchone()) == (0,)

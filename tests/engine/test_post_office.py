"""What the coordinator does for messages, counted: writes until an acknowledgement, statements, receipts."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from poolboard.engine.control import Refusal
from poolboard.engine.delivery import Delivery
from poolboard.journal import messages
from poolboard.journal.message_model import NewMessage, OpenMessage
from poolboard.journal.transaction import Transaction
from tests.bench.office import Office, office, reopened


async def newest(desk: Office) -> int:
    return (await desk.journal.reader.messages.page(desk.lease.number, 1 << 40, 1))[0].number


async def test_m8_a_send_while_160_runs_start_is_acknowledged_after_two_writes_at_most(tmp_path: Path) -> None:
    """B1 too: 160 runs start at once and all of them are served."""
    async with office(tmp_path / "journal.sqlite", 160) as desk:
        await desk.say("**", "first")
        number = await newest(desk)
        await desk.settled()
        desk.counted.slow_s = 0.01
        for n in range(1, 161):
            desk.got(n, [number])
            if n % 16 == 0:
                await asyncio.sleep(0.002)
            if n == 80:
                before = desk.counted.commits
                await desk.say("child-1", "amid")
                assert desk.counted.commits - before <= 2
        await desk.settled()
        assert (await desk.journal.reader.messages.totals(1)).delivered == 160


async def test_receipts_that_come_while_a_write_is_under_way_are_one_event(tmp_path: Path) -> None:
    async with office(tmp_path / "journal.sqlite", 160) as desk:
        await desk.say("**", "first")
        number = await newest(desk)
        for n in range(1, 161):
            desk.got(n, [number])
            desk.got(n, [number])
        await desk.settled()
        events = await desk.journal.reader.events(1, 0, 1000, ["MessageDelivered"])
    assert len(events) == 2  # the first alone, the rest while that was written


async def test_m7_senders_and_receipts_that_race_write_what_each_changed_and_lose_nothing(tmp_path: Path) -> None:
    """Persons and runs write by different ways, and receipts come between them: the list is what all of them said."""
    async with office(tmp_path / "journal.sqlite", 40) as desk:
        await desk.say("**", "first")
        number = await newest(desk)
        sends = [asyncio.create_task(desk.say(f"child-{n}*", f"{n}", 2_000)) for n in range(1, 41)]
        for n in range(1, 41):
            desk.got(n, [number])
            await asyncio.sleep(0)
        await asyncio.gather(*sends)
        await desk.settled()
        reader = desk.journal.reader
        waiting = {message.target for message in await reader.messages.waiting(1)}
        assert waiting == {"**"} | {f"child-{n}*" for n in range(1, 41)}
        assert [len(desk.post.delivery), (await reader.messages.totals(1)).delivered] == [41, 40]
        events = await reader.events(1, number, 1000)
        sizes = {
            kind: [len(e.event.payload) for e in events if e.event.type == kind]
            for kind in ("MessageAccepted", "MessageDelivered")
        }
    assert len(sizes["MessageAccepted"]) == 40 and max(sizes["MessageAccepted"]) < 2_200  # each its own message
    assert sum(sizes["MessageDelivered"]) < 40 * 8 + 20 * len(sizes["MessageDelivered"])  # each its own receipts


async def test_m16_a_send_takes_the_same_statements_whatever_waits_and_runs(tmp_path: Path) -> None:
    async with office(tmp_path / "journal.sqlite", 200) as desk:

        async def statements(key: str) -> int:
            said: list[str] = []

            def accept(tx: Transaction) -> None:
                connection = tx.execute.__self__.connection  # type: ignore[attr-defined]
                connection.set_trace_callback(said.append)
                try:
                    new = NewMessage("child-7", 7, None, "steer", '"x"')
                    messages.accept(tx, desk.lease, new, key)
                finally:
                    connection.set_trace_callback(None)

            await desk.journal.transact(accept)
            return len(said)

        few = await statements("first")
        for n in range(300):
            await desk.say(f"child-{n}*/**", str(n))
        assert await statements("second") == few < 10


async def test_a_run_whose_queue_is_full_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with office(tmp_path / "journal.sqlite", 2) as desk:
        monkeypatch.setattr("poolboard.engine.post_office.OPEN_LIMIT", 3)
        for n in range(3):
            await desk.say("child-1", str(n))
        with pytest.raises(Refusal, match="messages wait already"):
            await desk.say("child-1", "one too many")


async def test_a_successor_knows_what_is_waiting_and_who_has_it(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    async with office(path, 3) as desk:
        await desk.say("child-*", "all")
        number = await newest(desk)
        desk.got(1, [number])
        await desk.settled()
    async with reopened(path, desk.lease) as post:
        await post.load({0, 1, 2, 3})
        assert len(post.delivery) == 1
        assert post.delivery.deliver(1, [number]) == []
        assert post.delivery.deliver(2, [number]) == [number]


def test_a_message_that_is_not_open_any_more_gets_no_receipt() -> None:
    delivery = Delivery()
    delivery.accept(OpenMessage(1, None, "child-5", 5, None, "steer"))
    delivery.end(5)
    assert delivery.deliver(5, [1]) == []

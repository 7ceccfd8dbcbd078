"""The messages of one attempt: what can be read when, and a stage that does not wait for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import pytest

from poolboard.engine.mail import Mail
from poolboard.engine.message import Message
from poolboard.engine.running import RunningCall, inbox, running_call

Letters = list[tuple[int, str, str | None]]


class Desk:
    """A mail with what it told, its stage calls, and a journal that answers when it is let."""

    def __init__(self, patience_s: float = 60.0) -> None:
        self.calls: dict[RunningCall, None] = {}
        self.got: list[int] = []
        self.warned: list[str] = []
        self.journal = asyncio.Event()
        self.journal.set()
        self.had: dict[int, set[str]] = {}
        self.mail = Mail(
            self.calls,
            self.fetch,
            self.got.extend,
            self.warned.append,
            patience_s,
            had_by=lambda number: self.had.get(number, ()),
        )

    async def fetch(self, numbers: Sequence[int]) -> list[Message]:
        await self.journal.wait()
        return [Message(number, f"value {number}", "steer") for number in numbers]

    def hand(self, *letters: tuple[int, str, str | None], more: bool = False) -> None:
        self.mail.hand(letters, more=more)  # type: ignore[arg-type]

    async def enter(self, name: str) -> RunningCall:
        call = RunningCall(name)
        self.calls[call] = None
        await self.mail.enter(call)
        return call

    def leave(self, call: RunningCall) -> None:
        del self.calls[call]
        call.leave()
        self.mail.leave(call)


async def turns(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not holds():
            await asyncio.sleep(0)


async def test_what_comes_twice_is_there_once_and_its_receipt_is_told_again() -> None:
    desk = Desk()
    desk.hand((7, "steer", None), (5, "steer", None))
    desk.hand((7, "steer", None))
    assert desk.got == [7, 5, 7]
    assert (desk.mail.take(), desk.mail.take()) == ([5, 7], [])


async def test_m11_follow_up_waits_for_the_stages_that_ran_when_it_came() -> None:
    desk = Desk()
    first, second = await desk.enter("fetch"), await desk.enter("parse")
    desk.hand((1, "follow_up", None), (2, "steer", None))
    assert desk.mail.take() == [2]
    desk.leave(first)
    third = await desk.enter("store")
    assert desk.mail.take() == []
    desk.leave(second)
    assert desk.mail.take() == [1]
    desk.leave(third)


async def test_a_message_for_a_stage_is_there_before_it_starts_and_what_it_does_not_read_is_for_the_run() -> None:
    desk = Desk()
    desk.hand((1, "steer", "fetch"), (2, "steer", "parse"))
    assert desk.got == []  # neither stage is there
    call = await desk.enter("fetch")
    assert desk.got == [1]
    desk.hand((3, "steer", "fetch"))
    await turns(lambda: call.box is not None and len(call.box.unread()) == 2)
    mark = running_call.set(call)
    assert [message.number for message in inbox()] == [1, 3]
    desk.hand((4, "steer", "fetch"))
    await turns(lambda: call.box is not None and call.box.unread() == [4])
    running_call.reset(mark)
    assert call.box is not None and call.box.taken() == [1, 3]
    desk.leave(call)
    assert desk.mail.take() == [4]


async def test_every_stage_that_a_pattern_means_has_the_message_once_now_and_later() -> None:
    """M2: the first stage has started, and had what waited for it, when the pattern comes: it gets it live."""
    desk = Desk()
    running = await desk.enter("fetch-a")
    desk.hand((1, "steer", "fetch-*"), (2, "steer", "store*"))
    await turns(lambda: running.box is not None and running.box.unread() == [1])
    assert desk.got == [1]  # no stage is there yet that 2 is for
    assert running.box is not None and running.box.read()
    desk.leave(running)
    later, again, other = await desk.enter("fetch-b"), await desk.enter("fetch-a"), await desk.enter("parse")
    assert later.box is not None and later.box.unread() == [1]
    assert (again.box, other.box) == (None, None)
    for call in (later, again, other):
        desk.leave(call)
    assert desk.mail.take() == [1]  # fetch-b did not read it
    call = await desk.enter("fetch-c")
    desk.leave(call)
    assert (desk.mail.take(), desk.got) == ([], [1])  # once in the inbox, whoever else leaves it unread


async def test_a_new_attempt_gives_a_message_for_a_pattern_to_the_stages_alone_that_had_it_not() -> None:
    desk = Desk()
    desk.had[1] = {"fetch-a", ""}  # as the replay tells, which is read after the messages have come
    desk.hand((1, "steer", "fetch-*"))
    first, second = await desk.enter("fetch-a"), await desk.enter("fetch-b")
    assert first.box is None
    assert second.box is not None and second.box.unread() == [1]
    desk.leave(first)
    desk.leave(second)
    assert desk.mail.take() == []  # the inbox had it as well


async def test_an_interruption_for_a_pattern_of_stages_cancels_each_of_them_and_is_one_message() -> None:
    desk = Desk()

    async def run(name: str) -> str:
        call = await desk.enter(name)
        told = await interrupted(call)
        desk.leave(call)
        return told

    tasks = [asyncio.create_task(run(name)) for name in ("fetch-a", "fetch-b")]
    await turns(lambda: len(desk.calls) == 2)
    desk.hand((1, "interrupt", "fetch-*"))
    assert [await task for task in tasks] == ["interrupted", "interrupted"]
    assert (desk.mail.take(), desk.mail.take()) == ([1], [])


async def test_m5_a_message_that_comes_while_its_stage_waits_to_start_is_in_the_first_look() -> None:
    desk = Desk()
    call = RunningCall("fetch")
    desk.calls[call] = None
    desk.hand((1, "steer", "fetch"))  # it is entered, and has no slot yet
    await turns(lambda: call.box is not None and call.box.unread() == [1])


async def test_a_try_that_failed_leaves_its_messages_to_the_next() -> None:
    desk = Desk()
    desk.hand((1, "steer", "fetch"), (2, "steer", "fetch"))
    call = await desk.enter("fetch")
    assert call.box is not None
    assert [message.number for message in call.box.read()] == [1, 2]
    call.box.rewind()
    assert [message.number for message in call.box.read()] == [1, 2]


async def test_m3_a_stage_whose_messages_do_not_come_is_warned_about_once_starts_and_gets_them_later() -> None:
    desk = Desk(patience_s=0.01)
    desk.journal.clear()
    desk.hand((1, "steer", "fetch"), (2, "steer", "fetch"))
    call = await desk.enter("fetch")
    assert desk.warned == ["no message came for 0.01 s: stage fetch starts without 1, 2; a delivery is still running"]
    assert call.box is not None and call.box.read() == []
    desk.journal.set()
    await turns(lambda: call.box is not None and call.box.unread() == [1, 2])
    assert len(desk.warned) == 1


async def test_m3_a_run_whose_messages_stop_coming_goes_on() -> None:
    desk = Desk(patience_s=0.01)
    desk.hand((1, "steer", None), more=True)
    await desk.mail.arrived()
    assert len(desk.warned) == 1
    desk.hand((2, "steer", None))
    assert desk.mail.take() == [1, 2]


async def test_a_run_that_starts_waits_for_the_rest_of_its_messages() -> None:
    desk = Desk()
    desk.hand((1, "steer", None), more=True)
    waiting = asyncio.ensure_future(desk.mail.arrived())
    await asyncio.sleep(0)
    assert not waiting.done()
    desk.hand((2, "steer", None))
    await waiting
    assert desk.warned == []


async def test_messages_that_come_too_late_for_their_stage_are_for_the_run() -> None:
    desk = Desk(patience_s=0.01)
    desk.journal.clear()
    desk.hand((1, "steer", "fetch"))
    desk.leave(await desk.enter("fetch"))
    desk.journal.set()
    await turns(lambda: desk.mail.any_ready)
    assert desk.mail.take() == [1]


async def interrupted(call: RunningCall) -> str:
    try:
        await asyncio.sleep(3600)
    except asyncio.CancelledError:
        if not call.gives_way():
            raise
        return "interrupted"
    return "slept"


async def test_an_interruption_leaves_the_task_uncancelled() -> None:
    desk = Desk()

    async def run() -> tuple[str, int]:
        call = await desk.enter("fetch")
        told = await interrupted(call)
        desk.leave(call)
        task = asyncio.current_task()
        assert task is not None
        return told, task.cancelling()

    task = asyncio.create_task(run())
    await turns(lambda: bool(desk.calls))
    desk.hand((1, "interrupt", None))
    assert await task == ("interrupted", 0)
    assert desk.mail.take() == [1]


async def test_a_run_that_is_abandoned_while_it_is_interrupted_is_abandoned() -> None:
    desk = Desk()

    async def run() -> str:
        return await interrupted(await desk.enter("fetch"))

    task = asyncio.create_task(run())
    await turns(lambda: bool(desk.calls))
    desk.hand((1, "interrupt", "fetch"))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_who_waits_when_the_attempt_is_over_is_let_go() -> None:
    desk = Desk()
    waiting = asyncio.ensure_future(desk.mail.some(None))
    await asyncio.sleep(0)
    desk.mail.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert inbox() == []  # outside of a stage

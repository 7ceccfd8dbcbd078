"""What a run has sent and not yet heard of: any number of its calls may wait for that at once."""

from __future__ import annotations

import asyncio

import pytest

from poolboard.engine import wire
from poolboard.engine.unanswered import Unanswered


async def answered(request: asyncio.Future[wire.Recorded]) -> wire.Recorded:
    return await request


def requests(unanswered: Unanswered, count: int) -> list[asyncio.Future[wire.Recorded]]:
    made = [asyncio.get_running_loop().create_future() for _ in range(count)]
    for request in made:
        unanswered.add(request)
    return made


async def test_nobody_goes_on_before_every_answer_is_there() -> None:
    unanswered = Unanswered()
    first, second = requests(unanswered, 2)
    waiters = [asyncio.create_task(unanswered.settle(answered)) for _ in range(3)]
    await asyncio.sleep(0)
    first.set_result(wire.Recorded(req=1))
    for _ in range(5):
        await asyncio.sleep(0)
    assert not any(waiter.done() for waiter in waiters)
    second.set_result(wire.Recorded(req=2))
    await asyncio.gather(*waiters)
    assert not unanswered


async def test_one_that_is_given_up_takes_the_answer_from_nobody() -> None:
    unanswered = Unanswered()
    [request] = requests(unanswered, 1)
    given_up, patient = (asyncio.create_task(unanswered.settle(answered)) for _ in range(2))
    await asyncio.sleep(0)
    given_up.cancel()
    await asyncio.sleep(0)
    request.set_result(wire.Recorded(req=1))
    await patient
    assert given_up.cancelled()


async def test_what_is_sent_while_others_wait_stays_listed() -> None:
    unanswered = Unanswered()
    [first] = requests(unanswered, 1)
    waiter = asyncio.create_task(unanswered.settle(answered))
    await asyncio.sleep(0)
    [later] = requests(unanswered, 1)
    first.set_result(wire.Recorded(req=1))
    await waiter
    assert unanswered
    unanswered.close()
    assert later.cancelled()


async def test_a_refusal_is_told_to_everybody_who_waits() -> None:
    unanswered = Unanswered()
    [request] = requests(unanswered, 1)
    waiters = [asyncio.create_task(unanswered.settle(answered)) for _ in range(2)]
    await asyncio.sleep(0)
    request.set_exception(ValueError("refused"))
    for waiter in waiters:
        with pytest.raises(ValueError, match="refused"):
            await waiter
    unanswered.close()

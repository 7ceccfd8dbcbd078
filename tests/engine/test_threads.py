"""Sync stages run on threads: each in its caller's context, none behind another, whatever they raise."""

from __future__ import annotations

import asyncio
import contextvars
import threading

from poolboard.engine.threads import Threads

mine: contextvars.ContextVar[str] = contextvars.ContextVar("mine")


async def test_a_call_sees_its_callers_context_and_gives_its_value() -> None:
    threads = Threads(4)
    calls = []
    for name in "abc":
        mine.set(name)
        calls.append(threads.call(lambda more: mine.get() + more, {"more": "!"}))
    assert await asyncio.gather(*calls) == [("a!", None), ("b!", None), ("c!", None)]


async def test_what_no_future_can_carry_comes_back_as_a_value() -> None:
    def leave(how: type[BaseException]) -> None:
        raise how("enough")

    for how in (ValueError, StopIteration, KeyboardInterrupt, SystemExit):
        value, error = await Threads(1).call(leave, {"how": how})
        assert value is None
        assert type(error) is how


async def test_a_call_never_waits_behind_another_while_there_is_room() -> None:
    threads, door = Threads(9), threading.Event()
    held = [threads.call(door.wait, {"timeout": 60}) for _ in range(8)]
    assert await threads.call(lambda: "through", {}) == ("through", None)
    assert not any(call.done() for call in held)
    door.set()
    assert await asyncio.gather(*held) == [(True, None)] * 8


async def test_beyond_the_limit_calls_wait_for_a_thread_and_none_is_lost() -> None:
    threads = Threads(2)
    seen: set[int] = set()

    def echo(n: int) -> int:
        seen.add(threading.get_ident())
        return n

    calls = [threads.call(echo, {"n": n}) for n in range(500)]
    assert [value for value, _ in await asyncio.gather(*calls)] == list(range(500))
    assert len(seen) <= 2


async def test_a_call_that_was_given_up_frees_its_thread_for_the_next() -> None:
    threads, door = Threads(1), threading.Event()
    given_up = threads.call(door.wait, {"timeout": 60})
    given_up.cancel()
    following = threads.call(lambda: 1, {})
    door.set()
    assert await following == (1, None)

"""A run as a program holds it: ask how it stands, steer it, wait for its result."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from typing import Any, Generic, TypeVar

from poolboard.engine.errors import EngineError
from poolboard.engine.monitor import Monitor
from poolboard.engine.views import Acknowledgement, RunView
from poolboard.headless import MOVING, ticks
from poolboard.mending import Mender
from poolboard.session import opened, person

R_co = TypeVar("R_co", covariant=True)
T = TypeVar("T")
#: Turns a completed run into what its caller gets.
Taker = Callable[[RunView], Awaitable[R_co]]


class RunFailed(EngineError):
    """A run came to rest without a result; ``run`` says how: failed, cancelled, stopped, blocked or crashed."""

    def __init__(self, run: RunView) -> None:
        told = f": {run.error}" if run.error else ""
        on = "; handle.resume() goes on with it" if run.resumable else ""
        super().__init__(f"run {run.run_id} ({run.name}) is {run.status}{told}{on}")
        self.run = run


class Handle(Generic[R_co]):
    """One run. Its processes do not depend on this one: the run goes on when the program ends.

    ``result`` is awaited; every other method blocks for the moment that it takes, from any thread, whether or not a
    loop runs. ``status`` and the verbs return how the run stands then.
    """

    def __init__(self, run_id: str, journal: str | None, take: Taker[R_co]) -> None:
        self.run_id = run_id
        self._journal, self._take = journal, take

    def __repr__(self) -> str:
        return f"<poolboard run {self.run_id}>"

    async def result(self) -> R_co:
        """Return the workflow's result once the run has completed; raises RunFailed. While it is paused this waits.

        A coordinator that is lost meanwhile is replaced. Cancelling the wait leaves the run alone.
        """
        async with opened(self._journal) as monitor:
            run = await self._rested(monitor)
        if run.status != "completed":
            raise RunFailed(run)
        return await self._take(run)

    def wait(self, timeout_s: float | None = None) -> R_co:
        """Block until the result is there and return it; raises RunFailed, TimeoutError (the run goes on)."""
        return blocking(lambda: self._in_time(timeout_s))

    def status(self) -> RunView:
        """Return how the run stands now."""
        return blocking(self._status)

    def pause(self, why: str | None = None) -> RunView:
        """Let nothing new start; what is active parks at its next stage boundary."""
        return self._ask(lambda monitor: monitor.pause(self.run_id, person(), why))

    def resume(self, why: str | None = None) -> RunView:
        """Let a paused, stopped or crashed run go on."""
        return self._ask(lambda monitor: monitor.resume(self.run_id, person(), why))

    def stop(self, why: str | None = None, *, now: bool = False) -> RunView:
        """End what runs and keep everything recorded; ``resume`` goes on from there. ``now`` skips the grace."""
        return self._ask(lambda monitor: monitor.stop(self.run_id, person(), why, now=now))

    def cancel(self, why: str | None = None) -> RunView:
        """End the run for good."""
        return self._ask(lambda monitor: monitor.cancel(self.run_id, person(), why))

    def _ask(self, wish: Callable[[Monitor], Awaitable[Acknowledgement]]) -> RunView:
        async def ask() -> RunView:
            async with opened(self._journal) as monitor:
                await wish(monitor)
                return (await monitor.status(self.run_id)).run

        return blocking(ask)

    async def _status(self) -> RunView:
        async with opened(self._journal) as monitor:
            return (await monitor.status(self.run_id)).run

    async def _in_time(self, timeout_s: float | None) -> R_co:
        try:
            async with asyncio.timeout(timeout_s):
                return await self.result()
        except TimeoutError:
            raise TimeoutError(f"run {self.run_id} is not done after {timeout_s:g} s; it goes on") from None

    async def _rested(self, monitor: Monitor) -> RunView:
        """Return the run once nobody works on it any more."""
        mender = Mender(monitor, self.run_id, lambda told: None)
        left: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        async with aclosing(ticks(monitor, self.run_id, left)) as summaries:
            async for summary in summaries:
                run = summary.run
                lost = run.status in MOVING and (run.status == "crashed" or not summary.coordinator.alive)
                if lost and not await mender.bring_back():
                    return run
                if run.status not in MOVING and run.status != "paused":
                    return run
        raise AssertionError("a run is told of until somebody leaves")


def blocking(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run async work to its end and return its result, beside a loop that may run in this thread (a notebook's)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work())
    with ThreadPoolExecutor(1, thread_name_prefix="poolboard") as beside:
        return beside.submit(lambda: asyncio.run(work())).result()

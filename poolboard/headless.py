"""Following a run without a screen: progress as lines, the end as the exit status."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from poolboard import exit_codes, shapes, words
from poolboard.console import complain, ring, say
from poolboard.mending import Mender
from poolboard.session import opened
from poolboard.tui.bell import ringing

if TYPE_CHECKING:
    from poolboard.bar import Bar
    from poolboard.engine.monitor import Monitor
    from poolboard.engine.views import RunView, ShownStatus, Summary

#: How often a run in which nothing changes is looked at again, to notice what sends no news.
TICK_S: Final = 1.0

#: Statuses that need a living coordinator.
MOVING: Final[frozenset[ShownStatus]] = frozenset(
    {"pending", "running", "waiting", "awaiting_input", "pausing", "stopping", "crashed"}
)


@dataclass(frozen=True, slots=True)
class Manner:
    """How to tell of a run: how often at most, as JSON or text, what to say of its result, whether to mend crashes.

    ``say`` takes lines of text (JSON goes to stdout), ``watch`` is called with every summary before it is told of,
    ``left`` with the run's id when a signal takes us away. With a ``bar`` progress is drawn there
    instead. ``notify`` rings the terminal at the end. ``resume`` is the command that goes on with the run.
    """

    every_s: float = 10.0
    as_json: bool = False
    progress: bool = True
    restart: bool = True
    tell_result: Callable[[RunView], Iterator[str]] = words.result
    say: Callable[[str], None] = say
    watch: Callable[[Monitor, Summary], Awaitable[None]] | None = None
    left: Callable[[str], None] = lambda run_id: complain(words.left(run_id))
    bar: Bar | None = None
    notify: bool = False
    resume: str = "poolboard resume"


@dataclass(slots=True)
class Pace:
    """Lets a line through when it says something new and the last one is long enough ago."""

    every_s: float
    _last: str = ""
    _said_at: float = field(default=float("-inf"))

    def admits(self, text: str, now: float) -> bool:
        """Whether to say ``text`` at ``now`` (monotonic seconds)."""
        if text == self._last or now - self._said_at < self.every_s:
            return False
        self._last, self._said_at = text, now
        return True


async def follow(journal: str | None, run_id: str, manner: Manner) -> int:
    """Tell of a run until it comes to rest or a signal takes us away; return the exit status."""
    async with opened(journal) as monitor:
        with _leaving() as left:
            return await _Follower(monitor, run_id, manner).run(left)


class _Follower:
    def __init__(self, monitor: Monitor, run_id: str, manner: Manner) -> None:
        self._monitor, self._run_id, self._manner = monitor, run_id, manner
        self._pace = Pace(manner.every_s)
        self._mender = Mender(monitor, run_id, self._complain)
        self._begun = False
        self._asked: set[int] = set()

    async def run(self, left: asyncio.Future[int]) -> int:
        async for summary in ticks(self._monitor, self._run_id, left):
            self._begin(summary)
            if self._manner.watch is not None:
                await self._manner.watch(self._monitor, summary)
            self._tell(summary)
            status = summary.run.status
            lost = status in MOVING and (status == "crashed" or not summary.coordinator.alive)
            if lost and self._manner.restart:
                if not await self._mender.bring_back():
                    return self._end(summary.run, exit_codes.RESUMABLE)
                continue
            code = exit_codes.of_status(status)
            if code is not None:
                return self._end(summary.run, code)
        self._clear()
        self._manner.left(self._run_id)
        return left.result()

    def _complain(self, text: str) -> None:
        self._clear()
        complain(text)

    def _clear(self) -> None:
        if self._manner.bar is not None:
            self._manner.bar.clear()

    def _begin(self, summary: Summary) -> None:
        if not self._begun and not self._manner.as_json and self._manner.progress:
            self._manner.say(words.started(summary))
        self._begun = True

    def _tell(self, summary: Summary) -> None:
        if not self._manner.progress or exit_codes.of_status(summary.run.status) is not None:
            return
        for prompt in summary.prompts:
            if prompt.id not in self._asked and not self._manner.as_json:
                self._complain(words.question(self._run_id, prompt))
            self._asked.add(prompt.id)
        if self._manner.bar is not None:
            self._manner.bar.draw(summary)
            return
        text = words.progress(summary)
        if self._pace.admits(text, time.monotonic()):
            if self._manner.as_json:
                say(shapes.line(shapes.of_progress(summary)))
            else:
                self._manner.say(f"  {text}")

    def _end(self, run: RunView, code: int) -> int:
        self._clear()
        if self._manner.notify:
            ring(ringing(run))
        if self._manner.as_json:
            say(shapes.line(shapes.of_end(run)))
            return code
        # Quietly a success is its result, and nothing else.
        loud = self._manner.progress or code != exit_codes.COMPLETED
        ended = words.ended(run, self._manner.resume) if loud else ()
        for text in (*ended, *self._manner.tell_result(run)):
            self._manner.say(text)
        return code


async def ticks(monitor: Monitor, run_id: str, left: asyncio.Future[int]) -> AsyncGenerator[Summary]:
    """Yield the run's summary when it changed, and at least every TICK_S, until ``left`` is done."""
    summaries = monitor.follow(run_id, interval_s=0.2)
    latest: Summary | None = None
    coming: asyncio.Task[Summary] | None = None
    try:
        while not left.done():
            coming = coming or asyncio.create_task(_next(summaries))
            watched: set[asyncio.Future[Any]] = {coming, left}
            await asyncio.wait(watched, timeout=TICK_S, return_when=asyncio.FIRST_COMPLETED)
            if coming.done():
                latest, coming = coming.result(), None
            if latest is not None and not left.done():
                yield latest
    finally:
        if coming is not None:
            coming.cancel()
            await asyncio.wait({coming})
        if isinstance(summaries, AsyncGenerator):
            await summaries.aclose()


async def _next(summaries: AsyncIterator[Summary]) -> Summary:
    return await anext(summaries)


@contextmanager
def _leaving() -> Iterator[asyncio.Future[int]]:
    """Turn the signals that end a command into a future with its exit status; the run itself hears none of them."""
    loop = asyncio.get_running_loop()
    left: asyncio.Future[int] = loop.create_future()

    def leave(code: int) -> None:
        if not left.done():
            left.set_result(code)

    codes = {
        signal.SIGINT: exit_codes.INTERRUPTED,
        signal.SIGTERM: exit_codes.TERMINATED,
        signal.SIGHUP: exit_codes.HANGUP,
    }
    # nohup and background jobs of a shell ignore some of these on purpose.
    heard = [number for number in codes if signal.getsignal(number) is not signal.SIG_IGN]
    for number in heard:
        loop.add_signal_handler(number, leave, codes[number])
    try:
        yield left
    finally:
        for number in heard:
            loop.remove_signal_handler(number)

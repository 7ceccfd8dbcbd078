"""Asks the book of shared limits without holding up the coordinator: in a thread, what came together in one visit."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final, TypeVar

from poolboard.journal.driver import sqlite
from poolboard.journal.errors import JournalError

from .admission_events import ClaimId, Needs
from .errors import EngineError
from .limit_spec import LimitSpec
from .shared_book import Ask, SharedBook
from .views import HolderView

log = logging.getLogger("poolboard")
T = TypeVar("T")
#: How old what screens see of other runs may be.
FRESH_S: Final = 1.0
TROUBLE: Final = (sqlite.Error, OSError, EngineError, JournalError)


class SharedDesk:
    """The shared limits of one run; answers come through ``on_answer``, None for granted."""

    def __init__(self, book: SharedBook, specs: Iterable[LimitSpec], identity_of: Callable[[str], str | None]) -> None:
        self._book, self._identity_of = book, identity_of
        self._names = [spec.name for spec in specs]
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="shared limits")
        self._asks: list[Ask] = []
        self._asking = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._others: dict[str, tuple[HolderView, ...]] = {}
        self._looked_s = float("-inf")
        self.on_answer: Callable[[ClaimId, str | None], None] = lambda claim, why: None
        self.on_specs: Callable[[Iterable[LimitSpec]], None] = lambda specs: None
        self.declare(specs)

    def declare(self, specs: Iterable[LimitSpec]) -> None:
        """Make the size of shared limits known to all runs."""
        told = list(specs)
        self._begin(lambda: self._book.declare(told, time.monotonic()))

    def ask(self, claim: ClaimId, needs: Needs, worker: str) -> None:
        """Ask for a claim; what is asked while the book is being read is asked together."""
        self._asks.append(Ask(claim, needs, self._identity_of(worker) or ""))
        if not self._asking:
            self._asking = True
            self._spawn(self._visit())

    def give_back(self, claim: ClaimId) -> None:
        """The claim holds nothing any more."""
        self._begin(lambda: self._book.give_back([claim]))

    def keep(self, worker: str, claims: Iterable[ClaimId]) -> None:
        """A worker came back to a new coordinator and holds just these."""
        kept, holder = list(claims), self._identity_of(worker)
        if holder is not None:
            self._begin(lambda: self._book.keep(holder, kept))

    def withdraw(self) -> None:
        """The run waits for nothing for now."""
        self._begin(self._book.withdraw)

    def observe(self, name: str, retry_after_s: float) -> None:
        """A service asked to be left alone."""
        now_s = time.monotonic()
        self._begin(lambda: self._book.slow_down(name, now_s + retry_after_s, now_s))

    def others(self) -> dict[str, tuple[HolderView, ...]]:
        """Return what other runs hold, as of a moment ago; looks again meanwhile."""
        now_s = time.monotonic()
        if now_s - self._looked_s > FRESH_S:
            self._looked_s = now_s
            self._spawn(self._look())
        return self._others

    async def leave(self) -> None:
        """The run ends: nothing of it holds or waits any more."""
        await self._quietly(self._book.leave)
        await self._quietly(self._book.close)
        self._thread.shutdown(wait=False)

    async def _visit(self) -> None:
        while self._asks:
            asks, self._asks = self._asks, []
            answers: list[str | None]
            try:
                answers = await self._in_thread(partial(self._take, asks))
            except TROUBLE as error:
                answers = [f"the file of shared limits cannot be used: {error}"] * len(asks)
            for ask, why in zip(asks, answers, strict=True):
                self.on_answer(ask.claim, why)
        self._asking = False

    def _take(self, asks: list[Ask]) -> list[str | None]:
        return self._book.take(asks, time.monotonic())

    async def _look(self) -> None:
        try:
            specs, holds = await self._in_thread(lambda: self._book.others(self._names, time.monotonic()))
        except TROUBLE as error:
            log.warning("the file of shared limits cannot be read: %s", error)
            return
        self._others = {
            name: tuple(HolderView(hold.n, hold.amount, hold.run_id) for hold in found) for name, found in holds.items()
        }
        self.on_specs(specs)

    def _begin(self, deed: Callable[[], None]) -> None:
        self._spawn(self._quietly(deed))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _quietly(self, deed: Callable[[], None]) -> None:
        """Do what nobody waits for; the next visit finds out what has become of it."""
        try:
            await self._in_thread(deed)
        except TROUBLE as error:
            log.warning("the file of shared limits cannot be written: %s", error)

    async def _in_thread(self, deed: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, deed)

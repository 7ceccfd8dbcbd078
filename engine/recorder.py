"""Collects the journal writes of one pass of the loop and submits them together, each with what follows it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from poolboard.journal.sqlite import SqliteJournal
from poolboard.journal.transaction import Transaction

Member = Callable[[Transaction], Any]
Then = Callable[[Any], None]

#: Requests that the journal has at once: one that it writes, one that it takes up next without waiting for us.
UNDER_WAY = 2
#: Writes per request; the journal takes 2,000 at most.
MOST_MEMBERS = 1000


class Recorder:
    """The only way in which the coordinator writes. ``then`` gets the member's result, or its exception as a value."""

    def __init__(self, journal: SqliteJournal, on_fatal: Callable[[Exception], None]) -> None:
        self._journal, self._on_fatal = journal, on_fatal
        self._members: list[Member] = []
        self._thens: list[Then] = []
        self._due = False
        self._under_way = 0

    def add(self, member: Member, then: Then) -> None:
        """Write with everything else of this pass; order is kept."""
        self._members.append(member)
        self._thens.append(then)
        if not self._due:
            self._due = True
            asyncio.get_running_loop().call_soon(self._submit)

    async def record(self, member: Member) -> Any:
        """Write and return the result once durable; raises what the member raised."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        def settle(result: Any) -> None:
            if future.cancelled():
                return
            if isinstance(result, Exception):
                future.set_exception(result)
            else:
                future.set_result(result)

        self.add(member, settle)
        return await future

    async def drain(self) -> None:
        """Return when nothing is under way any more."""
        while self._under_way or self._members:
            await asyncio.sleep(0.002)

    def _submit(self) -> None:
        """Hand over what has come together; while UNDER_WAY requests are being written, more comes together."""
        self._due = False
        if not self._members or self._under_way >= UNDER_WAY:
            return
        members, thens = self._members[:MOST_MEMBERS], self._thens[:MOST_MEMBERS]
        del self._members[:MOST_MEMBERS], self._thens[:MOST_MEMBERS]
        self._under_way += 1
        self._journal.submit(members).add_done_callback(partial(self._settle, thens))

    def _settle(self, thens: list[Then], done: asyncio.Future[list[Any]]) -> None:
        self._under_way -= 1
        error = done.exception()
        results: list[Any] = [error] * len(thens) if error is not None else done.result()
        self._submit()
        try:
            for then, result in zip(thens, results, strict=True):
                then(result)
        except Exception as problem:
            self._on_fatal(problem)

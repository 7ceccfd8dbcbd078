"""Collects the journal writes of one pass of the loop and submits them together, each with what follows it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from operator import itemgetter
from typing import Any

from poolboard.journal.sqlite import SqliteJournal
from poolboard.journal.transaction import Transaction

Member = Callable[[Transaction], Any]
Then = Callable[[Any], None]

#: Kinds of writes that may change places with each other: they concern attempts of different work items. Calls of one
#: verb that stand together are done together by the journal, in a few statements for all.
OUTCOME, END, CLAIM = 0, 1, 2
_KINDS = 3

#: Requests that the journal has at once: one that it writes, one that it takes up next without waiting for us.
UNDER_WAY = 2
#: Writes per request; the journal takes 2,000 at most.
MOST_MEMBERS = 1000
_rank_of = itemgetter(0)


class Recorder:
    """The only way in which the coordinator writes. ``then`` gets the member's result, or its exception as a value."""

    def __init__(self, journal: SqliteJournal, on_fatal: Callable[[Exception], None]) -> None:
        self._journal, self._on_fatal = journal, on_fatal
        self._entries: list[tuple[int, Member, Then]] = []
        self._rank = 0
        self._due = False
        self._under_way = 0

    def add(self, member: Member, then: Then, kind: int | None = None) -> None:
        """Write with everything else of this pass. Order is kept, but for members of the three kinds among themselves:
        outcomes, then ends, then claims."""
        if kind is None:
            self._rank += _KINDS
            self._entries.append((self._rank, member, then))
            self._rank += 1
        else:
            self._entries.append((self._rank + kind, member, then))
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
        while self._under_way or self._entries:
            await asyncio.sleep(0.002)

    def _submit(self) -> None:
        """Hand over what has come together; while UNDER_WAY requests are being written, more comes together."""
        self._due = False
        if not self._entries or self._under_way >= UNDER_WAY:
            return
        self._entries.sort(key=_rank_of)
        taken = self._entries[:MOST_MEMBERS]
        del self._entries[:MOST_MEMBERS]
        self._under_way += 1
        thens = [then for _, _, then in taken]
        self._journal.submit([member for _, member, _ in taken]).add_done_callback(partial(self._settle, thens))

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

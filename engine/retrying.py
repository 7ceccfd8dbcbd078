"""Trying failed children again while the run goes on: exactly those whose parents still wait for the call."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from poolboard.journal import queue
from poolboard.journal.reader import Reader

from .control import Refusal
from .dispatch import Dispatcher
from .pool_events import Reopening, Requeued, Settled, WorkLoaded


class Retrying:
    """Sound only while the parent has not seen the outcome: a call of ``ctx.map`` returns once all have settled."""

    def __init__(self, dispatcher: Dispatcher, reader: Reader, run: int) -> None:
        self._dispatcher, self._reader, self._run = dispatcher, reader, run

    async def retry(self, children: Collection[int] | None, by: str, why: str | None) -> str:
        """Try failed children (None: all) again and return a sentence; raises Refusal if there is none to try.

        1. the parent still waits for others  2. the child becomes one it waits for  3. it is ready in the journal.
        Should 3 be refused, it settles as failed again; nobody has seen a difference.
        """
        failed = await self._reader.failed(self._run)
        chosen = {n: parent for n, parent in failed.items() if children is None or n in children}
        if not chosen:
            raise Refusal("nothing has failed" if not failed else "none of these has failed")
        pool, feed = self._dispatcher.pool, self._dispatcher.feed
        able = [n for n, parent in chosen.items() if pool.can_retry(n, parent)]
        left = len(chosen) - len(able)
        if not able:
            raise Refusal(
                f"{_children(left)} cannot be tried again while the run goes on: what waited for "
                f"{'it' if left == 1 else 'them'} has gone on; possible once the run has ended or is stopped"
            )
        for n in able:
            feed(Reopening(n, chosen[n] or 0))
        lease = self._dispatcher.lease
        done: set[int] = set()
        try:
            done = set(
                await self._dispatcher.recorder.record(
                    partial(queue.retry_failed, lease=lease, only=able, by=by, why=why)
                )
            )
            for work in await self._reader.ready_below(self._run, sorted(done)):
                feed(WorkLoaded(work.n, work.parent, work.state, work.generation, 0, None, work.priority))
        finally:
            for n in able:
                feed(Requeued(n) if n in done else Settled(n, failed=True))
        rest = f"; {_children(left)} only once the run has ended: what waited has gone on" if left else ""
        return f"{_children(len(done))} tried again{rest}"


def _children(count: int) -> str:
    return f"{count} failed child" if count == 1 else f"{count} failed children"

"""What is recorded of one run, for handing it on: read page by page, below the monitor, whose views are for screens."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final

from poolboard.journal.event_types import CHILD_ENQUEUED
from poolboard.journal.model import RunRow, StageRow, WorkRow
from poolboard.journal.reader import Reader

PAGE: Final = 500


@dataclass(frozen=True, slots=True)
class ChildFacts:
    """One child: its row, and input and result as JSON text."""

    row: WorkRow
    input: str
    result: str | None


class RunFacts:
    """One run of an open reader."""

    def __init__(self, reader: Reader, run: RunRow) -> None:
        self._reader, self.run = reader, run

    @classmethod
    async def of(cls, reader: Reader, run_id: str) -> RunFacts:
        """Return the facts of a run; raises RunNotFound."""
        return cls(reader, await reader.run(run_id))

    async def children(self) -> AsyncIterator[ChildFacts]:
        """Yield the children by number. One that is enqueued meanwhile may come or not."""
        after, seq = 0, 0
        inputs: dict[int, str] = {}
        while rows := await self._reader.work_page(self.run.number, after, PAGE):
            after = rows[-1].n
            while after not in inputs:
                # Numbers are given in the order of these events.
                entries = await self._reader.events(self.run.number, seq, PAGE, [CHILD_ENQUEUED])
                if not entries:
                    break
                seq = entries[-1].seq
                inputs |= {e.event.work: _input(e.event.payload) for e in entries if e.event.work is not None}
            results = await self._reader.results(self.run.number, [row.n for row in rows])
            for row in rows:
                yield ChildFacts(row, inputs.pop(row.n, "null"), results[row.n][1])

    async def rows(self, limit: int) -> list[WorkRow]:
        """Return the first children, without inputs and results."""
        found: list[WorkRow] = []
        while len(found) < limit:
            after = found[-1].n if found else 0
            page = await self._reader.work_page(self.run.number, after, min(PAGE, limit - len(found)))
            if not page:
                break
            found += page
        return found

    async def stages(self) -> list[StageRow]:
        """Return the stages with their kept histograms."""
        return await self._reader.stages(self.run.number)

    async def failure(self, n: int) -> str | None:
        """Return what is recorded of a child's failure, with its traceback."""
        entry = await self._reader.failure(self.run.number, n)
        if entry is None:
            return None
        told = json.loads(entry.event.payload).get("failure")
        return str(told.get("traceback") or told.get("message")) if isinstance(told, dict) else None


def _input(payload: str) -> str:
    return json.dumps(json.loads(payload).get("input"))

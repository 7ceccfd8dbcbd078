"""One attempt of one run inside a worker: what its calls share. Knows nothing of the user's functions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from poolboard.journal.reader import Reader

from . import logs, wire
from .admission_events import Needs
from .channel import Channel, Refusal
from .errors import Abandoned
from .header import RunHeader
from .limit_calls import LimitCalls
from .payload import Unrecordable
from .replay import Replay
from .slot import Slot


@dataclass(slots=True)
class Gate:
    """Open while the root is ``running``; runs park here at stage boundaries."""

    opened: asyncio.Event


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What all attempts of a worker share."""

    run_id: str
    number: int
    header: RunHeader
    logs: Path
    channel: Channel
    reader: Reader
    gate: Gate


@dataclass(slots=True)
class OpenGroup:
    """A call that waits for its children: those recorded so far, and whether all are."""

    concurrency: int
    settled: asyncio.Future[None]
    numbers: list[int]
    closed: bool = False

    def ranges(self) -> list[tuple[int, int]]:
        """Return the numbers as ranges (first, last): they are mostly consecutive."""
        found: list[tuple[int, int]] = []
        for n in self.numbers:
            if found and found[-1][1] == n - 1:
                found[-1] = (found[-1][0], n)
            else:
                found.append((n, n))
        return found


class Attempt:
    """The state of one attempt: identity, replay, slot, what it is doing now."""

    def __init__(self, around: Surroundings, assign: wire.Assign) -> None:
        self.around = around
        self.n, self.generation, self.epoch = assign.n, assign.generation, assign.epoch
        self.depth, self.boundary, self.recorded = assign.depth, assign.boundary, assign.recorded
        self.replay = Replay([])
        self.groups: dict[int, OpenGroup] = {}
        self.stage: str | None = None
        self.since = time.monotonic()
        self.note: str | None = None
        self._parked = 0
        self._sinks = 0
        #: Made when the run first asks for a limit: most never do.
        self.limits: LimitCalls | None = None
        self.sink = self.new_sink("run")
        self.slot = Slot(self._tell_given, self._tell_wanted)

    @property
    def run_id(self) -> str:
        """The root run's id."""
        return self.around.run_id

    def new_sink(self, stage: str) -> logs.LogSink:
        """Return a log sink for the next stage."""
        sink = logs.sink_for(self.around.logs, self.n, self.generation, self._sinks, stage)
        self._sinks += 1
        return sink

    def log(self, line: str) -> None:
        """Append to the log of the stage that runs, else to the run's own."""
        (logs.current.get() or self.sink).write(line.encode("utf-8", "surrogateescape"))

    @asynccontextmanager
    async def in_stage(self, name: str, needs: Needs = ()) -> AsyncIterator[None]:
        """Hold a slot for the stage, once the gate is open and the stage has all that it needs of named limits."""
        await self.boundary_reached()
        if needs:
            async with self.limit_calls().hold(needs, f"stage {name}"), self._in_slot(name):
                yield
            return
        async with self._in_slot(name):
            yield

    async def boundary_reached(self) -> None:
        """Park while the run is not to go on."""
        while not self.around.gate.opened.is_set():
            await self._park()

    def limit_calls(self) -> LimitCalls:
        """Return what this attempt holds and wants of named limits."""
        if self.limits is None:
            self.limits = LimitCalls(self.n, self.generation, self.around.channel, self.slot)
        return self.limits

    @asynccontextmanager
    async def _in_slot(self, name: str) -> AsyncIterator[None]:
        async with self.slot.busy():
            self.stage, self.since, self.note = name, time.monotonic(), None
            try:
                yield
            finally:
                self.stage, self.since, self.note = None, time.monotonic(), None

    async def rest(self, duration_s: float) -> None:
        """Wait without a slot."""
        if duration_s > 0:
            async with self.slot.waiting():
                await asyncio.sleep(duration_s)

    async def _park(self) -> None:
        self._parked += 1
        try:
            self.around.channel.tell(wire.Parked(n=self.n, generation=self.generation))
            await self.around.gate.opened.wait()
        finally:
            self._parked -= 1

    async def record(
        self, message: wire.CommitStage | wire.CompleteRun | wire.FailRun | wire.EnqueueChildren
    ) -> wire.Recorded:
        """Return once the request is durable; raises Abandoned when this attempt is fenced, Unrecordable otherwise."""
        try:
            return await self.around.channel.request(message)
        except Refusal as refusal:
            if refusal.fenced:
                raise Abandoned(str(refusal)) from None
            raise Unrecordable(str(refusal)) from None

    def restate(self) -> None:
        """Tell a new coordinator what it cannot read in the journal."""
        for number, group in self.groups.items():
            self.around.channel.tell(
                wire.OpenGroup(
                    n=self.n,
                    generation=self.generation,
                    group=number,
                    concurrency=group.concurrency,
                    numbers=group.ranges(),
                    closed=group.closed,
                )
            )
        self.slot.restate()
        if self.limits is not None:
            self.limits.restate()
        if self._parked:
            self.around.channel.tell(wire.Parked(n=self.n, generation=self.generation))

    def activity(self) -> wire.ActiveSlot:
        """Return what this attempt is doing now."""
        return wire.ActiveSlot(
            n=self.n, stage=self.stage, since_ms=(time.monotonic() - self.since) * 1000, note=self.note
        )

    def _tell_given(self) -> None:
        self.around.channel.tell(wire.GiveSlot(n=self.n, generation=self.generation))

    def _tell_wanted(self) -> None:
        self.around.channel.tell(wire.WantSlot(n=self.n, generation=self.generation))

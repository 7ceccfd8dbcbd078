"""One attempt of one run inside a worker: what its calls share. Knows nothing of the user's functions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from poolboard.journal.reader import Reader

from . import logs, wire
from .ask_calls import AskCalls
from .channel import Channel, Refusal, Request
from .charges import Charges
from .errors import Abandoned
from .header import RunHeader
from .limit_calls import LimitCalls
from .mail import Mail
from .mailbox import open_mail
from .payload import Unrecordable
from .replay import Replay
from .running import RunningCall
from .seats import Seats
from .slot import Slot


class Gate:
    """What may start now, of all runs of a worker; runs park here at stage boundaries."""

    __slots__ = ("_moved", "_running", "_stages")

    def __init__(self) -> None:
        self._running, self._stages = False, frozenset[str]()
        self._moved = asyncio.Event()

    def set(self, *, running: bool, stages: Iterable[str]) -> None:
        """Say whether the root is ``running``, and which stages are held back."""
        self._running, self._stages = running, frozenset(stages)
        self.look_again()

    def admits(self, stage: str) -> bool:
        """Whether a run that is not held itself may enter the stage."""
        return self._running and stage not in self._stages

    def look_again(self) -> None:
        """Let every parked run ask again."""
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()

    async def moves(self) -> None:
        """Return when it may be worth asking again."""
        await self._moved.wait()


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
    seats: Seats
    loop: asyncio.AbstractEventLoop


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
        self.charges: Charges | None = None
        #: The coordinator has ended it from outside.
        self.abandoned = False
        #: A person holds this run, or one above it.
        self.held = False
        self._parked: dict[object, str] = {}
        self._sinks = 0
        #: Made when the run first asks for a limit: most never do.
        self.limits: LimitCalls | None = None
        #: The same for questions to a person.
        self.asks: AskCalls | None = None
        self.last_stage: str | None = None
        #: The journal's seq of when the run was last taken up after it had failed, 0 if never.
        self.reopened_seq = 0
        #: The stage calls that run, and the messages that came: most runs never get one.
        self.calls: dict[RunningCall, None] = {}
        self.mail: Mail | None = None
        self.sink = self.new_sink("run")
        self.slot = Slot(around.seats, self._tell_given, self._tell_wanted)

    @property
    def run_id(self) -> str:
        """The root run's id."""
        return self.around.run_id

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The worker's event loop."""
        return self.around.loop

    @property
    def channel(self) -> Channel:
        """The worker's connection to the coordinator."""
        return self.around.channel

    def new_sink(self, stage: str) -> logs.LogSink:
        """Return a log sink for the next stage."""
        sink = logs.sink_for(self.around.logs, self.n, self.generation, self._sinks, stage)
        self._sinks += 1
        return sink

    def log(self, line: str) -> None:
        """Append to the log of the stage that runs, else to the run's own."""
        (logs.current.get() or self.sink).write(line.encode("utf-8", "surrogateescape"))

    async def begin_stage(self, name: str) -> None:
        """Take a slot for the stage, once what the run charged before is recorded and it may be entered.

        Once it has returned, ``end_stage`` must be called.
        """
        if self.unsettled or not self._may_enter(name):
            await self.may_go_on(name)
        await self.slot.begin()
        self.stage = self.last_stage = name
        self.since, self.note = time.monotonic(), None

    def end_stage(self) -> None:
        """Let the slot go unless the run needs it for something else."""
        self.stage, self.since, self.note = None, time.monotonic(), None
        self.slot.end()

    async def may_go_on(self, stage: str = "") -> None:
        """Return once what the run charged is recorded, and it is to go on, into the stage if one is named."""
        if self.unsettled:
            await self.settle()
        while not self._may_enter(stage):
            await self._park(stage)

    def limit_calls(self) -> LimitCalls:
        """Return what this attempt holds and wants of named limits."""
        if self.limits is None:
            self.limits = LimitCalls(self.n, self.generation, self.around.channel, self.slot, self.may_go_on)
        return self.limits

    def ask_calls(self) -> AskCalls:
        """Return what this attempt asks a person."""
        if self.asks is None:
            self.asks = AskCalls(self)
        return self.asks

    def mailbox(self) -> Mail:
        """Return the messages of this attempt."""
        if self.mail is None:
            around, who = self.around, (self.n, self.generation)
            self.mail = open_mail(who, self.calls, lambda number: self.replay.readers(number), around, self.log)
        return self.mail

    def is_in(self, stage: str) -> bool:
        """Whether a call of the stage runs."""
        return any(call.name == stage for call in self.calls)

    def leave(self, call: RunningCall) -> None:
        """A stage call is over."""
        del self.calls[call]
        call.leave()
        if self.mail is not None:
            self.mail.leave(call)

    def charge(self, amounts: Mapping[str, int | float]) -> None:
        """Charge what was used to this run."""
        if self.charges is None:
            self.charges = Charges(self)
        self.charges.add(amounts)

    async def rest(self, duration_s: float) -> None:
        """Wait without a slot."""
        if duration_s > 0:
            async with self.slot.waiting():
                await asyncio.sleep(duration_s)

    def hold(self, held: bool) -> None:
        """Park at the next stage boundary, or go on."""
        self.held = held
        self.around.gate.look_again()

    def _may_enter(self, stage: str) -> bool:
        return not self.held and self.around.gate.admits(stage)

    async def _park(self, stage: str) -> None:
        """Stand before the stage without a slot until it may start."""
        call = object()
        self._parked[call] = stage
        try:
            self._tell_parked()
            async with self.slot.waiting():
                while not self._may_enter(stage):
                    await self.around.gate.moves()
                # It is not parked any more while it waits for its slot.
                del self._parked[call]
        finally:
            self._parked.pop(call, None)

    def _tell_parked(self) -> None:
        if self._parked:
            stage = next(iter(self._parked.values()))
            self.around.channel.tell(wire.Parked(n=self.n, generation=self.generation, stage=stage))

    @property
    def unsettled(self) -> bool:
        """Whether charges are not known to be recorded yet."""
        return self.charges is not None and self.charges.open

    def send_charges(self) -> None:
        """Send what is not on its way yet."""
        if self.charges is not None:
            self.charges.send()

    async def settle(self) -> None:
        """Return once every charge is recorded; raises Abandoned when this attempt is fenced, Unrecordable."""
        if self.charges is not None:
            await self.charges.settle()

    def close(self) -> None:
        """Let go of what nobody waits for any more."""
        if self.mail is not None:
            self.mail.close()
        if self.charges is not None:
            self.charges.close()
        self.slot.leave()
        self.sink.close()

    async def end(self, message: Request) -> wire.Recorded:
        """Return once the run's end is durable; its slot is free as soon as that is sent. Raises as ``record``."""
        self.send_charges()
        request = self.around.channel.ask(message)
        self.slot.leave()
        return await self.answered(request)

    async def record_outcome(self, message: wire.CommitStage) -> wire.Recorded:
        """Return once the outcome of a stage is durable; meanwhile its slot is lent. Raises as ``record``."""
        self.send_charges()
        request = self.around.channel.ask(message)
        self.slot.lend()
        try:
            return await self.answered(request)
        finally:
            self.slot.take_back()

    async def record(self, message: Request) -> wire.Recorded:
        """Return once the request is durable; raises Abandoned when this attempt is fenced, Unrecordable otherwise."""
        self.send_charges()
        return await self.answered(self.around.channel.ask(message))

    async def answered(self, request: asyncio.Future[wire.Recorded]) -> wire.Recorded:
        """Return the answer to a request; raises Abandoned when this attempt is fenced, Unrecordable otherwise."""
        try:
            return await request
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
        if self.asks is not None:
            self.asks.restate()
        self._tell_parked()

    def activity(self) -> wire.ActiveSlot:
        """Return what this attempt is doing now."""
        return wire.ActiveSlot(
            n=self.n, stage=self.stage, since_ms=(time.monotonic() - self.since) * 1000, note=self.note
        )

    def _tell_given(self) -> None:
        self._tell_parked()
        self.around.channel.tell(wire.GiveSlot(n=self.n, generation=self.generation))

    def _tell_wanted(self) -> None:
        self.around.channel.tell(wire.WantSlot(n=self.n, generation=self.generation))

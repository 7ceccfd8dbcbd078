"""The messages of one attempt: with the coordinator's word that they are there, until its program takes them.

Only numbers are kept; the values are read from the journal by whoever takes them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from poolboard.journal.message_model import MessageMode

from .address import is_pattern
from .delivery import PATIENCE_S, Patience
from .message import Message
from .patterns import Patterns, means
from .running import Box, RunningCall

#: Messages that one look into the inbox takes; the rest comes with the next.
MOST_TAKEN = 200
Fetch = Callable[[Sequence[int]], Awaitable[list[Message]]]


@dataclass(slots=True)
class Letter:
    """A message on its way through a run. ``after``: the stage calls that it waits for.

    One for a pattern of stages is had by each of them, by name, once. Any is in the inbox once at most.
    """

    number: int
    mode: MessageMode
    stage: str | None
    after: set[RunningCall] = field(default_factory=set)
    #: Neither the run nor a stage has it yet: the stage that it is for is not there.
    waits: bool = False
    shelved: bool = False
    had: set[str] = field(default_factory=set)


class Mail:
    """Sorts letters: for the inbox now, after a stage, for a stage that runs, for one that is yet to come.

    ``fetch`` reads messages by number, ``got`` tells the coordinator that they are there, ``warn`` writes a line to the
    run's log. ``had_by`` names the stages that had a message in earlier attempts, ``""`` for the inbox: asked only for
    patterns of stages, and once the replay is there.
    """

    def __init__(
        self,
        calls: Collection[RunningCall],
        fetch: Fetch,
        got: Callable[[list[int]], None],
        warn: Callable[[str], None],
        patience_s: float = PATIENCE_S,
        had_by: Callable[[int], Collection[str]] = lambda number: (),
    ) -> None:
        self._calls, self._fetch, self._got, self._warn, self._patience_s = calls, fetch, got, warn, patience_s
        self._had_by = had_by
        self._letters: dict[int, Letter] = {}
        #: Letters for patterns of stages, by what they mean.
        self._patterns = Patterns()
        self._ready: list[int] = []
        self._after: list[Letter] = []
        self._held: list[Letter] = []
        self._told: set[int] = set()
        self._news = asyncio.Event()
        self._more = False
        self._closed = False
        self._patience: Patience | None = None
        self._filling: set[asyncio.Task[None]] = set()

    # --- what comes in ---------------------------------------------------------------------------------------------

    def hand(self, letters: Sequence[tuple[int, MessageMode, str | None]], *, more: bool) -> None:
        """Take in what the coordinator hands over; a successor hands over again what is here already."""
        self._more = more
        for number, mode, stage in letters:
            if number not in self._letters:
                letter = self._letters[number] = Letter(number, mode, stage)
                self._sort(letter)
            else:
                self._told.discard(number)  # its receipt may have been lost with the earlier coordinator
        if self._patience is not None:
            self._patience.progress(time.monotonic())
        self._tell([number for number, _, _ in letters])
        self._news.set()

    def _sort(self, letter: Letter) -> None:
        if is_pattern(letter.stage):
            self._patterns.add(letter.number, (str(letter.stage),))
        calls = [call for call in self._calls if self._wants(call, letter)]
        if letter.stage is not None and not calls:
            letter.waits = True
            if not is_pattern(letter.stage):
                self._held.append(letter)
        elif letter.mode == "follow_up" and calls:
            letter.after = set(calls)
            self._after.append(letter)
        elif letter.stage is not None and letter.mode == "steer":
            for call in {call.name: call for call in reversed(calls)}.values():  # the first of each name
                letter.had.add(call.name)
                self._fill_soon(call, [letter])
        else:
            letter.had.update(call.name for call in calls)
            self._shelve(letter.number)
            if letter.mode == "interrupt":
                for call in calls:
                    call.interrupt(letter.number)

    def _wants(self, call: RunningCall, letter: Letter) -> bool:
        """Say whether a message is for a stage call that runs, and new to it."""
        if not is_pattern(letter.stage):
            return letter.stage in (None, call.name)
        return means((str(letter.stage),), (call.name,)) and self._is_new(call, letter)

    def _is_new(self, call: RunningCall, letter: Letter) -> bool:
        return call.name not in letter.had and call.name not in self._had_by(letter.number)

    def _shelve(self, number: int) -> None:
        """Lay a message into the inbox, once."""
        letter = self._letters[number]
        if not letter.shelved and not (is_pattern(letter.stage) and "" in self._had_by(number)):
            letter.shelved = True
            heappush(self._ready, number)

    def _tell(self, numbers: Sequence[int]) -> None:
        fresh = [number for number in numbers if not self._letters[number].waits and number not in self._told]
        self._told.update(fresh)
        if fresh:
            self._got(fresh)

    # --- stages ----------------------------------------------------------------------------------------------------

    async def enter(self, call: RunningCall) -> None:
        """A stage is about to start: what waits for it is there first, unless nothing moves for a minute."""
        await self.arrived()
        mine = self._due(call)
        if not mine:
            return
        self._tell([letter.number for letter in mine])
        for letter in mine:
            if letter.mode == "follow_up":
                letter.after = {call}
                self._after.append(letter)
        now = [letter for letter in mine if letter.mode != "follow_up"]
        if not now:
            return
        task = self._fill_soon(call, now)
        patience = self._patience = Patience.begin(time.monotonic(), self._patience_s)
        while not task.done() and (left_s := patience.left_s(time.monotonic())) > 0:
            await asyncio.wait({task}, timeout=left_s)
        if not task.done():
            self._told_late(now, f"stage {call.name} starts without")

    def _due(self, call: RunningCall) -> list[Letter]:
        """Return what waited for a stage of this name, and what is for every stage of such a name."""
        mine = [letter for letter in self._held if letter.stage == call.name]
        if mine:
            self._held = [letter for letter in self._held if letter.stage != call.name]
        if len(self._patterns):
            for number in self._patterns.matching((call.name,)):
                letter = self._letters[number]
                if self._is_new(call, letter) and not (letter.mode == "follow_up" and (letter.shelved or letter.after)):
                    letter.had.add(call.name)
                    mine.append(letter)
        for letter in mine:
            letter.waits = False
        return mine

    def leave(self, call: RunningCall) -> None:
        """A stage call is over: what it did not read, and what was to come after it, is for the inbox."""
        if call.box is not None:
            for number in call.box.unread():
                self._shelve(number)
        for letter in self._after:
            letter.after.discard(call)
            if not letter.after:
                self._shelve(letter.number)
        self._after = [letter for letter in self._after if letter.after]
        self._news.set()

    def _fill_soon(self, call: RunningCall, letters: list[Letter]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(self._fill(call, letters))
        self._filling.add(task)
        task.add_done_callback(self._filling.discard)
        return task

    async def _fill(self, call: RunningCall, letters: list[Letter]) -> None:
        """Lay the messages into the call's box; into the inbox, if it is over by then."""
        box = call.box = call.box or Box()
        for start in range(0, len(letters), MOST_TAKEN):
            chunk = letters[start : start + MOST_TAKEN]
            messages = await self._fetch([letter.number for letter in chunk])
            if self._patience is not None:
                self._patience.progress(time.monotonic())
            if call in self._calls:
                for message in messages:
                    box.put(message)
            else:
                for letter in chunk:
                    self._shelve(letter.number)
                self._news.set()

    # --- the inbox -------------------------------------------------------------------------------------------------

    async def arrived(self) -> None:
        """Return once everything that was on its way at the start is there, or nothing more came for a minute."""
        if not self._more:
            return
        patience = self._patience = Patience.begin(time.monotonic(), self._patience_s)
        while self._more and (left_s := patience.left_s(time.monotonic())) > 0:
            self._news.clear()
            try:
                async with asyncio.timeout(left_s):
                    await self._news.wait()
            except TimeoutError:
                break
        if self._more:
            self._more = False
            self._told_late([], "the run goes on before all of its messages are there")

    def _told_late(self, letters: Sequence[Letter], what: str) -> None:
        numbers = ", ".join(str(letter.number) for letter in letters[:20]) + (", …" if len(letters) > 20 else "")
        still = "a delivery is still running" if self._filling else "no delivery is running"
        self._warn(f"no message came for {self._patience_s:g} s: {what} {numbers}".rstrip() + f"; {still}")

    async def some(self, timeout_s: float | None) -> bool:
        """Wait until something can be taken; False after the timeout."""
        try:
            async with asyncio.timeout(timeout_s):
                while not self._ready:
                    if self._closed:
                        raise asyncio.CancelledError
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            return False
        return True

    def take(self, most: int = MOST_TAKEN) -> list[int]:
        """Take what can be read now, oldest first. Whoever takes it records that."""
        return [heappop(self._ready) for _ in range(min(most, len(self._ready)))]

    @property
    def any_ready(self) -> bool:
        """Whether something can be taken now."""
        return bool(self._ready)

    def close(self) -> None:
        """The attempt is over: nobody waits any more."""
        self._closed = True
        self._news.set()
        for task in self._filling:
            task.cancel()

"""A worker process: runs user code in its slots, asks the coordinator to record everything, reads the journal itself.

Started by the coordinator with its settings on stdin. When the coordinator goes away it keeps its runs and offers
them to a successor for ``adopt_grace_s``; with none it exits.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

from poolboard.journal.errors import JournalError
from poolboard.journal.reader import Reader

from . import faults, hosting, logs, secrets, spawn, strays, wire, wire_limits, wire_messages, wire_prompts
from .attempt import Attempt, Gate, Surroundings
from .channel import Channel
from .definitions import Module, load
from .errors import UserMistake
from .folder import RunFolder
from .header import WorkerSettings
from .heartbeat import EXIT_ORPHANED, HeartbeatThread
from .identity import ProcessIdentity
from .run_attempt import run_attempt
from .seats import Seats
from .threads import Threads, settle_in, watch_children_without_threads

log = logging.getLogger("poolboard")
ACTIVITY_INTERVAL_S = 0.1
SUCCESSOR_POLL_S = 0.1
#: Threads beyond the slots, for stages that were given up and still run until this worker is replaced.
SPARE_THREADS = 16


class Worker:
    """The worker's side of the protocol: attempts by work item, one channel, one heartbeat thread."""

    def __init__(self, settings: WorkerSettings, module: Module, reader: Reader) -> None:
        self._settings, self._module = settings, module
        self._folder = RunFolder(Path(settings.header.folder))
        self._channel = Channel(self._on_message, self._on_lost)
        self._gate = Gate()
        self._seats = Seats(settings.header.slots)
        self._around = Surroundings(
            settings.run_id,
            settings.number,
            settings.header,
            self._folder.logs,
            self._channel,
            reader,
            self._gate,
            self._seats,
            asyncio.get_running_loop(),
        )
        self._threads = Threads(settings.header.slots * 4 + SPARE_THREADS)
        self._attempts: dict[int, tuple[Attempt, asyncio.Task[None] | None]] = {}
        self._epoch = settings.epoch
        self._socket: str | None = settings.socket
        self._done = asyncio.Event()
        self._search: asyncio.Task[None] | None = None
        #: Since when no coordinator has taken us in (monotonic, s); None while one has.
        self._orphaned_s: float | None = None

    async def serve(self) -> None:
        """Work until the coordinator says goodbye."""
        await self._connect(self._settings.socket)
        patience_s = self._settings.header.adopt_grace_s + 2
        HeartbeatThread(self._settings.worker, lambda: self._socket, asyncio.get_running_loop(), patience_s).start()
        last: list[wire.ActiveSlot] = []
        while not self._done.is_set():
            try:
                async with asyncio.timeout(ACTIVITY_INTERVAL_S):
                    await self._done.wait()
            except TimeoutError:
                now = [attempt.activity() for attempt, _ in self._attempts.values() if attempt.slot.held]
                if now or last:
                    self._channel.tell(wire.Activity(active=now))
                last = now

    async def _connect(self, path: str) -> None:
        await asyncio.get_running_loop().create_unix_connection(lambda: self._channel, path)
        self._socket = path
        self._channel.introduce(
            wire.WorkerHello(
                worker=self._settings.worker,
                identity=str(ProcessIdentity.own()),
                digest=self._module.digest,
                held=[(a.n, a.generation, a.epoch) for a, _ in self._attempts.values()],
                limits=[held for a, _ in self._attempts.values() if a.limits for held in a.limits.held()],
            )
        )

    # --- what the coordinator says -------------------------------------------------------------------------------

    def _on_message(self, message: wire.AnyMessage) -> None:
        match message:
            case wire.Assign():
                self._start(message)
            case wire.GroupSettled():
                attempt = self._held(message.n, message.generation)
                group = attempt.groups.get(message.group) if attempt else None
                if group is not None and not group.settled.done():
                    group.settled.set_result(None)
            case wire.Grant():
                if attempt := self._held(message.n, message.generation):
                    attempt.slot.granted()
            case wire.ControlNow():
                self._gate.set(running=message.state == "running", stages=message.stages)
                self._threads.allow(message.slots * 4 + SPARE_THREADS)
                if message.state != "running":
                    self._hand_back(self._seats.empty())
                self._seats.resize(message.slots)
            case wire.Recall():
                self._hand_back(self._seats.empty())
            case wire.HoldRun():
                if attempt := self._held(message.n, message.generation):
                    attempt.hold(message.held)
                    if message.held and self._seats.give_up(message.n):
                        self._hand_back([message.n])
            case wire.Welcome():
                self._orphaned_s = None
                self._epoch = message.epoch
                self._channel.welcomed()
            case wire.Adopted():
                if attempt := self._held(message.n, message.generation):
                    attempt.epoch = message.epoch
                    attempt.restate()
            case wire.Abandon():
                attempt = self._held(message.n, message.generation)
                if attempt is not None and (not message.stage or attempt.is_in(message.stage)):
                    attempt.abandoned = True
                    self._abandon(message.n)
            case wire_messages.HandMessages():
                if attempt := self._held(message.n, message.generation):
                    attempt.mailbox().hand(message.letters, more=message.more)
            case wire_limits.LimitAnswer():
                attempt = self._held(message.n, message.generation)
                if attempt is not None and attempt.limits is not None:
                    attempt.limits.answered(message)
            case wire_prompts.PromptReply():
                attempt = self._held(message.n, message.generation)
                if attempt is not None and attempt.asks is not None:
                    attempt.asks.replied(message)
            case wire.Goodbye():
                self._done.set()
            case _:
                raise wire.WireError(f"a coordinator does not say {type(message).__name__}")

    def _held(self, n: int, generation: int) -> Attempt | None:
        found = self._attempts.get(n)
        return found[0] if found is not None and found[0].generation == generation else None

    def _start(self, assign: wire.Assign) -> None:
        attempt = Attempt(self._around, assign)
        if assign.n in self._attempts:
            self._abandon(assign.n)
        self._attempts[assign.n] = (attempt, None)
        self._seats.arrive(assign.n, partial(self._begin, attempt, assign.workflow))

    def _begin(self, attempt: Attempt, workflow: str) -> None:
        attempt.slot.open()
        task = asyncio.create_task(run_attempt(attempt, workflow, self._module.workflows, self._threads))
        self._attempts[attempt.n] = (attempt, task)
        task.add_done_callback(lambda ended: self._forget(attempt, ended))

    def _abandon(self, n: int) -> None:
        _, task = self._attempts[n]
        if task is not None:
            task.cancel()
        elif self._seats.give_up(n):
            self._hand_back([n])

    def _hand_back(self, unstarted: list[int]) -> None:
        """Let go of runs that wait for their first slot: nothing of them was done."""
        for n in unstarted:
            attempt, _ = self._attempts.pop(n)
            attempt.close()
            self._channel.tell(wire.Dropped(n=n, generation=attempt.generation))

    def _forget(self, attempt: Attempt, task: asyncio.Task[None]) -> None:
        attempt.slot.leave()  # a task that is cancelled before its first step closes nothing
        held = self._attempts.get(attempt.n)
        if held is not None and held[0] is attempt:
            del self._attempts[attempt.n]
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("attempt %d of #%d: %r", attempt.generation, attempt.n, error)

    # --- losing the coordinator ----------------------------------------------------------------------------------

    def _on_lost(self) -> None:
        self._socket = None
        self._hand_back(self._seats.empty())  # a successor finds them not held, and gives their starts back
        if not self._done.is_set() and (self._search is None or self._search.done()):
            self._search = asyncio.create_task(self._find_successor())

    async def _find_successor(self) -> None:
        """Offer the attempts to a coordinator of a higher epoch; exit when none has taken us in in time.

        One that answers and hangs up is asked again like one that is not there: after a pause, and not for ever.
        """
        turned_away = self._orphaned_s is not None
        since = self._orphaned_s = self._orphaned_s or time.monotonic()
        while time.monotonic() < since + self._settings.header.adopt_grace_s:
            if turned_away:
                await asyncio.sleep(SUCCESSOR_POLL_S)
            turned_away = True
            told = self._folder.read_coordinator()
            if told is not None and told.epoch > self._epoch and told.identity.is_alive():
                try:
                    await self._connect(told.socket)
                    return
                except OSError:
                    pass
        log.warning("no successor came; this worker ends")
        strays.end([self._settings.worker])
        os._exit(EXIT_ORPHANED)


async def _main(settings: WorkerSettings, module: Module) -> None:
    try:
        reader = await Reader.open(Path(settings.journal))
    except JournalError as error:
        sys.exit(f"poolboard: {error}")
    await Worker(settings, module, reader).serve()


def _read_settings() -> WorkerSettings:
    told = sys.stdin.buffer.read()
    if not told:
        os._exit(0)  # started ahead, and not wanted; or its coordinator is gone
    settings = WorkerSettings.from_json(told)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return settings


def main() -> Any:
    """Run one worker process."""
    faults.arm("worker")
    hosting.enter_worker()
    spawn.forget_import_root()
    settings = _read_settings()
    secrets.take(os.environ, settings.run_id)
    logs.attribute_prints()
    logs.to_stderr()
    try:
        os.chdir(settings.cwd)
    except OSError as error:
        sys.exit(f"poolboard: cannot work in {settings.cwd}: {error.strerror}")
    try:
        module = load(Path(settings.header.path), settings.header.workflow)
    except UserMistake as mistake:
        sys.exit(f"poolboard: {mistake}")
    if module.digest != settings.digest:
        sys.exit(f"poolboard: {module.path} changed while the run went on; resume with --accept-code to use it")
    settle_in()
    watch_children_without_threads()
    asyncio.run(_main(settings, module))
    sys.stdout.flush()
    # Threads of stages that were given up may still run, and programs; nothing of theirs is wanted.
    strays.end([settings.worker])
    os._exit(0)


if __name__ == "__main__":
    main()

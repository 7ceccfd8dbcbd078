"""Keeps worker processes alive: starts, watches and stops them. Knows nothing of work."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import signal
import time
from collections.abc import Callable, Coroutine, Set
from dataclasses import dataclass, field
from typing import Any

from . import strays
from .folder import RunFolder
from .identity import ProcessIdentity
from .process_exit import exit_of
from .worker_process import WorkerProcess, log_path

log = logging.getLogger("poolboard")
#: How much of a worker's own output is shown when it dies (SPEC 1.A).
STDERR_TAIL_BYTES = 8192
_CONTINUED = bytes(range(0x80, 0xC0))
#: Starts that die before they say hello, in a row over all places, before the fleet gives up.
FUTILE_STARTS = 5
RESPAWN_BACKOFF_S, RESPAWN_LIMIT_S = 0.1, 10.0
ADOPTED_POLL_S = 0.25
TERM_AFTER_S, KILL_AFTER_S = 2.0, 5.0


@dataclass(slots=True)
class Member:
    """One worker process: ``place`` is its number in the pool, which its replacement inherits."""

    worker: str
    place: int
    identity: ProcessIdentity
    restarts: int
    started: float = field(default_factory=time.monotonic)
    joined: bool = False
    heard: float = field(default_factory=time.monotonic)


class LocalFleet:
    """Workers as processes of this machine, each leader of its own session."""

    def __init__(
        self,
        folder: RunFolder,
        settings: Callable[[str], str],
        on_lost: Callable[[str, str], None],
        on_futile: Callable[[str], None],
        ahead: dict[int, WorkerProcess] | None = None,
    ) -> None:
        """``ahead`` are workers by place that run already, and wait for their settings."""
        self._folder, self._settings, self._ahead = folder, settings, ahead or {}
        self._on_lost, self._on_futile = on_lost, on_futile
        self.members: dict[str, Member] = {}
        self._size = 0
        self._closed: frozenset[int] = frozenset()
        self._restarts: dict[int, int] = {}
        self._futile = 0
        self._stopping = False
        self._tasks: set[asyncio.Task[None]] = set()

    def set_size(self, count: int, closed: Set[int] = frozenset()) -> list[str]:
        """Start what is missing of ``count`` workers, none at a closed place.

        Returns those that are too many, which stay until told goodbye.
        """
        self._size, self._closed = count, frozenset(closed)
        taken = {member.place for member in self.members.values()}
        for place in range(1, count + 1):
            if place not in taken and self._is_open(place):
                self._start(place)
        self._dismiss()
        return self.surplus()

    def surplus(self) -> list[str]:
        """Return the workers that are too many."""
        return [worker for worker, member in self.members.items() if not self._is_open(member.place)]

    def _is_open(self, place: int) -> bool:
        return place <= self._size and place not in self._closed

    def adopt(self, worker: str, identity: ProcessIdentity) -> None:
        """Take over a living worker that an earlier coordinator started."""
        member = Member(worker, place_of(worker), identity, 0)
        self.members[worker] = member
        self._spawn_task(self._watch_adopted(member))

    def joined(self, worker: str) -> None:
        """The worker said hello."""
        self._futile = 0
        if (member := self.members.get(worker)) is not None:
            member.joined, member.heard = True, time.monotonic()

    def heard(self, worker: str) -> None:
        """The worker's heartbeat came."""
        if (member := self.members.get(worker)) is not None:
            member.heard = time.monotonic()

    async def stop(self) -> None:
        """Return when every worker is gone: told goodbye already, they get SIGTERM to their groups, then SIGKILL."""
        self._stopping = True
        members = list(self.members.values())
        await self._gone(members, TERM_AFTER_S)
        self._signal(members, signal.SIGTERM)
        await self._gone(members, KILL_AFTER_S)
        self._signal(members, signal.SIGKILL)
        await self._gone(members, KILL_AFTER_S)
        await asyncio.to_thread(strays.end, [member.worker for member in members])

    def kill(self, worker: str) -> None:
        """End a worker that is in the way; it is replaced."""
        if (member := self.members.get(worker)) is not None:
            member.identity.signal(signal.SIGKILL, group=True)

    def _signal(self, members: list[Member], number: signal.Signals) -> None:
        for member in members:
            member.identity.signal(number, group=True)

    async def _gone(self, members: list[Member], limit_s: float) -> None:
        until = time.monotonic() + limit_s
        while time.monotonic() < until and any(m.identity.is_alive() for m in members):
            await asyncio.sleep(0.01)

    def _start(self, place: int) -> None:
        started = self._ahead.pop(place, None) or WorkerProcess.start(place, self._folder.workers)
        pid = started.process.pid
        identity = ProcessIdentity.of(pid) or ProcessIdentity(pid, 0, "gone")
        member = Member(started.worker, place, identity, self._restarts.get(place, 0))
        self.members[started.worker] = member
        self._spawn_task(self._watch(member, started))

    def _dismiss(self) -> None:
        """Send away who was started ahead for a place that is not to be filled."""
        while self._ahead:
            _, started = self._ahead.popitem()
            started.tell("")
            exit_of(started.process)

    async def _watch(self, member: Member, started: WorkerProcess) -> None:
        started.tell(self._settings(member.worker))
        deadline_s = startup_deadline_s(self._size)
        waiting = exit_of(started.process)
        try:
            async with asyncio.timeout(deadline_s):
                while not member.joined and not waiting.done():
                    await asyncio.wait([waiting], timeout=0.25)
        except TimeoutError:
            self._on_futile(f"worker {member.worker} was too slow to start: no hello in {deadline_s:.0f} s")
            member.identity.signal(signal.SIGKILL, group=True)
        self._ended(member, exit_reason(await waiting))

    async def _watch_adopted(self, member: Member) -> None:
        while member.identity.is_alive():
            await asyncio.sleep(ADOPTED_POLL_S)
        self._ended(member, "gone")

    def _ended(self, member: Member, reason: str) -> None:
        self.members.pop(member.worker, None)
        if self._stopping:
            return
        if not member.joined:
            self._futile += 1
        # What it had started (a shell command) must not outlive it, nor run beside the next attempt.
        self._spawn_task(self._bury(member, reason))

    async def _bury(self, member: Member, reason: str) -> None:
        left = await asyncio.to_thread(strays.end, [member.worker])
        for identity in left:
            log.warning("process %d of worker %s cannot be ended", identity.pid, member.worker)
        self._on_lost(member.worker, reason)
        if self._futile >= FUTILE_STARTS:
            self._on_futile(f"workers cannot start ({reason}): {self.tail(member.worker)}")
            return
        if self._is_open(member.place):
            self._restarts[member.place] = self._restarts.get(member.place, 0) + 1
            self._spawn_task(self._restart(member.place))

    async def _restart(self, place: int) -> None:
        pause_s = RESPAWN_BACKOFF_S * 2 ** min(self._futile, 10) if self._futile else 0.0
        await asyncio.sleep(min(pause_s, RESPAWN_LIMIT_S))
        if not self._stopping and self._is_open(place) and place not in {m.place for m in self.members.values()}:
            self._start(place)

    def tail(self, worker: str) -> str:
        """Return the end of what a worker itself printed."""
        try:
            with log_path(self._folder.workers, worker).open("rb") as file:
                cut = os.fstat(file.fileno()).st_size - STDERR_TAIL_BYTES
                file.seek(max(0, cut))
                said = file.read(STDERR_TAIL_BYTES)
        except OSError:
            return ""
        if cut > 0:  # perhaps in the middle of a character, of which at most three bytes are left
            said = said[:3].lstrip(_CONTINUED) + said[3:]
        return said.decode("utf-8", "replace").strip()

    def _spawn_task(self, coroutine: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def place_of(worker: str) -> int:
    """Return the place number in a worker's id."""
    head = worker.partition(".")[0]
    return int(head) if head.isdigit() else 0


def exit_reason(status: int) -> str:
    """Return how a process ended, for a person."""
    return f"signal {-status}" if status < 0 else f"exit code {status}"


def startup_deadline_s(workers: int) -> float:
    """Return how long a worker may take to say hello: longer on a busy machine and for many workers (DESIGN 4)."""
    cores = os.cpu_count() or 1
    load = os.getloadavg()[0] / cores
    return min(600.0, 30.0 * max(1.0, math.ceil(workers / cores) / 4) * max(1.0, load))

"""A process that writes to a journal what it is told, and can be told where to die."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

from poolboard.journal import lease as leases
from poolboard.journal.errors import JournalError
from poolboard.journal.model import Event, Lease, NewRun
from poolboard.journal.sqlite import SqliteJournal

#: A server that has everything imported makes a clerk in 10 ms; a fresh interpreter needs 300.
CONTEXT: Final = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.journal.clerk", "psutil"])
NEVER_MS: Final = 10**12


@dataclass(frozen=True, slots=True)
class Create:
    run_id: str


@dataclass(frozen=True, slots=True)
class Acquire:
    run_id: str
    holder: str
    if_epoch: int | None


@dataclass(frozen=True, slots=True)
class Renew:
    lease: Lease


@dataclass(frozen=True, slots=True)
class Release:
    lease: Lease


@dataclass(frozen=True, slots=True)
class Append:
    lease: Lease
    value: str
    key: str | None


@dataclass(frozen=True, slots=True)
class AppendMany:
    lease: Lease
    appends: tuple[tuple[str, str | None], ...]


Op = Create | Acquire | Renew | Release | Append | AppendMany


class Killed(Exception):
    """The clerk is dead; nobody knows what of its last batch was recorded."""


class Clerk:
    """One process with one journal open."""

    def __init__(self, path: Path) -> None:
        self._pipe, theirs = CONTEXT.Pipe()
        self._process = CONTEXT.Process(target=_serve, args=(theirs, str(path)), daemon=True)
        self._process.start()
        theirs.close()

    def do(self, ops: Sequence[Op], die_at: str = "", passings: int = 1, kill: bool = False) -> list[object]:
        """Have a batch done at once and return the outcomes, exceptions as values; raises Killed.

        With ``die_at`` it kills itself at that fault point's n-th passing, with ``kill`` we kill it right now.
        """
        try:
            self._pipe.send((list(ops), die_at, passings))
            if kill:
                self._process.kill()
            found: list[object] = self._pipe.recv()
        except (EOFError, OSError):
            self._process.join()
            assert self._process.exitcode == -signal.SIGKILL
            raise Killed from None
        return found

    def end(self) -> None:
        """Close the journal and wait for the process."""
        try:
            self._pipe.send(None)
        except OSError:
            self._process.kill()
        self._process.join()
        self._pipe.close()


def _serve(pipe: Connection, path: str) -> None:
    # Time stands still for leases here: whether one ran out must not depend on how busy the machine is.
    leases.ROOT_LEASE_TTL_MS = NEVER_MS  # type: ignore[misc]
    asyncio.run(_work(pipe, Path(path)))


async def _work(pipe: Connection, path: Path) -> None:
    armed: list[str] = []

    def fault(point: str) -> None:
        if armed and armed[-1] == point:
            armed.pop()
            if not armed:
                os.kill(os.getpid(), signal.SIGKILL)

    journal = await SqliteJournal.open(path, fault=fault)
    while True:
        try:
            told = await asyncio.to_thread(pipe.recv)
        except EOFError:
            return
        if told is None:
            await journal.close()
            return
        ops, die_at, passings = told
        armed[:] = [die_at] * passings if die_at else []
        outcomes = await asyncio.gather(*(_do(journal, op) for op in ops), return_exceptions=True)
        pipe.send([_told(outcome) for outcome in outcomes])


def _told(outcome: object) -> object:
    # An exception with arguments of its own does not survive the way through a pipe.
    return type(outcome).__name__ if isinstance(outcome, JournalError) else outcome


async def _do(journal: SqliteJournal, op: Op) -> Any:
    match op:
        case Create(run_id):
            return (await journal.create_run(NewRun(run_id, "n", "/", "{}"))).number
        case Acquire(run_id, holder, if_epoch):
            return await journal.acquire_lease(run_id, holder, if_epoch=if_epoch)
        case Renew(lease):
            return await journal.renew_lease(lease)
        case Release(lease):
            return await journal.release_lease(lease)
        case Append(lease, value, key):
            outcome = await journal.append(lease, Event("Note", value), key)
            return outcome.status, outcome.entry.seq, outcome.entry.event.payload
        case AppendMany(lease, appends):
            events = [(Event("Note", value), key) for value, key in appends]
            found = await journal.append_many(lease, events)
            return [
                (one.status, one.entry.seq, one.entry.event.payload) if not isinstance(one, Exception) else _told(one)
                for one in found
            ]

"""How a coordinator finds its root: the lease, what an earlier one left, and which of its workers still live."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from poolboard.journal.errors import LeaseHeld
from poolboard.journal.model import Lease, LiveWork, Token
from poolboard.journal.sqlite import SqliteJournal

from . import strays
from .dispatch import Dispatcher
from .errors import RunElsewhere
from .fleet import LocalFleet
from .identity import ProcessIdentity
from .pool_events import WorkerLost, WorkLoaded


async def take_lease(journal: SqliteJournal, run_id: str) -> Lease:
    """Take the run for this process: a free lease, or that of a holder whose process is confirmed gone.

    Raises RunElsewhere naming the living holder. Of two that race for a dead holder's lease exactly one wins, by epoch.
    """
    own = str(ProcessIdentity.own())
    refused: LeaseHeld | None = None
    for _ in range(3):
        state = await journal.lease_state(run_id)
        holder = ProcessIdentity.parse(state.holder) if state.holder else None
        try:
            if holder is None:
                return await journal.acquire_lease(run_id, own)
            if holder.is_alive():
                raise RunElsewhere(f"run {run_id} is run by process {holder.pid} (epoch {state.epoch})")
            return await journal.acquire_lease(run_id, own, if_epoch=state.epoch)
        except LeaseHeld as error:
            refused = error
    raise RunElsewhere(str(refused))


@dataclass(slots=True)
class Takeover:
    """Retained work by worker, until each worker came back or is confirmed gone."""

    work: list[LiveWork]
    alive: dict[str, ProcessIdentity]
    gone: set[str]
    #: Children that have failed: their parents may still wait for others.
    failed: frozenset[int]

    @property
    def everything_gone(self) -> bool:
        """Whether no worker outlived the earlier coordinator."""
        return not self.alive

    def held_by(self, worker: str) -> list[LiveWork]:
        """Return the retained work of one worker."""
        return [item for item in self.work if item.worker == worker and item.state != "ready"]


async def load(journal: SqliteJournal, lease: Lease) -> Takeover:
    """Read unsettled work and the registered workers, and look which of their processes still run."""
    work = await journal.reader.live_work(lease.number)
    alive: dict[str, ProcessIdentity] = {}
    gone: set[str] = set()
    for row in await journal.reader.workers(lease.number):
        identity = ProcessIdentity.parse(row.identity)
        if identity is not None and identity.is_alive():
            alive[row.worker] = identity
        else:
            gone.add(row.worker)
    gone |= {item.worker for item in work if item.worker and item.worker not in alive}
    # What dead workers had started must be gone before its work is given to anybody else (SPEC 1.19).
    left = await asyncio.to_thread(strays.end, gone)
    if left:
        raise RunElsewhere(f"process {left[0].pid} of an earlier worker cannot be ended; end it, then resume")
    failed = await journal.reader.failed(lease.number) if alive else {}
    return Takeover(work, alive, gone, frozenset(failed))


def watch(takeover: Takeover, fleet: LocalFleet) -> None:
    """Let the fleet watch the workers that still live."""
    for worker, identity in takeover.alive.items():
        fleet.adopt(worker, identity)


def retained(takeover: Takeover, fleet: LocalFleet) -> dict[str, str]:
    """Return an alert for each worker that still lives, has work of an older epoch and does not answer."""
    told = "work of worker {} is retained: its process {} still runs but does not answer"
    return {
        f"retained {worker}": told.format(worker, member.identity.pid)
        for worker, member in fleet.members.items()
        if not member.joined and takeover.held_by(worker)
    }


def begin(takeover: Takeover, dispatcher: Dispatcher) -> None:
    """Put the retained work in the pool, and requeue what was with dead workers."""
    for item in takeover.work:
        if item.worker is not None and item.state != "ready":
            dispatcher.tokens[item.n] = Token(item.n, item.generation, item.worker, item.epoch)
        dispatcher.feed(
            WorkLoaded(item.n, item.parent, item.state, item.generation, item.starts, item.worker, item.priority)
        )
    for worker in sorted(takeover.gone):
        costs = not takeover.everything_gone
        dispatcher.feed(WorkerLost(worker, "gone with an earlier coordinator", costs_start=costs))

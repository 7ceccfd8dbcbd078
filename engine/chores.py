"""What a coordinator does at regular times, whatever else it does: renewing leases, sampling rates."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from poolboard.journal import queue
from poolboard.journal.model import Lease
from poolboard.journal.sqlite import SqliteJournal

from .fleet import LocalFleet
from .progress import Progress
from .recorder import Recorder
from .vigil import Vigil

LEASE_RENEWAL_S = 5.0
RATE_SAMPLE_S = 1.0


async def renew_leases(
    journal: SqliteJournal, lease: Lease, recorder: Recorder, fleet: LocalFleet, lease_s: float
) -> None:
    """Renew the root's lease and the work leases of living workers, before anything could expire; for ever."""
    vigil, ttl_ms = Vigil(fleet, lease_s), round(lease_s * 1000)
    while True:
        await asyncio.sleep(min(LEASE_RENEWAL_S, lease_s / 6))
        frozen = vigil.look()
        live = [worker for worker in fleet.members if worker not in frozen]
        await journal.renew_lease(lease)
        for worker in live:
            await recorder.record(partial(queue.renew, lease=lease, worker=worker, ttl_ms=ttl_ms))


async def keep_rates(progress: Progress, is_due: Callable[[], bool]) -> None:
    """Sample the rates while nobody watches, so that who looks in only once gets a rate and an ETA too; for ever."""
    while True:
        await asyncio.sleep(RATE_SAMPLE_S)
        if is_due():
            await progress.sample()

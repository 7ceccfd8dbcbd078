"""The root lease's verbs, as functions of an open transaction. Who is alive is the caller's business."""

from __future__ import annotations

from typing import Final

from .clock import NOW_MS
from .errors import LeaseHeld
from .host import is_same_host, name_of, this_host
from .model import Lease
from .open_run import OpenRun
from .transaction import Transaction

#: A lease that was not renewed for this long may be taken without asking.
ROOT_LEASE_TTL_MS: Final = 15_000

#: A run whose lease is live, and its holder.
SELECT_LIVE: Final = f"""
SELECT r.run_id, l.holder FROM leases l JOIN runs r ON r.number = l.run
WHERE l.holder IS NOT NULL AND l.renewed_at >= {NOW_MS} - {ROOT_LEASE_TTL_MS} ORDER BY l.renewed_at DESC LIMIT 1
"""
#: A holder on another machine cannot be looked for: only its silence counts, and it has to be long.
OTHER_HOST_TTL_MS: Final = 60_000

TAKE = """
INSERT INTO leases (run, holder, epoch, renewed_at, host) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT DO UPDATE SET holder = ?2, epoch = ?3, renewed_at = ?4, host = ?5
"""


def acquire(tx: Transaction, run_id: str, holder: str, if_epoch: int | None = None, host: str | None = None) -> Lease:
    """Take the run with epoch + 1; raises LeaseHeld (see protocol.Journal.acquire_lease), RunNotFound.

    ``host`` is the holder's machine, this one if not given. From a holder on another machine nothing is taken that gave
    a sign of life in the last minute, not even with ``if_epoch``: nobody here can have seen it dead.
    """
    run = tx.find(run_id)
    host = host or this_host()
    _check_host(tx, run, host)
    if if_epoch is not None:
        if run.epoch != if_epoch:
            raise LeaseHeld(
                f"run {run_id} was taken meanwhile: epoch {run.epoch} by {run.holder}, not epoch {if_epoch}"
            )
    elif run.holder is not None and run.renewed_at is not None:
        age_ms = tx.now - run.renewed_at
        if age_ms <= ROOT_LEASE_TTL_MS:
            raise LeaseHeld(f"run {run_id} is held by {run.holder}, epoch {run.epoch}, renewed {age_ms} ms ago")
    run.holder, run.epoch, run.renewed_at = holder, run.epoch + 1, tx.now
    run.dirty = True
    tx.execute(TAKE, (run.number, holder, run.epoch, tx.now, host))
    return Lease(run_id, run.number, holder, run.epoch)


def _check_host(tx: Transaction, run: OpenRun, host: str) -> None:
    if run.holder is None or run.renewed_at is None:
        return
    age_ms = tx.now - run.renewed_at
    held_on = tx.execute("SELECT host FROM leases WHERE run = ?", (run.number,)).fetchone()[0]
    if held_on is not None and not is_same_host(held_on, host) and age_ms <= OTHER_HOST_TTL_MS:
        raise LeaseHeld(
            f"run {run.run_id} is worked on by the machine {name_of(held_on)} (last sign of life {age_ms} ms ago): "
            f"stop it there, or wait until it has been silent for {OTHER_HOST_TTL_MS // 1000} s"
        )


def renew(tx: Transaction, lease: Lease) -> None:
    """Set renewed_at to now; raises StaleLease. The run does not count as changed."""
    run = tx.authority(lease)
    run.renewed_at = tx.now
    tx.execute("UPDATE leases SET renewed_at = ? WHERE run = ?", (tx.now, run.number))


def release(tx: Transaction, lease: Lease) -> None:
    """Give the run back; the epoch stays. Raises StaleLease."""
    run = tx.authority(lease)
    run.holder = None
    run.dirty = True
    tx.execute("UPDATE leases SET holder = NULL, renewed_at = ? WHERE run = ?", (tx.now, run.number))

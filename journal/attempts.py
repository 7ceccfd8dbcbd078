"""How an attempt is kept, parked, given back or taken over. Functions of an open transaction."""

from __future__ import annotations

from typing import Final

from .errors import StaleWorkLease
from .model import Lease, Token
from .transaction import Transaction
from .work import check_attempt, check_current, count_move, find

WORK_LEASE_TTL_MS: Final = 30_000


def wait(tx: Transaction, lease: Lease, token: Token) -> None:
    """Move the attempt from leased to waiting: it gives its slot back and stays alive. Raises StaleWorkLease."""
    _shift(tx, lease, token, "wait")


def wake(tx: Transaction, lease: Lease, token: Token) -> None:
    """Move the attempt from waiting to leased. Raises StaleWorkLease."""
    _shift(tx, lease, token, "wake")


def _shift(tx: Transaction, lease: Lease, token: Token, verb: str) -> None:
    run = tx.authority(lease)
    row = find(tx, run, token.n)
    check_current(run, row, token)
    state = count_move(run, token.n, verb, row.state)
    tx.execute("UPDATE work SET state = ?, changed = ? WHERE id = ?", (state, tx.stamp(), run.base + token.n))


def release(tx: Transaction, lease: Lease, token: Token, *, give_start_back: bool) -> None:
    """Put the work item back to ready, also one that was leased under an older epoch: its processes are gone.

    With ``give_start_back`` the attempt does not count as a start. Raises StaleWorkLease.
    """
    run = tx.authority(lease)
    row = find(tx, run, token.n)
    check_attempt(run, row, token)
    state = count_move(run, token.n, "release", row.state)
    starts = max(row.starts - give_start_back, 0)
    tx.execute(
        "UPDATE work SET state = ?, worker = NULL, expires_at = NULL, ready_at = ?, starts = ?, epoch = ?, changed = ? "
        "WHERE id = ?",
        (state, tx.now, starts, run.epoch, tx.stamp(), run.base + token.n),
    )


def adopt(tx: Transaction, lease: Lease, token: Token, ttl_ms: int = WORK_LEASE_TTL_MS) -> Token:
    """Take over a live attempt from an older epoch and renew it; returns its token under this one.

    Raises StaleWorkLease if the attempt is no longer the row's.
    """
    run = tx.authority(lease)
    row = find(tx, run, token.n)
    check_attempt(run, row, token)
    if row.state != "leased" and row.state != "waiting":
        raise StaleWorkLease(f"Stale work lease: work item {token.n} of run {run.run_id} is {row.state}")
    # Nothing that a screen shows has changed: no stamp.
    tx.execute(
        "UPDATE work SET epoch = ?, expires_at = ? WHERE id = ?", (run.epoch, tx.now + ttl_ms, run.base + token.n)
    )
    return Token(token.n, token.generation, token.worker, run.epoch)


def renew(tx: Transaction, lease: Lease, worker: str, ttl_ms: int = WORK_LEASE_TTL_MS) -> int:
    """Renew every attempt that the worker has, in place, and return how many there are.

    No row is added and nothing counts as changed: a heartbeat is not news.
    """
    run = tx.authority(lease)
    cursor = tx.execute(
        "UPDATE work SET expires_at = ? WHERE run = ? AND worker = ? AND state IN ('leased', 'waiting')",
        (tx.now + ttl_ms, run.number, worker),
    )
    return cursor.rowcount

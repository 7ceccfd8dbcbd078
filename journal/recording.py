"""Recording a stage's outcome, once. A function of an open transaction.

The order of checks is SPEC 1.11's: a retry of what is recorded gets its receipt before anything that time or control
could say against it.
"""

from __future__ import annotations

import time
from typing import Final

from .errors import BadPayload, IdentityConflict
from .event_types import CHECKPOINT_RECORDED
from .model import Checkpoint, Lease, Receipt, Token
from .open_run import OpenRun
from .payload import digest, key_digest, not_json, object_bytes, same_recorded_value, text_bytes
from .states import ADMITS_ATTEMPT_WRITES, TERMINAL_RUN
from .transaction import Transaction
from .work import check_attempt, check_current, check_writable, find

#: How far a worker's clock may be ahead of the store's.
CLOCK_SKEW_MS: Final = 1_000

#: The ordinary case in one statement instead of three: it writes the key only if the row is the attempt's, may be
#: written, the payload is JSON and the key is new. Whatever it is that hinders it, nothing is written.
INSERT_IF_CURRENT = """
INSERT INTO operations (run, work, key, seq, generation, request)
SELECT ?, ?, ?, ?, generation, ? FROM work WHERE id = ? AND generation = ? AND worker = ?
  AND state IN ('leased', 'waiting') AND epoch = ? AND expires_at > ? AND json_valid(?)
ON CONFLICT DO NOTHING
"""
UPDATE_STAGE = "UPDATE work SET stage = ?, stages_done = stages_done + ?, changed = ? WHERE id = ?"
SELECT_OPERATION = "SELECT seq, generation, request FROM operations WHERE run = ? AND work = ? AND key = ?"
SELECT_EVENT = "SELECT at, payload FROM events WHERE position = ?"


def commit(tx: Transaction, lease: Lease, token: Token, checkpoint: Checkpoint) -> Receipt:
    """Record a stage's outcome once; the same again gets the same receipt.

    Raises StaleWorkLease, RootNotRunning, IdentityConflict, BadPayload.
    """
    run = tx.authority(lease)
    n, now, payload, stage = token.n, tx.now, checkpoint.payload, checkpoint.stage
    work_id = run.base + n
    request = request_of(checkpoint)
    key = key_digest(checkpoint.key)
    admitted = (
        run.control in ADMITS_ATTEMPT_WRITES
        and run.status not in TERMINAL_RUN
        and (checkpoint.completed_at <= now + CLOCK_SKEW_MS or checkpoint.completed_at <= latest_ms(now))
    )
    values = (
        run.number, n, key, run.last_seq + 1, request, work_id, token.generation, token.worker, run.epoch, now, payload,
    )  # fmt: skip
    if not admitted or tx.execute(INSERT_IF_CURRENT, values).rowcount != 1:
        return _not_ordinary(tx, run, token, checkpoint, key, request)
    seq = tx.append(run, CHECKPOINT_RECORDED, payload, n)
    if stage:  # a checkpoint without a stage only fixes what the run asked for at this place
        tx.execute(UPDATE_STAGE, (stage, checkpoint.ok, tx.stamp(), work_id))
        run.stage_hits.append((stage, checkpoint.ok, checkpoint.duration_ms, seq))
    return Receipt(seq, now)


def request_of(checkpoint: Checkpoint) -> bytes:
    """Return the digest that tells this outcome from another under the same key; raises BadPayload."""
    return digest(text_bytes(checkpoint.stage, "stage name"), object_bytes(checkpoint.payload, "checkpoint"))


def _not_ordinary(
    tx: Transaction, run: OpenRun, token: Token, checkpoint: Checkpoint, key: bytes, request: bytes
) -> Receipt:
    """Find out, check by check, whether the commit is a repetition or what it is refused for."""
    held = find(tx, run, token.n)
    row = tx.execute(SELECT_OPERATION, (run.number, token.n, key)).fetchone()
    seq, recorded_by, recorded_request = row or (None, None, None)
    if seq is not None and recorded_by == held.generation == token.generation:
        check_attempt(run, held, token)  # also once settled: its first answer may have been lost (SPEC R9)
        if recorded_request != request:
            raise IdentityConflict(f"Pool operation identity conflict: {_named(run, token, checkpoint)}")
        return Receipt(seq, tx.execute(SELECT_EVENT, (run.base + seq,)).fetchone()[0])
    check_current(run, held, token)
    if seq is not None:
        at, recorded = tx.execute(SELECT_EVENT, (run.base + seq,)).fetchone()
        if not same_recorded_value(recorded, checkpoint.payload):
            raise IdentityConflict(f"Pool checkpoint identity conflict: {_named(run, token, checkpoint)}")
        return Receipt(seq, at)
    check_writable(tx, run, held, token.n)
    if checkpoint.completed_at > latest_ms(tx.now):
        ahead_ms = checkpoint.completed_at - tx.now
        raise BadPayload(f"Pool checkpoint timestamp is in the future: {ahead_ms} ms ahead of the journal's clock")
    raise not_json(checkpoint.payload, "checkpoint")


def latest_ms(now: int) -> int:
    """Return the latest time that a worker's clock may say. It is read off this machine's wall clock, which may be
    ahead of the store's: that was read when the transaction began, and does not follow when the wall clock is set."""
    return max(now, int(time.time() * 1000)) + CLOCK_SKEW_MS


def _named(run: OpenRun, token: Token, checkpoint: Checkpoint) -> str:
    key = checkpoint.key[:120]
    return f"work item {token.n} of run {run.run_id}, key {key}: what was recorded first is kept"

"""The ordinary case of the three busiest verbs for many calls at once: a few statements for all of them.

A hundred checkpoints in one commit cost half as much this way. Only what nothing hinders is taken: a call that is
stale, repeated or in any way unusual makes the answer None, and whoever asked runs the calls one by one, which then say
what it is. None and every exception mean that the calls were not done; rows written before that must be undone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final

from . import queue
from .attempts import WORK_LEASE_TTL_MS
from .errors import IdentityConflict
from .event_types import CHECKPOINT_RECORDED, WORK_COMPLETED
from .model import Checkpoint, Claimed, Receipt, Token
from .open_run import OpenRun
from .payload import digest, key_digest, value_bytes
from .positions import SPAN
from .recording import UPDATE_STAGE, latest_ms, request_of
from .settling import COMPLETED_KEY, PUT_OPERATION, SETTLE
from .states import ADMITS_ATTEMPT_WRITES, ADMITS_CLAIMS, TERMINAL_RUN, move_work
from .transaction import INSERT_EVENT, Transaction

#: One call's arguments by name.
Call = dict[str, Any]
#: Returns the outcomes in order, or None.
Together = Callable[[Transaction, Sequence[Call]], list[Any] | None]

#: Calls at once; SQLite takes 1,000 terms in one expression.
MOST_TOGETHER: Final = 512

SELECT_ATTEMPTS: Final = "SELECT id, state, generation, worker, epoch, expires_at FROM work WHERE id IN"
SELECT_CLAIMS: Final = """
SELECT w.id, w.state, w.generation, w.starts, w.workflow, w.depth, CAST(e.payload AS BLOB)
FROM work w JOIN events e ON e.position = ? + w.boundary WHERE w.id IN"""
INSERT_OPERATION: Final = """
INSERT INTO operations (run, work, key, seq, generation, request) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
"""
INSERT_RESULT: Final = "INSERT INTO results (id, value) VALUES (?, ?)"


def commit(tx: Transaction, calls: Sequence[Call]) -> list[Receipt] | None:
    """Record the outcomes of stages; see recording.commit."""
    run = _one_run(tx, calls)
    tokens: list[Token] = [call["token"] for call in calls]
    checkpoints: list[Checkpoint] = [call["checkpoint"] for call in calls]
    if max(one.completed_at for one in checkpoints) > latest_ms(tx.now) or not _writable(tx, run, tokens):
        return None
    operations, events, stages = [], [], []
    now, stamp, base, number, epoch, seq = tx.now, tx.stamp(), run.base, run.number, run.epoch, run.last_seq
    for token, one in zip(tokens, checkpoints, strict=True):
        seq += 1
        n, stage, payload = token.n, one.stage, one.payload
        operations.append((number, n, key_digest(one.key), seq, token.generation, request_of(one)))
        events.append((base + seq, epoch, CHECKPOINT_RECORDED, n, now, payload))
        if stage:
            stages.append((stage, one.ok, stamp, base + n))
    if not _json(tx, [one.payload for one in checkpoints]):
        return None
    if tx.executemany(INSERT_OPERATION, operations).rowcount != len(operations):
        raise IdentityConflict("one of the checkpoints is recorded already")
    tx.executemany(UPDATE_STAGE, stages)
    receipts = _append(tx, run, events)
    run.stage_hits += [
        (one.stage, one.ok, one.duration_ms, receipt.seq)
        for one, receipt in zip(checkpoints, receipts, strict=True)
        if one.stage
    ]
    return receipts


def complete(tx: Transaction, calls: Sequence[Call]) -> list[Receipt] | None:
    """Settle work items with their results; see settling.complete."""
    run = _one_run(tx, calls)
    tokens: list[Token] = [call["token"] for call in calls]
    results: list[str] = [call["result"] for call in calls]
    if len({token.n for token in tokens}) != len(tokens) or not _writable(tx, run, tokens, moves="complete"):
        return None
    operations, events, rows, values = [], [], [], []
    now, stamp, base, number, epoch, seq = tx.now, tx.stamp(), run.base, run.number, run.epoch, run.last_seq
    for token, result in zip(tokens, results, strict=True):
        seq += 1
        n = token.n
        operations.append((number, n, COMPLETED_KEY, seq, token.generation, digest(value_bytes(result, "result"))))
        events.append((base + seq, epoch, WORK_COMPLETED, n, now, "{}"))
        rows.append(("completed", now, None, stamp, base + n))
        values.append((base + n, result))
    if not _json(tx, results):
        return None
    tx.executemany(INSERT_RESULT, values)
    tx.executemany(PUT_OPERATION, operations)
    tx.executemany(SETTLE, rows)
    return _append(tx, run, events)


def claim(tx: Transaction, calls: Sequence[Call]) -> list[Claimed | None] | None:
    """Lease ready work items; see queue.claim."""
    run = _one_run(tx, calls)
    if run.control not in ADMITS_CLAIMS or run.status in TERMINAL_RUN:
        return [None] * len(calls)
    base, epoch, now, stamp = run.base, run.epoch, tx.now, tx.stamp()
    wanted = [base + call["n"] for call in calls]
    many, ids = _in(wanted)
    found = {row[0]: row[1:] for row in tx.execute(SELECT_CLAIMS + many, (base, *ids)).fetchall()}
    if len(found) != len(wanted):
        return None  # an item that does not exist, or twice the same
    claims: list[Claimed | None] = []
    rows: list[tuple[object, ...]] = []
    after = move_work("claim", "ready")
    for work_id, call in zip(wanted, calls, strict=True):
        state, generation, starts, workflow, depth, boundary = found[work_id]
        if state != "ready":
            claims.append(None)
            continue
        worker, expires_at = call["worker"], now + call.get("ttl_ms", WORK_LEASE_TTL_MS)
        rows.append((after, generation + 1, starts + 1, worker, epoch, expires_at, now, stamp, work_id))
        token = Token(work_id - base, generation + 1, worker, epoch)
        claims.append(Claimed(token, workflow, queue.readable(boundary), starts + 1, depth, generation > 0))
    if rows:
        tx.executemany(queue.CLAIM, rows)
        run.dirty = True
        children = len(rows) - any(row[-1] == base for row in rows)
        if children:
            run.moves.append(("ready", after, children))
    return claims


#: What the writer may run together.
TOGETHER: Final[dict[Callable[..., Any], Together]] = {
    queue.claim: claim,
    queue.commit: commit,
    queue.complete: complete,
}


def _one_run(tx: Transaction, calls: Sequence[Call]) -> OpenRun:
    """Return the run of all calls; raises if they are not under one lease, or that is stale."""
    lease = calls[0]["lease"]
    if any(call["lease"] is not lease and call["lease"] != lease for call in calls):
        raise ValueError("calls under several leases")
    return tx.authority(lease)


def _writable(tx: Transaction, run: OpenRun, tokens: Sequence[Token], moves: str | None = None) -> bool:
    """Tell whether every attempt is alive and may record; with a verb, count its move for each."""
    if run.control not in ADMITS_ATTEMPT_WRITES or run.status in TERMINAL_RUN or run.last_seq + len(tokens) >= SPAN:
        return False
    base, epoch, now = run.base, run.epoch, tx.now
    many, ids = _in([base + token.n for token in tokens])
    found = {row[0]: row[1:] for row in tx.execute(SELECT_ATTEMPTS + many, ids).fetchall()}
    for token in tokens:
        state, generation, worker, leased_under, expires_at = found.get(base + token.n, (None,) * 5)
        if (
            (state != "leased" and state != "waiting")
            or (generation, worker, leased_under) != (token.generation, token.worker, epoch)
            or expires_at is None
            or expires_at <= now
        ):
            return False
        if moves is not None and token.n > 0:
            run.moves.append((state, move_work(moves, state), 1))
    return True


def _append(tx: Transaction, run: OpenRun, events: Sequence[tuple[Any, ...]]) -> list[Receipt]:
    """Write events whose positions follow the run's last one."""
    tx.executemany(INSERT_EVENT, events)
    first, now = run.last_seq + 1, tx.now
    run.last_seq += len(events)
    run.dirty = True
    return [Receipt(seq, now) for seq in range(first, first + len(events))]


def _json(tx: Transaction, texts: list[str]) -> bool:
    room = _room(len(texts))
    return bool(tx.execute(_valid(room), texts + ["0"] * (room - len(texts))).fetchone()[0])


def _in(ids: list[int]) -> tuple[str, list[int]]:
    """Return the list of an IN, and ids to fill it: few lengths, so that the library keeps the statements."""
    room = _room(len(ids))
    return _marks(room), ids + [-1] * (room - len(ids))


def _room(count: int) -> int:
    return 1 << (count - 1).bit_length()


@lru_cache(16)
def _marks(room: int) -> str:
    return f" ({','.join('?' * room)})"


@lru_cache(16)
def _valid(room: int) -> str:
    return "SELECT " + " AND ".join(["json_valid(?)"] * room)

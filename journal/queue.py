"""The pool queue's verbs: plain functions of an open transaction, under the root's lease.

Enqueue and claim are here; what an attempt does is in attempts.py, how work ends in settling.py, the run itself in
control.py. All verbs are to be taken from this module. The order in which work is claimed is the caller's choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from .attempts import WORK_LEASE_TTL_MS, adopt, release, renew, wait, wake
from .control import (
    close_gap,
    finish_as_root,
    finish_run,
    forget_worker,
    register_worker,
    set_control,
    set_setting,
    set_status,
)
from .errors import BadPayload, IdentityConflict
from .event_types import CHILD_ENQUEUED
from .holding import set_holds
from .model import Claimed, Enqueued, Lease, NewWork, Token
from .open_run import OpenRun
from .payload import digest, not_json, object_bytes, text_bytes
from .positions import OF_THE_RUN, SPAN
from .recording import commit
from .reopening import retry_failed
from .settling import cancel, cancel_left, cancel_tree, complete, fail
from .states import ADMITS_CLAIMS, TERMINAL_RUN, WorkState
from .transaction import INSERT_EVENT, Transaction
from .usage import charge
from .work import check_admitted, check_current, count_move, find, no_such_work

__all__ = [
    "WORK_LEASE_TTL_MS",
    "adopt",
    "cancel",
    "cancel_left",
    "cancel_tree",
    "charge",
    "claim",
    "close_gap",
    "commit",
    "complete",
    "enqueue",
    "fail",
    "finish_as_root",
    "finish_run",
    "forget_worker",
    "register_worker",
    "release",
    "renew",
    "retry_failed",
    "set_control",
    "set_holds",
    "set_setting",
    "set_status",
    "wait",
    "wake",
]

#: Keys looked up by one statement; also the items whose validity one statement looks at.
LOOKUP_CHUNK: Final = 500

INSERT_BOUNDARY = "INSERT INTO operations (run, work, key, seq, request, child) VALUES (?, ?, ?, ?, ?, ?)"
INSERT_WORK = """
INSERT INTO work (id, run, parent, boundary, workflow, label, depth, priority, state, epoch, ready_at, changed)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'ready', ?, ?, ?)
"""
SELECT_FOR_CLAIM = """
SELECT w.state, w.generation, w.starts, w.workflow, w.depth, CAST(e.payload AS BLOB)
FROM work w JOIN events e ON e.position = ? + w.boundary WHERE w.id = ?
"""
CLAIM = """
UPDATE work SET state = ?, generation = ?, starts = ?, worker = ?, epoch = ?, expires_at = ?,
  started_at = coalesce(started_at, ?), changed = ? WHERE id = ?
"""

Prepared = tuple[bytes, bytes, NewWork]


def enqueue(tx: Transaction, lease: Lease, parent: Token | None, items: Sequence[NewWork]) -> list[Enqueued]:
    """Add children, each with its boundary event; one whose key is there already comes back as it stands now.

    ``parent`` None enqueues the root itself (n = 0, one item). Raises IdentityConflict if a key comes with another
    workflow or payload, StaleWorkLease if the parent's attempt is not current, RootNotRunning, BadPayload.
    """
    run = tx.authority(lease)
    if parent is not None:
        check_current(run, find(tx, run, parent.n), parent)
    elif len(items) != 1:
        raise BadPayload(f"a run has one root, not {len(items)}")
    check_admitted(run)
    prepared = [_prepare(item) for item in items]
    owner = OF_THE_RUN if parent is None else parent.n
    known = _known(tx, run, owner, [key for key, _, _ in prepared])
    fresh: list[tuple[int, Prepared]] = []
    found: list[tuple[int, WorkState | None]] = []
    next_n = run.last_n + 1
    for entry in prepared:
        key, request, item = entry
        before = known.get(key)
        if before is None:
            before = known[key] = (next_n, request, None)
            fresh.append((next_n, entry))
            next_n += 1
        elif before[1] != request:
            raise IdentityConflict(
                f"Pool boundary identity conflict: key {item.key[:120]} of work item {owner} in run {run.run_id} "
                f"is child {before[0]} with another input: what was recorded first is kept"
            )
        found.append((before[0], before[2]))
    if fresh:
        if parent is None and run.last_n >= 0:
            raise IdentityConflict(f"Pool boundary identity conflict: run {run.run_id} has another root already")
        _insert(tx, run, parent, owner, fresh)
    return [Enqueued(n, state or "ready") for n, state in found]


def _prepare(item: NewWork) -> Prepared:
    # One loop over thousands of items runs this: the texts are encoded together, and told apart only when that fails.
    try:
        workflow, key, _ = item.workflow.encode(), item.key.encode(), item.label.encode()
    except UnicodeEncodeError:
        for what, text in (("workflow name", item.workflow), ("key", item.key), ("label", item.label)):
            text_bytes(text, what)
        raise
    return digest(key), digest(workflow, object_bytes(item.payload, "boundary")), item


def _known(
    tx: Transaction, run: OpenRun, owner: int, keys: list[bytes]
) -> dict[bytes, tuple[int, bytes, WorkState | None]]:
    """Return n, request and state of the children that exist under these keys, in few statements."""
    known: dict[bytes, tuple[int, bytes, WorkState | None]] = {}
    for start in range(0, len(keys), LOOKUP_CHUNK):
        chunk = keys[start : start + LOOKUP_CHUNK]
        rows = tx.execute(
            "SELECT o.key, o.child, o.request, w.state FROM operations o JOIN work w ON w.id = ? + o.child "
            f"WHERE o.run = ? AND o.work = ? AND o.key IN ({','.join('?' * len(chunk))})",
            (run.base, run.number, owner, *chunk),
        )
        for key, child, request, state in rows:
            known[key] = (child, request, state)
    return known


def _insert(tx: Transaction, run: OpenRun, parent: Token | None, owner: int, fresh: list[tuple[int, Prepared]]) -> None:
    _check_json(tx, [item.payload for _, (_, _, item) in fresh])
    now, stamp, base, number, epoch = tx.now, tx.stamp(), run.base, run.number, run.epoch
    parent_n = None if parent is None else parent.n
    first_n = fresh[0][0]
    to_seq = run.last_seq + 1 - first_n  # n and seq rise together
    if max(fresh[-1][0], fresh[-1][0] + to_seq) >= SPAN:
        raise BadPayload(f"run {run.run_id} is full: {run.last_seq:,} events, {run.last_n:,} work items")
    events = [(base + n + to_seq, epoch, CHILD_ENQUEUED, n, now, item.payload) for n, (_, _, item) in fresh]
    # Sorted, because the keys are hashes: one walk over the index instead of a thousand jumps.
    operations = sorted((number, owner, key, n + to_seq, request, n) for n, (key, request, _) in fresh)
    work = [
        (
            base + n, number, parent_n, n + to_seq, item.workflow, item.label, item.depth, item.priority,
            epoch, now, stamp,
        )
        for n, (_, _, item) in fresh
    ]  # fmt: skip
    tx.executemany(INSERT_EVENT, events)
    tx.executemany(INSERT_BOUNDARY, operations)
    tx.executemany(INSERT_WORK, work)
    run.last_seq += len(fresh)
    run.last_n += len(fresh)
    run.dirty = True
    children = len(fresh) - (first_n == 0)
    if children:
        run.moves.append((None, "ready", children))


def _check_json(tx: Transaction, payloads: list[str]) -> None:
    for start in range(0, len(payloads), LOOKUP_CHUNK):
        chunk = payloads[start : start + LOOKUP_CHUNK]
        valid = tx.execute("SELECT " + " AND ".join(["json_valid(?)"] * len(chunk)), chunk).fetchone()[0]
        if valid:
            continue
        for payload in chunk:
            if not tx.execute("SELECT json_valid(?)", (payload,)).fetchone()[0]:
                raise not_json(payload, "boundary")


def claim(tx: Transaction, lease: Lease, n: int, worker: str, ttl_ms: int = WORK_LEASE_TTL_MS) -> Claimed | None:
    """Lease a ready work item to a worker, as its next attempt.

    Returns None if the item is not ready, or the run's control state admits no claims now. Raises StaleLease.
    """
    run = tx.authority(lease)
    if run.control not in ADMITS_CLAIMS or run.status in TERMINAL_RUN:
        return None
    row = tx.execute(SELECT_FOR_CLAIM, (run.base, run.base + n)).fetchone()
    if row is None:
        raise no_such_work(run, n)
    state, generation, starts, workflow, depth, boundary = row
    if state != "ready":
        return None
    after = count_move(run, n, "claim", cast(WorkState, state))
    values = (after, generation + 1, starts + 1, worker, run.epoch, tx.now + ttl_ms, tx.now, tx.stamp(), run.base + n)
    tx.execute(CLAIM, values)
    token = Token(n, generation + 1, worker, run.epoch)
    return Claimed(token, workflow, readable(boundary), starts + 1, depth, generation > 0)


def readable(boundary: bytes) -> str:
    """Return a recorded input as text, empty if its bytes are no text any more.

    It was text when it was recorded. One damaged input must fail its child (which finds no object in it), not the
    claim of everything that shares the commit.
    """
    try:
        return boundary.decode()
    except UnicodeDecodeError:
        return ""

"""How a work item ends (completed, failed, cancelled), and how failed ones come back."""

from __future__ import annotations

import json
from typing import Final

from .errors import IdentityConflict, StaleWorkLease
from .event_types import WORK_CANCELLED, WORK_COMPLETED, WORK_FAILED
from .model import Lease, Receipt, Token
from .open_run import OpenRun
from .payload import as_text, digest, key_digest, not_json, object_bytes, value_bytes
from .states import SETTLED_WORK
from .transaction import Transaction
from .work import check_admitted, check_attempt, check_current, check_writable, count_move, find

#: Longest one-line error that a row keeps; the whole text is in the event.
ERROR_LINE_CHARACTERS: Final = 500
COMPLETED_KEY: Final = key_digest('["WorkCompleted"]')
#: Leads to a work item's newest failure without a scan.
FAILED_KEY: Final = key_digest('["WorkFailed"]')

SETTLE = "UPDATE work SET state = ?, expires_at = NULL, ended_at = ?, error = ?, changed = ? WHERE id = ?"
INSERT_RESULT = "INSERT INTO results (id, value) SELECT ?1, ?2 WHERE json_valid(?2)"
SELECT_OPERATION = "SELECT seq, generation, request FROM operations WHERE run = ? AND work = ? AND key = ?"
PUT_OPERATION = "INSERT OR REPLACE INTO operations (run, work, key, seq, generation, request) VALUES (?, ?, ?, ?, ?, ?)"
SELECT_OPEN_BELOW = "SELECT id FROM work WHERE run = ? AND parent = ? AND ended_at IS NULL"
COUNT_LEFT = """
SELECT state, count(*), sum(parent IS NULL) FROM work WHERE run = ? AND ended_at IS NULL GROUP BY state
"""
CANCEL_LEFT = """
UPDATE work SET state = 'cancelled', expires_at = NULL, ended_at = ?, changed = ? WHERE run = ? AND ended_at IS NULL
"""


def complete(tx: Transaction, lease: Lease, token: Token, result: str) -> Receipt:
    """Settle the work item with its result (JSON, any value); the same again gets the same receipt.

    Raises IdentityConflict for another result, StaleWorkLease, RootNotRunning, BadPayload. For the root (n = 0) only
    the row moves: ``finish_run`` ends the run.
    """
    run = tx.authority(lease)
    request = digest(value_bytes(result, "result"))
    row = find(tx, run, token.n)
    check_attempt(run, row, token)
    if row.state == "completed":
        return _settled_before(tx, run, token, COMPLETED_KEY, request)
    check_current(run, row, token)
    check_writable(tx, run, row, token.n)
    state = count_move(run, token.n, "complete", row.state)
    work_id = run.base + token.n
    if tx.execute(INSERT_RESULT, (work_id, result)).rowcount != 1:
        raise not_json(result, "result")
    seq = tx.append(run, WORK_COMPLETED, "{}", token.n)
    tx.execute(PUT_OPERATION, (run.number, token.n, COMPLETED_KEY, seq, token.generation, request))
    tx.execute(SETTLE, (state, tx.now, None, tx.stamp(), work_id))
    return Receipt(seq, tx.now)


def fail(tx: Transaction, lease: Lease, token: Token, error_line: str, payload: str) -> Receipt:
    """Settle the work item as failed: one line for lists, the whole story in the payload (JSON object).

    Also for an attempt of an older epoch, or a ready item: it is the coordinator who gives up on it. A ready item's
    token has an empty worker: a lost worker's late word must not end what was given back.
    Raises StaleWorkLease, RootNotRunning, IdentityConflict.
    """
    run = tx.authority(lease)
    data = object_bytes(payload, "failure")
    row = find(tx, run, token.n)
    if row.state != "ready" or token.worker or row.generation != token.generation:
        check_attempt(run, row, token)
    request = digest(data)
    if row.state == "failed":
        return _settled_before(tx, run, token, FAILED_KEY, request)
    if row.state in SETTLED_WORK:
        raise StaleWorkLease(f"Stale work lease: work item {token.n} of run {run.run_id} is {row.state}")
    check_admitted(run)
    if not tx.execute("SELECT json_valid(?)", (payload,)).fetchone()[0]:
        raise not_json(payload, "failure")
    state = count_move(run, token.n, "fail", row.state)
    seq = tx.append(run, WORK_FAILED, payload, token.n)
    tx.execute(PUT_OPERATION, (run.number, token.n, FAILED_KEY, seq, token.generation, request))
    tx.execute(SETTLE, (state, tx.now, one_line(error_line), tx.stamp(), run.base + token.n))
    return Receipt(seq, tx.now)


def _settled_before(tx: Transaction, run: OpenRun, token: Token, key: bytes, request: bytes) -> Receipt:
    seq, generation, recorded = tx.execute(SELECT_OPERATION, (run.number, token.n, key)).fetchone()
    if generation != token.generation or recorded != request:
        raise IdentityConflict(
            f"Pool result identity mismatch: work item {token.n} of run {run.run_id} has another result already"
        )
    return Receipt(seq, tx.execute("SELECT at FROM events WHERE position = ?", (run.base + seq,)).fetchone()[0])


def cancel(tx: Transaction, lease: Lease, n: int) -> Receipt:
    """End an unsettled work item for good; raises IllegalMove if it is settled, StaleWorkLease if there is none."""
    run = tx.authority(lease)
    row = find(tx, run, n)
    state = count_move(run, n, "cancel", row.state)
    seq = tx.append(run, WORK_CANCELLED, "{}", n)
    tx.execute(SETTLE, (state, tx.now, None, tx.stamp(), run.base + n))
    return Receipt(seq, tx.now)


def cancel_tree(tx: Transaction, lease: Lease, n: int, by: str | None, why: str | None) -> list[int]:
    """End a work item and everything unsettled below it, at once; return their n, empty if it is settled already.

    Raises StaleWorkLease if there is no such item.
    """
    run = tx.authority(lease)
    if find(tx, run, n).state in SETTLED_WORK:
        return []
    found, level = [n], [n]
    while level:  # bounded: workflows nest a few levels deep
        level = [
            row[0] - run.base
            for parent in level
            for row in tx.execute(SELECT_OPEN_BELOW, (run.number, parent)).fetchall()
        ]
        found += level
    told = {"count": len(found), "by": as_text(by), "why": as_text(why)}
    tx.append(run, WORK_CANCELLED, json.dumps(told), n)
    for each in found:
        state = count_move(run, each, "cancel", find(tx, run, each).state)
        tx.execute(SETTLE, (state, tx.now, None, tx.stamp(), run.base + each))
    return found


def cancel_left(tx: Transaction, lease: Lease) -> int:
    """Cancel every unsettled work item, the root too, and return how many. Raises StaleLease."""
    run = tx.authority(lease)
    left = tx.execute(COUNT_LEFT, (run.number,)).fetchall()
    if left:
        tx.append(run, WORK_CANCELLED, json.dumps({"count": sum(row[1] for row in left)}), None)
        tx.execute(CANCEL_LEFT, (tx.now, tx.stamp(), run.number))
    for state, count, roots in left:  # counts are of children
        run.moves.append((state, "cancelled", count - roots))
    return sum(row[1] for row in left)


def one_line(text: str) -> str:
    """Return an error as a row keeps it: one line, bounded, never a lone surrogate."""
    line = " ".join(text.split()) if len(text) <= ERROR_LINE_CHARACTERS else " ".join(text[:2000].split())
    if len(line) > ERROR_LINE_CHARACTERS:
        line = line[: ERROR_LINE_CHARACTERS - 1] + "…"
    return line.encode("utf-8", "replace").decode()

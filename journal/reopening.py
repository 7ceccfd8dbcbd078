"""Taking up again what had failed: exactly that, and what has to look at it again."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Final, cast

from .event_types import WORK_RETRIED
from .model import Lease
from .open_run import OpenRun
from .payload import as_text, key_digest
from .states import SETTLED_WORK, TERMINAL_RUN, WorkState
from .transaction import Transaction
from .work import check_admitted

#: Leads to the newest event that took a work item up again: what failed before it does not count on replay.
REOPENED_KEY: Final = key_digest('["Reopened"]')
#: Numbers that the event lists; there may be thousands, and the rows tell them all.
LISTED: Final = 1000

SELECT_FAILED = "SELECT id FROM work WHERE run = ? AND state = 'failed' ORDER BY id"
SELECT_CANCELLED = "SELECT id FROM work WHERE run = ? AND parent = ? AND state = 'cancelled'"
SELECT_PARENT = "SELECT parent FROM work WHERE id = ?"
SELECT_STATE = "SELECT state FROM work WHERE id = ?"
REOPEN = """
UPDATE work SET state = 'ready', starts = 0, worker = NULL, error = NULL, ended_at = NULL, ready_at = ?, epoch = ?,
  changed = ? WHERE id = ?
"""
PUT_REOPENED = "INSERT OR REPLACE INTO operations (run, work, key, seq) VALUES (?, ?, ?, ?)"
REOPEN_RUN = "UPDATE runs SET status = 'pending', ended_at = NULL, result = NULL, error = NULL WHERE number = ?"


def retry_failed(
    tx: Transaction,
    lease: Lease,
    only: Collection[int] | None = None,
    by: str | None = None,
    why: str | None = None,
) -> list[int]:
    """Put failed work items (``only`` these) back to ready with no starts counted, and return their n.

    What was cancelled because its parent failed is taken up with it, and every ended ancestor, which has to look at the
    new outcome; completed siblings are not touched. An ended run is ``pending`` again. Raises RootNotRunning.
    """
    run = tx.authority(lease)
    if run.status not in TERMINAL_RUN:
        check_admitted(run)
    failed = [row[0] - run.base for row in tx.execute(SELECT_FAILED, (run.number,))]
    if only is not None:
        wanted = set(only)
        failed = [n for n in failed if n in wanted]
    if not failed:
        return []
    again: dict[int, WorkState] = dict.fromkeys(failed, "failed")
    for n in _cancelled_below(tx, run, failed):
        again[n] = "cancelled"
    for n, state in _ended_above(tx, run, failed):
        again.setdefault(n, state)
    told = {"count": len(failed), "failed": failed[:LISTED], "by": as_text(by), "why": as_text(why)}
    seq = tx.append(run, WORK_RETRIED, json.dumps(told), None)
    for n, state in again.items():
        tx.execute(REOPEN, (tx.now, run.epoch, tx.stamp(), run.base + n))
        tx.execute("DELETE FROM results WHERE id = ?", (run.base + n,))
        tx.execute(PUT_REOPENED, (run.number, n, REOPENED_KEY, seq))
        if n > 0:
            run.moves.append((state, "ready", 1))
    if run.status in TERMINAL_RUN:
        tx.execute(REOPEN_RUN, (run.number,))
        run.status = "pending"
    return failed


def _cancelled_below(tx: Transaction, run: OpenRun, parents: list[int]) -> list[int]:
    found: list[int] = []
    level = parents
    while level:  # bounded: workflows nest a few levels deep
        level = [
            row[0] - run.base
            for parent in level
            for row in tx.execute(SELECT_CANCELLED, (run.number, parent)).fetchall()
        ]
        found += level
    return found


def _ended_above(tx: Transaction, run: OpenRun, children: list[int]) -> list[tuple[int, WorkState]]:
    found: dict[int, WorkState] = {}
    level = set(children)
    while level:  # bounded like the above
        parents = {tx.execute(SELECT_PARENT, (run.base + n,)).fetchone()[0] for n in level} - {None, *found}
        for parent in parents:
            state = cast("WorkState", tx.execute(SELECT_STATE, (run.base + parent,)).fetchone()[0])
            if state in SETTLED_WORK:
                found[parent] = state
        level = parents
    return list(found.items())

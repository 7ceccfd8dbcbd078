"""Forgetting a run: every row of it in one transaction. Functions of an open transaction.

One transaction, although a large run's takes seconds in which other writers wait: half a run must never be seen, and
pages that become free are not written to the WAL.
"""

from __future__ import annotations

from typing import Final

from .errors import LeaseHeld
from .lease import ROOT_LEASE_TTL_MS
from .positions import SPAN
from .states import TERMINAL_RUN, IllegalMove
from .transaction import Transaction

#: Name in ``journal_meta`` of the highest number that any deleted run had: a lease or a screen may still hold it.
HIGHEST_DELETED: Final = "highest_deleted_run"
#: The number for a new run, as an SQL expression.
NEXT_NUMBER: Final = f"""
SELECT max(coalesce((SELECT max(number) FROM runs), 0),
  coalesce((SELECT CAST(value AS INTEGER) FROM journal_meta WHERE name = '{HIGHEST_DELETED}'), 0)) + 1
"""
PUT_HIGHEST: Final = f"""
INSERT INTO journal_meta (name, value) VALUES ('{HIGHEST_DELETED}', ?1)
ON CONFLICT DO UPDATE SET value = max(CAST(value AS INTEGER), ?1)
"""
#: Tables by key range. The other tables follow the run's row by their foreign keys.
BY_RANGE: Final = (("events", "position"), ("results", "id"), ("work", "id"))


def delete_run(tx: Transaction, run_id: str, *, ended_only: bool = False) -> None:
    """Delete the run and everything recorded for it; raises LeaseHeld while its lease is live, RunNotFound.

    With ``ended_only`` raises IllegalMove for a run that could still go on.
    """
    run = tx.find(run_id)
    if run.holder is not None and run.renewed_at is not None and tx.now - run.renewed_at <= ROOT_LEASE_TTL_MS:
        raise LeaseHeld(
            f"run {run_id} is held by {run.holder}, epoch {run.epoch}, renewed {tx.now - run.renewed_at} ms ago: "
            "stop it first"
        )
    if ended_only and run.status not in TERMINAL_RUN:
        raise IllegalMove(f"run {run_id} has not ended: it is {run.status}")
    for table, key in BY_RANGE:
        tx.execute(f"DELETE FROM {table} WHERE {key} >= ? AND {key} < ?", (run.base, run.base + SPAN))
    tx.execute("DELETE FROM operations WHERE run = ?", (run.number,))
    tx.execute("DELETE FROM runs WHERE number = ?", (run.number,))
    tx.execute(PUT_HIGHEST, (run.number,))
    tx.stamp()
    tx.forget(run)

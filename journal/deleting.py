"""Forgetting a run. Functions of an open transaction.

The run vanishes in one transaction: its row goes, and work items, stages, lease and control follow it by their foreign
keys. Events, results and keys of its number belong to nothing then; they are noted as garbage and swept in small
transactions, for a deletion writes to the WAL as much as it deletes. Whoever is killed in between leaves garbage that
the next sweep finds; its number is never given to another run.
"""

from __future__ import annotations

from typing import Final

from .errors import LeaseHeld
from .lease import ROOT_LEASE_TTL_MS
from .positions import base
from .states import TERMINAL_RUN, IllegalMove
from .transaction import Transaction

#: Name in ``journal_meta`` of the highest number that any deleted run had: a lease or a screen may still hold it.
HIGHEST_DELETED: Final = "highest_deleted_run"
#: Beginning of the name of a note that rows of a number are to be swept; the number stands behind it.
GARBAGE: Final = "garbage:"
#: Rows that one transaction sweeps from each table.
SWEPT_ROWS: Final = 2_000

#: The number for a new run, as an SQL query.
NEXT_NUMBER: Final = f"""
SELECT max(coalesce((SELECT max(number) FROM runs), 0),
  coalesce((SELECT CAST(value AS INTEGER) FROM journal_meta WHERE name = '{HIGHEST_DELETED}'), 0)) + 1
"""
#: The numbers whose rows are to be swept.
GARBAGE_NUMBERS: Final = f"""
SELECT CAST(value AS INTEGER) FROM journal_meta WHERE name >= '{GARBAGE}' AND name < '{GARBAGE}~' ORDER BY name
"""
PUT_HIGHEST: Final = f"""
INSERT INTO journal_meta (name, value) VALUES ('{HIGHEST_DELETED}', ?1)
ON CONFLICT DO UPDATE SET value = max(CAST(value AS INTEGER), ?1)
"""
SWEEP_KEYS: Final = """
DELETE FROM operations WHERE run = ?1 AND (work, key) IN
  (SELECT work, key FROM operations WHERE run = ?1 ORDER BY work, key LIMIT ?2)
"""


def delete_run(tx: Transaction, run_id: str, *, ended_only: bool = False) -> None:
    """Make the run vanish, and leave the rest to ``sweep``; raises LeaseHeld while its lease is live, RunNotFound.

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
    tx.execute("DELETE FROM runs WHERE number = ?", (run.number,))
    tx.execute("INSERT INTO journal_meta (name, value) VALUES (?, ?)", (f"{GARBAGE}{run.number}", str(run.number)))
    tx.execute(PUT_HIGHEST, (run.number,))
    tx.stamp()
    tx.forget(run)


def sweep(tx: Transaction) -> bool:
    """Delete some rows of runs that have vanished; return whether there may be more."""
    found = tx.execute(f"{GARBAGE_NUMBERS} LIMIT 1").fetchone()
    if found is None:
        return False
    number: int = found[0]
    ends = (base(number), base(number + 1), SWEPT_ROWS)
    swept = tx.execute(SWEEP_KEYS, (number, SWEPT_ROWS)).rowcount
    for table, key in (("events", "position"), ("results", "id")):
        among = f"SELECT {key} FROM {table} WHERE {key} >= ? AND {key} < ? ORDER BY {key} LIMIT ?"
        swept += tx.execute(f"DELETE FROM {table} WHERE {key} IN ({among})", ends).rowcount
    if not swept:
        tx.execute("DELETE FROM journal_meta WHERE name = ?", (f"{GARBAGE}{number}",))
    return True

"""The usage ledger: what was charged, once, and the kept totals of every work item with all below it.

Functions of an open transaction. A charge is recorded like a stage's outcome, under a key: the same again, after a lost
answer or on replay, charges nothing. Its payload tells the amounts, so that the totals can be counted again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from .errors import BadPayload
from .event_types import CHECKPOINT_RECORDED
from .model import Checkpoint, Lease, Receipt, Token
from .open_run import OpenRun
from .recording import commit
from .transaction import Transaction

#: Different things that one run can account for.
NAMES_LIMIT: Final = 32
NAME_CHARACTERS: Final = 64

#: How the payload of a charge begins, and no other.
CHARGE_PREFIX: Final = '{"kind":"usage",'
#: By work item and name; for the recount.
SELECT_CHARGED: Final = f"""
SELECT e.work, j.key, sum(j.value) FROM events e, json_each(CASE WHEN e.type = '{CHECKPOINT_RECORDED}'
  AND substr(e.payload, 1, {len(CHARGE_PREFIX)}) = '{CHARGE_PREFIX}' AND json_valid(e.payload)
  THEN e.payload ELSE '{{}}' END, '$.amounts') j
WHERE e.position > ? AND e.position < ? AND e.work IS NOT NULL GROUP BY e.work, j.key
"""
ADD = """
INSERT INTO usage (run, work, name, amount) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT DO UPDATE SET amount = amount + ?4
"""
SELECT_PARENT = "SELECT parent FROM work WHERE id = ?"
COUNT_NAMES = "SELECT count(*) FROM usage WHERE run = ? AND work = 0"
SELECT_TOTALS = "SELECT name, amount FROM usage WHERE run = ? AND work = ?"


def charge(
    tx: Transaction, lease: Lease, token: Token, key: str, amounts: Mapping[str, int | float]
) -> tuple[Receipt, dict[str, int | float]]:
    """Record a charge once under its key; return its receipt and the run's totals after it.

    Raises what ``commit`` raises, and BadPayload for a negative amount or too many different names.
    """
    for name, amount in amounts.items():
        if not name or len(name) > NAME_CHARACTERS:
            raise BadPayload(f"usage has a name of 1 to {NAME_CHARACTERS} characters, not {name[:80]!r}")
        if not 0 <= amount < 1e18:
            raise BadPayload(f"usage of {name} must be from 0 to 1e18, not {amount}")
    run = tx.authority(lease)
    before = run.last_seq
    receipt = commit(tx, lease, token, Checkpoint(key, "", _payload(amounts), 0, 0, 0.0))
    if run.last_seq > before:  # else it is on record already
        _add(tx, run, token.n, amounts)
    return receipt, dict(tx.execute(SELECT_TOTALS, (run.number, 0)).fetchall())


def _payload(amounts: Mapping[str, int | float]) -> str:
    return json.dumps({"kind": "usage", "amounts": dict(amounts)}, separators=(",", ":"))


def _add(tx: Transaction, run: OpenRun, n: int, amounts: Mapping[str, int | float]) -> None:
    above: int | None = n
    while above is not None:  # bounded: workflows nest a few levels deep
        tx.executemany(ADD, [(run.number, above, name, amount) for name, amount in amounts.items()])
        above = tx.execute(SELECT_PARENT, (run.base + above,)).fetchone()[0]
    if tx.execute(COUNT_NAMES, (run.number,)).fetchone()[0] > NAMES_LIMIT:
        raise BadPayload(f"run {run.run_id} accounts for {NAMES_LIMIT} different things already: {', '.join(amounts)}")

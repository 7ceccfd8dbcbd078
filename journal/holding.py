"""Holding back a part of a run: a child with what is below it, a stage name, a worker's place.

Functions of an open transaction. A hold is a row, so that a successor finds what is in force; who asked, why, and
every change is an event. What follows from a hold is the coordinator's business.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from .event_types import HOLD_CHANGED
from .model import Lease
from .payload import as_text
from .states import TERMINAL_RUN, HoldScope, IllegalMove
from .transaction import Transaction

#: Holds that one run can have in force.
HOLDS_LIMIT: Final = 100_000
#: Names that an event lists; the rows tell them all.
LISTED: Final = 1000

INSERT = "INSERT INTO holds (run, scope, name, who, why, at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
CUT = "INSERT INTO cuts (run, scope, name) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
DELETE = "DELETE FROM holds WHERE run = ? AND scope = ? AND name = ?"
UNCUT = "DELETE FROM cuts WHERE run = ? AND scope = ? AND name = ?"
COUNT = "SELECT count(*) FROM holds WHERE run = ?"


def set_holds(
    tx: Transaction,
    lease: Lease,
    scope: HoldScope,
    names: Sequence[str],
    held: bool,
    by: str | None,
    why: str | None,
    cut: bool = False,
) -> list[str]:
    """Hold these names, or let them go, and return those for which that is new; the same again changes nothing.

    ``cut``: what runs there is not only to park, but to be cut off.
    Raises IllegalMove for a run that has ended, or for more holds than a run can have.
    """
    run = tx.authority(lease)
    if run.status in TERMINAL_RUN:
        raise IllegalMove(f"run {run.run_id} has ended: it is {run.status}")
    by, why = as_text(by), as_text(why)
    changed: list[str] = []
    for name in dict.fromkeys(names):
        key = (run.number, scope, name)
        news = (tx.execute(INSERT, (*key, by, why, tx.now)) if held else tx.execute(DELETE, key)).rowcount
        if cut or not held:
            news += tx.execute(CUT if held else UNCUT, key).rowcount
        if news:
            changed.append(name)
    if not changed:
        return []
    if held and tx.execute(COUNT, (run.number,)).fetchone()[0] > HOLDS_LIMIT:
        raise IllegalMove(f"run {run.run_id} would have more than {HOLDS_LIMIT:,} holds: pause the whole run instead")
    told = {"scope": scope, "held": held, "count": len(changed), "names": changed[:LISTED], "by": by, "why": why}
    if cut:
        told["cut"] = True
    tx.append(run, HOLD_CHANGED, json.dumps(told), None)
    return changed

"""Budgets of children: what their parent's call gave them, and what a person made of it since.

Each is a setting that says for which children it is, and which one came before it: together they are a chain from the
newest back, so that a change costs what it changes and a coordinator reads no more than there is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from .child_budget_reader import SETTING
from .control import set_setting, setting_key
from .model import Enqueued, Lease, NewWork, Token
from .positions import OF_THE_RUN
from .queue import enqueue
from .transaction import Transaction

SELECT_NEWEST: Final = "SELECT seq FROM operations WHERE run = ? AND work = ? AND key = ?"
Ranges = Sequence[tuple[int, int]]


def limit_children(
    tx: Transaction, lease: Lease, children: Ranges, limits: Mapping[str, float], by: str, why: str | None = None
) -> None:
    """Record what these children may use from now on, each with all below it; nothing for no limits at all."""
    run = tx.authority(lease)
    newest = tx.execute(SELECT_NEWEST, (run.number, OF_THE_RUN, setting_key(SETTING))).fetchone()
    value = {"children": list(children), "limits": dict(limits), "before": newest[0] if newest else None}
    set_setting(tx, lease, SETTING, json.dumps(value), by, why)


def enqueue_limited(
    tx: Transaction, lease: Lease, parent: Token, items: Sequence[NewWork], limits: Mapping[str, float], by: str
) -> list[Enqueued]:
    """Add children as ``enqueue`` does, and record what each may use; who is there already keeps what it has."""
    before = tx.authority(lease).last_n
    found = enqueue(tx, lease, parent, items)
    fresh = [child.n for child in found if child.n > before]
    if fresh:  # they are numbered one after the other
        limit_children(tx, lease, [(min(fresh), max(fresh))], limits, by)
    return found

"""A run's kept totals of usage against its charges, added up again."""

from __future__ import annotations

from math import isclose
from typing import Final

from .driver import Connection
from .finding import Findings, examples
from .positions import SPAN, base
from .usage import SELECT_CHARGED, SELECT_PARENT

#: Amounts may be fractions, and were not added in this order.
RELATIVE_TOLERANCE: Final = 1e-9
SELECT_KEPT: Final = "SELECT work, name, amount FROM usage WHERE run = ?"

#: (n, name) -> amount
Totals = dict[tuple[int, str], float]


def recount_usage(connection: Connection, number: int, run_id: str, findings: Findings) -> None:
    """Compare every work item's totals with what it and all below it were charged, inside an open transaction."""
    kept: Totals = {(n, name): amount for n, name, amount in connection.execute(SELECT_KEPT, (number,))}
    counted = _counted(connection, base(number))
    wrong = sorted(
        key
        for key in kept.keys() | counted.keys()
        if not isclose(kept.get(key, 0), counted.get(key, 0), rel_tol=RELATIVE_TOLERANCE)
    )
    if wrong:
        n, name = wrong[0]
        what = (
            f"{name!r} of work item {n} is kept as {kept.get((n, name), 'nothing')}, "
            f"{counted.get((n, name), 'nothing')} is charged"
        )
        others = sorted({n for n, _ in wrong[1:]} - {n})
        findings.add("count", f"usage: {what}{f'; also of {examples(others)}' if others else ''}", run_id)


def _counted(connection: Connection, start: int) -> Totals:
    """Return what was charged to each work item or to anything below it."""
    charged = connection.execute(SELECT_CHARGED, (start, start + SPAN)).fetchall()
    above: dict[int, int | None] = {}
    totals: Totals = {}
    for n, name, amount in charged:
        at: int | None = n
        while at is not None:
            totals[at, name] = totals.get((at, name), 0) + amount
            if at not in above:
                row = connection.execute(SELECT_PARENT, (start + at,)).fetchone()
                # Parents come first: whatever a damaged row says, this ends.
                above[at] = row[0] if row is not None and row[0] is not None and row[0] < at else None
            at = above[at]
    return totals

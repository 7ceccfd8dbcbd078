"""Reading the budgets of children, and what counts against them."""

from __future__ import annotations

import json
from typing import Final

from .control import setting_key
from .positions import OF_THE_RUN, base
from .reading import Reading

#: The setting in which the budgets of children are recorded; child_budgets.py says how.
SETTING: Final = "child budget"
#: Changes of budgets that are read back at most: a call has one for each 500 children.
MOST_CHANGES: Final = 100_000

SELECT_CHAIN: Final = """
WITH RECURSIVE chain (payload) AS (
  SELECT e.payload FROM operations o JOIN events e ON e.position = ?1 + o.seq
  WHERE o.run = ?2 AND o.work = ?3 AND o.key = ?4
  UNION ALL
  SELECT e.payload FROM chain JOIN events e ON e.position = ?1 + json_extract(chain.payload, '$.value.before')
  LIMIT ?5
)
SELECT payload FROM chain
"""
SELECT_FAILED: Final = """
WITH RECURSIVE below (n, state) AS (
  SELECT id - ?1, state FROM work WHERE run = ?2 AND parent = ?3
  UNION ALL
  SELECT w.id - ?1, w.state FROM below JOIN work w ON w.run = ?2 AND w.parent = below.n
)
SELECT count(*) FROM below WHERE state = 'failed'
"""


class ChildBudgetReader:
    """What children of a run may use; ``run`` is its number in the file."""

    def __init__(self, reading: Reading) -> None:
        self._rows, self._row = reading.rows, reading.row

    async def changes(self, run: int) -> list[tuple[list[tuple[int, int]], dict[str, float]]]:
        """Return (ranges of children, limits by name) of every change, oldest first: the last one counts."""
        key = setting_key(SETTING)
        rows = await self._rows(SELECT_CHAIN, (base(run), run, OF_THE_RUN, key, MOST_CHANGES))
        values = [json.loads(payload)["value"] for (payload,) in reversed(rows)]
        return [([(first, last) for first, last in told["children"]], told["limits"]) for told in values]

    async def charged(self, run: int) -> set[int]:
        """Return the children that have used anything, themselves or below."""
        rows = await self._rows("SELECT DISTINCT work FROM usage WHERE run = ? AND work > 0", (run,))
        return {work for (work,) in rows}

    async def failed_below(self, run: int, n: int) -> int:
        """Return how many below a work item have failed; costs what is below it."""
        row = await self._row(SELECT_FAILED, (base(run), run, n))
        return int(row[0]) if row is not None else 0

"""Forgetting old runs: which ones, and then one after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from .clock import NOW_MS
from .deleting import delete_run
from .errors import LeaseHeld, RunNotFound
from .sqlite import SqliteJournal
from .states import TERMINAL_RUN, IllegalMove
from .transaction import Transaction

#: Runs of one call: more of them need another one.
MOST_RUNS: Final = 10_000

SELECT_OLD: Final = f"""
SELECT run_id, name, status, ended_at, header, last_seq, last_n FROM runs
WHERE ended_at IS NOT NULL AND status IN ({", ".join(f"'{status}'" for status in sorted(TERMINAL_RUN))})
  AND ended_at <= {NOW_MS} - ?1
  AND number NOT IN (SELECT number FROM runs WHERE ended_at IS NOT NULL ORDER BY ended_at DESC, number DESC LIMIT ?2)
ORDER BY ended_at, number LIMIT ?3
"""


@dataclass(frozen=True, slots=True)
class OldRun:
    """An ended run that may be forgotten. ``header`` is the engine's JSON; ``ended_at`` is the store's clock, in ms."""

    run_id: str
    name: str
    status: str
    ended_at: int
    header: str
    events: int
    children: int


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was forgotten, or would have been, and what was kept although it is old, with the reason."""

    forgotten: tuple[OldRun, ...]
    kept: tuple[tuple[OldRun, str], ...]
    more: bool


async def old_runs(journal: SqliteJournal, older_than_ms: int, keep: int) -> list[OldRun]:
    """Return the runs that ended at least so long ago and are not among the ``keep`` that ended last, oldest first."""

    def read(tx: Transaction) -> list[OldRun]:
        rows = tx.execute(SELECT_OLD, (older_than_ms, keep, MOST_RUNS)).fetchall()
        return [OldRun(*row) for row in rows]

    return await journal.transact(read)


async def prune(
    journal: SqliteJournal,
    *,
    older_than_ms: int,
    keep: int,
    dry_run: bool = False,
    forget: Callable[[OldRun], None] | None = None,
) -> Pruned:
    """Delete old ended runs one by one; ``forget`` then takes away what lies beside the journal.

    What an earlier call that was killed left of its runs goes too. A run that was taken up again meanwhile, or whose
    lease is live, is kept.
    """
    old = await old_runs(journal, older_than_ms, keep)
    if dry_run:
        return Pruned(tuple(old), (), len(old) == MOST_RUNS)
    forgotten: list[OldRun] = []
    kept: list[tuple[OldRun, str]] = []
    for run in old:
        try:
            await journal.transact(_vanishing(run.run_id))
        except RunNotFound:
            continue
        except (LeaseHeld, IllegalMove) as error:
            kept.append((run, str(error)))
            continue
        # After the rows: a kill in between leaves a folder that nothing needs, not a run without its logs.
        if forget is not None:
            forget(run)
        forgotten.append(run)
    await journal.sweep()
    return Pruned(tuple(forgotten), tuple(kept), len(old) == MOST_RUNS)


def _vanishing(run_id: str) -> Callable[[Transaction], None]:
    return lambda tx: delete_run(tx, run_id, ended_only=True)

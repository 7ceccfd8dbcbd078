"""One work item's row inside an open transaction: finding it, and whether an attempt may still move it."""

from __future__ import annotations

from typing import NamedTuple

from .errors import RootNotRunning, StaleWorkLease
from .model import Token
from .open_run import OpenRun
from .states import ADMITS_ATTEMPT_WRITES, TERMINAL_RUN, WorkState, move_work
from .transaction import Transaction

SELECT_WORK = "SELECT state, generation, worker, epoch, expires_at, starts FROM work WHERE id = ?"


class Held(NamedTuple):
    """What decides about a move."""

    state: WorkState
    generation: int
    worker: str | None
    epoch: int
    expires_at: int | None
    starts: int


def find(tx: Transaction, run: OpenRun, n: int) -> Held:
    """Return the row; raises StaleWorkLease if there is none."""
    row = tx.execute(SELECT_WORK, (run.base + n,)).fetchone()
    if row is None:
        raise no_such_work(run, n)
    return Held(*row)


def no_such_work(run: OpenRun, n: int) -> StaleWorkLease:
    """Return the error for an n that the run does not have."""
    return StaleWorkLease(f"Stale work lease: run {run.run_id} has no work item {n}")


def check_attempt(run: OpenRun, row: Held, token: Token) -> None:
    """Raise StaleWorkLease unless the row is this very attempt's, under whichever epoch.

    The token's own epoch does not count: an adopted attempt's messages may still carry the epoch before.
    """
    if row.generation != token.generation or row.worker != token.worker:
        raise StaleWorkLease(
            f"Stale work lease: work item {token.n} of run {run.run_id} is {row.state} at attempt {row.generation} "
            f"by {row.worker or 'no worker'}, not attempt {token.generation} by {token.worker}"
        )


def check_current(run: OpenRun, row: Held, token: Token) -> None:
    """Raise StaleWorkLease unless the attempt is alive and leased or adopted under the run's present epoch."""
    check_attempt(run, row, token)
    if row.state != "leased" and row.state != "waiting":
        raise StaleWorkLease(f"Stale work lease: work item {token.n} of run {run.run_id} is {row.state}")
    if row.epoch != run.epoch:
        raise StaleWorkLease(
            f"Stale work lease: work item {token.n} of run {run.run_id} is leased under epoch {row.epoch}, "
            f"the run is at epoch {run.epoch}: adopt it first"
        )


def check_writable(tx: Transaction, run: OpenRun, row: Held, n: int) -> None:
    """Raise unless something new may be recorded: the lease has not run out and control admits it."""
    if row.expires_at is not None and row.expires_at <= tx.now:
        raise StaleWorkLease(
            f"Stale work lease: the lease of work item {n} of run {run.run_id} ran out "
            f"{tx.now - row.expires_at} ms ago: renew it first"
        )
    check_admitted(run)


def check_admitted(run: OpenRun) -> None:
    """Raise RootNotRunning unless the run's control state admits writes of attempts."""
    if run.control not in ADMITS_ATTEMPT_WRITES or run.status in TERMINAL_RUN:
        state = run.status if run.status in TERMINAL_RUN else run.control
        raise RootNotRunning(f"Pool root is not running: run {run.run_id} is {state}")


def count_move(run: OpenRun, n: int, verb: str, before: WorkState) -> WorkState:
    """Return the state after the verb and add the move to the run's counters; raises IllegalMove."""
    after = move_work(verb, before)
    run.dirty = True
    if n > 0:  # counts are of children
        run.moves.append((before, after, 1))
    return after

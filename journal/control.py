"""The run as a whole: the wish in force, its status and elapsed time, and its registered workers.

Functions of an open transaction. What follows from a control state is the coordinator's business.
"""

from __future__ import annotations

import json
from typing import Final

from .errors import IdentityConflict
from .event_types import CONTROL_CHANGED, RUN_ENDED, SETTING_CHANGED, STATUS_CHANGED
from .model import Lease
from .open_run import OpenRun
from .payload import as_text, key_digest, not_json, value_bytes
from .positions import OF_THE_RUN
from .settling import one_line
from .states import ACTIVE_RUN, SETTLED_WORK, TERMINAL_RUN, ControlState, IllegalMove, RunStatus, move_control
from .transaction import Transaction

SELECT_CONTROL = "SELECT state, revision FROM control WHERE run = ?"
PUT_CONTROL = """
INSERT INTO control (run, state, revision, who, why) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT DO UPDATE SET state = ?2, revision = ?3, who = ?4, why = ?5
"""
SELECT_CLOCK = "SELECT status, started_at, active_ms, active_since, error, result FROM runs WHERE number = ?"
PUT_STATUS = """
UPDATE runs SET status = ?, started_at = ?, active_ms = ?, active_since = ?, error = ?, ended_at = ?, result = ?
WHERE number = ?
"""
PUT_SETTING = "INSERT OR REPLACE INTO operations (run, work, key, seq) VALUES (?, ?, ?, ?)"
#: A run that was never controlled: running, at the first revision.
UNTOUCHED: Final[tuple[ControlState, int]] = ("running", 1)


def set_control(
    tx: Transaction, lease: Lease, state: ControlState, by: str | None, why: str | None
) -> tuple[ControlState, int]:
    """Record a wish and return the state in force with its revision; the same state again changes nothing.

    Raises IllegalMove, also for a run that has ended.
    """
    run = tx.authority(lease)
    before, revision = tx.execute(SELECT_CONTROL, (run.number,)).fetchone() or UNTOUCHED
    if state == before:
        return before, revision
    if run.status in TERMINAL_RUN:
        raise IllegalMove(f"run {run.run_id} has ended: it is {run.status}, and cannot become {state}")
    move_control(before, state)
    by, why = as_text(by), as_text(why)
    revision += 1
    payload = {"state": state, "revision": revision, "by": by, "why": why}
    tx.append(run, CONTROL_CHANGED, json.dumps(payload), None)
    tx.execute(PUT_CONTROL, (run.number, state, revision, by, why))
    run.control = state
    return state, revision


def set_status(tx: Transaction, lease: Lease, status: RunStatus, *, error: str | None = None) -> None:
    """Record the run's status, and start or stop its elapsed time with it; the same again changes nothing.

    Raises IllegalMove from or to a status that ends a run: ``finish_run`` does that.
    """
    run = tx.authority(lease)
    error = None if error is None else one_line(error)
    before, started_at, active_ms, active_since, error_before, _ = _clock(tx, run)
    if status == before and error == error_before:
        return
    if run.status in TERMINAL_RUN or status in TERMINAL_RUN:
        raise IllegalMove(f"run {run.run_id} is {run.status} and cannot become {status} by a change of status")
    active_ms, active_since = _elapse(tx.now, active_ms, active_since, status in ACTIVE_RUN)
    if started_at is None and status == "running":
        started_at = tx.now
    tx.append(run, STATUS_CHANGED, json.dumps({"status": status, "error": error}), None)
    tx.execute(PUT_STATUS, (status, started_at, active_ms, active_since, error, None, None, run.number))
    run.status = status


def finish_run(tx: Transaction, lease: Lease, status: RunStatus, result: str | None, error: str | None) -> None:
    """End the run with a result (JSON) or an error line; the same again changes nothing.

    Raises IllegalMove if the status does not end a run, IdentityConflict if the run has ended otherwise, BadPayload.
    """
    run = tx.authority(lease)
    if status not in TERMINAL_RUN:
        raise IllegalMove(f"{status} does not end a run")
    if result is not None:
        value_bytes(result, "result")
        if not tx.execute("SELECT json_valid(?)", (result,)).fetchone()[0]:
            raise not_json(result, "result")
    error = None if error is None else one_line(error)
    before, started_at, active_ms, active_since, error_before, result_before = _clock(tx, run)
    if run.status in TERMINAL_RUN:
        if (before, result_before, error_before) == (status, result, error):
            return
        raise IdentityConflict(f"Pool result identity mismatch: run {run.run_id} has ended already: {run.status}")
    active_ms, active_since = _elapse(tx.now, active_ms, active_since, False)
    tx.append(run, RUN_ENDED, json.dumps({"status": status, "error": error}), None)
    tx.execute(PUT_STATUS, (status, started_at, active_ms, active_since, error, tx.now, result, run.number))
    run.status = status


def finish_as_root(tx: Transaction, lease: Lease) -> None:
    """End the run as its root work item ended; raises IllegalMove while that has not settled."""
    run = tx.authority(lease)
    state, error = tx.execute("SELECT state, error FROM work WHERE id = ?", (run.base,)).fetchone()
    if state not in SETTLED_WORK:
        raise IllegalMove(f"run {run.run_id} cannot end: its root is {state}")
    row = tx.execute("SELECT value FROM results WHERE id = ?", (run.base,)).fetchone()
    finish_run(tx, lease, state, row[0] if row else None, error)


def set_setting(tx: Transaction, lease: Lease, name: str, value: str, by: str | None, why: str | None = None) -> int:
    """Record a setting of the run (JSON text), and return the event's seq; ``Reader.setting`` finds the newest."""
    run = tx.authority(lease)
    payload = json.dumps({"name": name, "value": json.loads(value), "by": as_text(by), "why": as_text(why)})
    seq = tx.append(run, SETTING_CHANGED, payload, None)
    tx.execute(PUT_SETTING, (run.number, OF_THE_RUN, setting_key(name), seq))
    return seq


def setting_key(name: str) -> bytes:
    """Return the key that leads to the newest value of a setting; unlike other keys it moves on."""
    return key_digest(json.dumps(["Setting", name]))


def close_gap(tx: Transaction, lease: Lease, until_ms: int) -> None:
    """After a crash: count the elapsed time up to when the run was last known alive, and start again from now.

    That is ``until_ms`` (its lease was renewed then) or its newest event, whichever is later.
    """
    run = tx.authority(lease)
    newest = tx.execute("SELECT at FROM events WHERE position = ?", (run.base + run.last_seq,)).fetchone()
    until_ms = max(until_ms, newest[0] if newest else 0)
    _, _, active_ms, active_since, _, _ = _clock(tx, run)
    if active_since is None:
        return
    active_ms += max(min(until_ms, tx.now) - active_since, 0)
    tx.execute("UPDATE runs SET active_ms = ?, active_since = ? WHERE number = ?", (active_ms, tx.now, run.number))
    run.dirty = True


def register_worker(tx: Transaction, lease: Lease, worker: str, identity: str) -> None:
    """Remember a worker process, so that a successor can tell whether it is gone."""
    run = tx.authority(lease)
    tx.execute(
        "INSERT OR REPLACE INTO workers (run, worker, epoch, identity, started_at) VALUES (?, ?, ?, ?, ?)",
        (run.number, worker, run.epoch, identity, tx.now),
    )


def forget_worker(tx: Transaction, lease: Lease, worker: str) -> None:
    """Forget a worker process that is confirmed gone; one that is not registered is fine."""
    run = tx.authority(lease)
    tx.execute("DELETE FROM workers WHERE run = ? AND worker = ?", (run.number, worker))


Clock = tuple[RunStatus, int | None, int, int | None, str | None, str | None]


def _clock(tx: Transaction, run: OpenRun) -> Clock:
    row: Clock = tx.execute(SELECT_CLOCK, (run.number,)).fetchone()
    return row


def _elapse(now: int, active_ms: int, active_since: int | None, active: bool) -> tuple[int, int | None]:
    """Return active_ms and active_since after a change to an active or inactive status."""
    if active:
        return active_ms, now if active_since is None else active_since
    if active_since is None:
        return active_ms, None
    return active_ms + max(now - active_since, 0), None  # a wall clock set back must not take time away

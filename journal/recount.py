"""A run's kept numbers against a recount: counters, dense numbers, states, stamps, who belongs to whom."""

from __future__ import annotations

from typing import Any, Final

from .counters import whole_buckets
from .driver import Connection
from .event_types import CHECKPOINT_RECORDED, CHILD_ENQUEUED
from .finding import EXAMPLES, Findings, examples
from .positions import OF_THE_RUN, SPAN, base
from .recount_messages import recount_messages
from .recount_usage import recount_usage
from .recount_wishes import recount_wishes
from .states import ACTIVE_RUN, RUN_STATUSES, SETTLED_WORK, TERMINAL_RUN, WORK_STATES

SELECT_RUN: Final = (
    "SELECT r.run_id, r.status, r.ended_at, r.active_since, r.last_seq, r.last_n, r.changed, s.value, "
    "coalesce(l.epoch, 0), " + ", ".join(f"r.{state}" for state in WORK_STATES) + " FROM runs r, stamp s "
    "LEFT JOIN leases l ON l.run = r.number WHERE r.number = ?"
)
COUNT_WORK: Final = """
SELECT state, sum(id > ?1), count(*), max(id) - ?1, sum(stages_done), max(changed), max(epoch)
FROM work WHERE id >= ?1 AND id < ?2 GROUP BY state
"""
COUNT_EVENTS: Final = """
SELECT count(*), coalesce(max(position) - ?1, 0), coalesce(max(epoch), 0), coalesce(sum(type = ?3 AND work IS NOT NULL), 0)
FROM events WHERE position > ?1 AND position < ?2
"""  # noqa: E501
FIRST_GAP: Final = """
SELECT e.position - ?1 + 1 FROM events e WHERE e.position >= ?1 AND e.position < ?2
AND NOT EXISTS (SELECT 1 FROM events x WHERE x.position = e.position + 1) ORDER BY e.position LIMIT 1
"""
SELECT_TYPES: Final = "SELECT DISTINCT type FROM events WHERE position > ? AND position < ?"
#: What must be empty: (what its rows mean, the statement that gives their n).
MUST_BE_EMPTY: Final = (
    (
        "work items whose boundary event, their input, is missing",
        f"""SELECT w.id - ?1 FROM work w LEFT JOIN events e ON e.position = ?1 + w.boundary
        WHERE w.id >= ?1 AND w.id < ?2
        AND (e.position IS NULL OR e.type <> '{CHILD_ENQUEUED}' OR e.work IS NOT w.id - ?1)""",
    ),
    (
        "work items without their parent, or a root with one",
        """SELECT c.id - ?1 FROM work c LEFT JOIN work p ON p.id = ?1 + c.parent WHERE c.id >= ?1 AND c.id < ?2
        AND CASE WHEN c.id = ?1 THEN c.parent IS NOT NULL ELSE p.id IS NULL OR p.id >= c.id END""",
    ),
    (
        "completed work items without a result",
        """SELECT w.id - ?1 FROM work w LEFT JOIN results r ON r.id = w.id
        WHERE w.id >= ?1 AND w.id < ?2 AND w.state = 'completed' AND r.id IS NULL""",
    ),
    (
        "results of work items that are not completed",
        """SELECT r.id - ?1 FROM results r LEFT JOIN work w ON w.id = r.id
        WHERE r.id >= ?1 AND r.id < ?2 AND w.state IS NOT 'completed'""",
    ),
    (
        "settled work items without an end, or unsettled ones with one",
        f"""SELECT id - ?1 FROM work WHERE id >= ?1 AND id < ?2
        AND (state IN ({", ".join(f"'{state}'" for state in sorted(SETTLED_WORK))})) <> (ended_at IS NOT NULL)""",
    ),
    (
        "keys whose event is missing",
        """SELECT o.work FROM operations o LEFT JOIN events e ON e.position = ?1 + o.seq
        WHERE o.run = ?1 / (?2 - ?1) AND e.position IS NULL""",
    ),
    (
        "keys of work items that are not there",
        f"""SELECT o.work FROM operations o LEFT JOIN work w ON w.id = ?1 + o.work
        WHERE o.run = ?1 / (?2 - ?1) AND o.work <> {OF_THE_RUN} AND w.id IS NULL""",
    ),
    (
        "keys of children that are not there",
        """SELECT o.child FROM operations o LEFT JOIN work w ON w.id = ?1 + o.child
        WHERE o.run = ?1 / (?2 - ?1) AND o.child IS NOT NULL AND w.id IS NULL""",
    ),
)


def recount(connection: Connection, number: int, findings: Findings) -> int:
    """Compare a run's row and stages with what is recorded, in one snapshot; return its number of events."""
    connection.execute("BEGIN")
    try:
        return recount_within(connection, number, findings)
    finally:
        if connection.in_transaction:
            connection.execute("COMMIT")


def recount_within(connection: Connection, number: int, findings: Findings) -> int:
    """Do what ``recount`` does inside a transaction that is open already."""
    row = connection.execute(SELECT_RUN, (number,)).fetchone()
    if row is None:  # deleted since it was listed
        return 0
    run_id, status, ended_at, active_since, last_seq, last_n, changed, stamp, epoch, *kept = row
    _check_row(findings, run_id, status, ended_at, active_since)
    start = base(number)
    newest = _check_work(connection, findings, run_id, start, last_n, kept)
    if max(changed, newest) > stamp:
        findings.add("count", f"changed at stamp {max(changed, newest)}, the newest is {stamp}", run_id)
    events = _check_events(connection, findings, run_id, start, last_seq, epoch)
    _check_stages(connection, findings, run_id, number)
    for what, statement in MUST_BE_EMPTY:
        rows = connection.execute(f"{statement} LIMIT {EXAMPLES + 1}", (start, start + SPAN)).fetchall()
        if rows:
            findings.add("order", f"{what}: {examples([n for (n,) in rows])}", run_id)
    types = {type_ for (type_,) in connection.execute(SELECT_TYPES, (start, start + SPAN))}
    recount_wishes(connection, number, run_id, types, findings)
    recount_messages(connection, number, run_id, types, findings)
    recount_usage(connection, number, run_id, findings)
    return events


def _check_row(findings: Findings, run_id: str, status: str, ended_at: int | None, active_since: int | None) -> None:
    if status not in RUN_STATUSES:
        findings.add("content", f"its status is {status!r}, which there is not", run_id)
    elif (status in TERMINAL_RUN) != (ended_at is not None):
        findings.add("order", f"it is {status}, and has {'no end' if ended_at is None else 'an end'}", run_id)
    elif active_since is not None and status not in ACTIVE_RUN:
        findings.add("order", f"it is {status}, and its elapsed time counts on", run_id)


def _check_work(
    connection: Connection, findings: Findings, run_id: str, start: int, last_n: int, kept: list[int]
) -> int:
    """Compare the counts by state, and the numbers; return the newest stamp of its work items."""
    rows: list[Any] = connection.execute(COUNT_WORK, (start, start + SPAN)).fetchall()
    counted = {state: children for state, children, *_ in rows}
    for state, count in zip(WORK_STATES, kept, strict=True):
        if (found := counted.pop(state, 0)) != count:
            findings.add("count", f"{count} children are kept as {state}, there are {found}", run_id)
    for state in counted:
        findings.add("content", f"work items are in state {state!r}, which there is not", run_id)
    there = sum(row[2] for row in rows)
    highest = max((row[3] for row in rows), default=-1)
    if there != last_n + 1 or highest != last_n:
        findings.add("order", f"{there} work items, numbered up to {highest}; the last one is kept as {last_n}", run_id)
    return max((row[5] for row in rows), default=0)


def _check_events(
    connection: Connection, findings: Findings, run_id: str, start: int, last_seq: int, epoch: int
) -> int:
    count, highest, newest_epoch, checkpoints = connection.execute(
        COUNT_EVENTS, (start, start + SPAN, CHECKPOINT_RECORDED)
    ).fetchone()
    if count != last_seq or highest != last_seq:
        gap = connection.execute(FIRST_GAP, (start, start + SPAN)).fetchone() if count else None
        first = 1 if gap is None or not _has(connection, start + 1) else gap[0]
        findings.add(
            "order",
            f"{count} events; the last number is kept as {last_seq}, number {first} is the first missing",
            run_id,
        )
    if newest_epoch > epoch:
        findings.add("order", f"an event was written under epoch {newest_epoch}, the lease is at {epoch}", run_id)
    done, failed = connection.execute(
        "SELECT coalesce(sum(done), 0), coalesce(sum(failed), 0) FROM stages WHERE run = ?", (start // SPAN,)
    ).fetchone()
    if done + failed > checkpoints:  # content.py counts them by stage
        findings.add("count", f"stages are kept as {done} done and {failed} failed, {checkpoints} are recorded", run_id)
    (by_work,) = connection.execute(
        "SELECT coalesce(sum(stages_done), 0) FROM work WHERE id >= ? AND id < ?", (start, start + SPAN)
    ).fetchone()
    if by_work != done:
        findings.add("count", f"{done} stages are kept as done, its work items say {by_work}", run_id)
    return int(count)


def _has(connection: Connection, position: int) -> bool:
    return connection.execute("SELECT 1 FROM events WHERE position = ?", (position,)).fetchone() is not None


def _check_stages(connection: Connection, findings: Findings, run_id: str, number: int) -> None:
    rows = connection.execute("SELECT name, done, failed, buckets FROM stages WHERE run = ?", (number,)).fetchall()
    for name, done, failed, buckets in rows:
        try:
            total = sum(whole_buckets(buckets))
        except (TypeError, ValueError):
            findings.add("content", f"the durations of stage {name!r} cannot be read", run_id)
            continue
        if total != done + failed:
            findings.add("count", f"stage {name!r} ended {done + failed} times, {total} durations are kept", run_id)

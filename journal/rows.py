"""How the journal's rows become values: the columns to select and the functions that take them apart."""

from __future__ import annotations

from typing import Any

from .clock import NOW_MS
from .counters import whole_buckets
from .model import Event, JournalEntry, LiveWork, RunRow, StageRow, WorkerRow, WorkRow
from .positions import SPAN

Row = tuple[Any, ...]

RUNS = f"""
SELECT r.number, r.run_id, r.name, r.cwd, r.header, r.created_at, r.status, r.started_at, r.ended_at, r.active_ms,
  r.active_since, coalesce(c.state, 'running'), coalesce(c.revision, 1), c.who, c.why, r.ready, r.leased, r.waiting,
  r.completed, r.failed, r.cancelled, r.last_seq, r.result, r.error, r.changed, l.holder, coalesce(l.epoch, 0),
  max({NOW_MS} - l.renewed_at, 0), {NOW_MS}
FROM runs r LEFT JOIN control c ON c.run = r.number LEFT JOIN leases l ON l.run = r.number
"""
#: For lists: header and result may have a MiB each, and 10,000 runs are listed.
RUNS_LISTED = RUNS.replace("r.header", "''", 1).replace("r.result", "NULL", 1)
WORK_COLUMNS = (
    "id, parent, workflow, label, depth, state, generation, starts, worker, ready_at, started_at, ended_at, stage, "
    "stages_done, error, changed"
)
WORK = f"SELECT {WORK_COLUMNS} FROM work "
LIVE_COLUMNS = "id, parent, state, generation, starts, worker, epoch, ready_at, depth, priority"
EVENT_COLUMNS = "e.position, e.epoch, e.at, e.type, e.payload, e.work"


def run_row(row: Row) -> RunRow:
    """Return a row of RUNS or RUNS_LISTED."""
    return RunRow(*row)


def work_row(row: Row) -> WorkRow:
    """Return a row of WORK_COLUMNS."""
    return WorkRow(row[0] % SPAN, *row[1:])


def live_work(row: Row) -> LiveWork:
    """Return a row of LIVE_COLUMNS."""
    return LiveWork(row[0] % SPAN, *row[1:])


def entry(row: Row) -> JournalEntry:
    """Return a row of EVENT_COLUMNS."""
    position, epoch, at, type_, payload, work = row
    return JournalEntry(position % SPAN, epoch, at, Event(type_, payload, work))


def stage_row(row: Row) -> StageRow:
    """Return a row of name, done, failed, total_ms, buckets."""
    name, done, failed, total_ms, buckets = row
    return StageRow(name, done, failed, total_ms, whole_buckets(buckets))


def worker_row(row: Row) -> WorkerRow:
    """Return a row of worker, epoch, identity, started_at."""
    return WorkerRow(*row)

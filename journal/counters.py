"""The kept counters: what a transaction's moves and stage hits add to ``runs`` and ``stages``, written once each."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from .durations import BUCKETS, bucket
from .open_run import Move, OpenRun, StageHit
from .states import WORK_STATES, WorkState

Execute = Callable[..., Any]

UPDATE_RUN = "UPDATE runs SET last_seq = ?, last_n = ?, changed = ? WHERE number = ?"
UPDATE_RUN_COUNTED = (
    "UPDATE runs SET last_seq = ?, last_n = ?, changed = ?, "
    + ", ".join(f"{state} = {state} + ?" for state in WORK_STATES)
    + " WHERE number = ?"
)
SELECT_BUCKETS = "SELECT buckets FROM stages WHERE run = ? AND name = ?"
UPSERT_STAGE = """
INSERT INTO stages (run, name, first_seq, done, failed, total_ms, buckets) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT DO UPDATE SET done = done + ?4, failed = failed + ?5, total_ms = total_ms + ?6, buckets = ?7
"""


def write_run(execute: Execute, run: OpenRun, stamp: int) -> None:
    """Write a changed run's row, and its stages' rows, with what the transaction added."""
    if run.moves:
        deltas = sum_moves(run.moves)
        counts = [deltas[state] for state in WORK_STATES]
        execute(UPDATE_RUN_COUNTED, (run.last_seq, run.last_n, stamp, *counts, run.number))
    else:
        execute(UPDATE_RUN, (run.last_seq, run.last_n, stamp, run.number))
    if run.stage_hits:
        _write_stages(execute, run)


def sum_moves(moves: list[Move]) -> dict[WorkState, int]:
    """Return how much each state's count changes."""
    deltas: dict[WorkState, int] = dict.fromkeys(WORK_STATES, 0)
    for before, after, count in moves:
        if before is not None:
            deltas[before] -= count
        deltas[after] += count
    return deltas


def _write_stages(execute: Execute, run: OpenRun) -> None:
    by_name: dict[str, list[StageHit]] = {}
    for hit in run.stage_hits:
        by_name.setdefault(hit[0], []).append(hit)
    for name, hits in by_name.items():
        row = execute(SELECT_BUCKETS, (run.number, name)).fetchone()
        counts: list[int] = json.loads(row[0]) if row is not None else []
        total_ms = 0.0
        done = 0
        for _, ok, duration_ms, _ in hits:
            index = bucket(duration_ms)
            if index >= len(counts):
                counts.extend([0] * (index + 1 - len(counts)))
            counts[index] += 1
            total_ms += duration_ms
            done += ok
        execute(
            UPSERT_STAGE,
            (run.number, name, hits[0][3], done, len(hits) - done, total_ms, json.dumps(counts, separators=(",", ":"))),
        )


def whole_buckets(text: str) -> tuple[int, ...]:
    """Return a stage's counts in full length: trailing zeros are not stored."""
    counts: list[int] = json.loads(text)
    return tuple(counts + [0] * (BUCKETS - len(counts)))

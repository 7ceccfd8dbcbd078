"""One child in full, put together from its rows and log files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from poolboard.journal.model import JournalEntry
from poolboard.journal.reader import Reader

from .kinds import TRY
from .logs import log_files
from .views import ChildRow, ChildView, Counts, StageRun

#: What a screen gets of one value; the rest is told by its size. A summary of 1 MB results must open at once.
SHOWN_LIMIT = 64 * 1024


async def child_view(reader: Reader, run: int, row: ChildRow, logs: Path) -> ChildView:
    """Return the child's view; ``run`` is the run's number in the journal."""
    boundary = await reader.boundary(run, row.n)
    _, value, line = (await reader.results(run, [row.n]))[row.n]
    failure = await reader.failure(run, row.n) if row.state == "failed" else None
    counts = await reader.child_counts(run, row.n)
    return ChildView(
        row=row,
        input=_cut(_dumps(json.loads(boundary.event.payload).get("input"))),
        result=None if value is None else _cut(value),
        error=line if failure is None else _cut(told(json.loads(failure.event.payload).get("failure"))),
        stages=tuple(found for entry in await reader.checkpoints(run, row.n) if (found := stage_run(entry))),
        children=Counts(total=sum(counts.values()), **counts),
        logs=log_files(logs, row.n),
    )


def stage_run(entry: JournalEntry) -> StageRun | None:
    """Return a checkpoint event as a screen shows it; None for one that is no stage (a map that was opened).

    A try that failed and was followed by another is one of the stage's too.
    """
    payload = json.loads(entry.event.payload)
    if payload["kind"] not in ("stage", TRY):
        return None
    failure = payload.get("failure")
    return StageRun(
        entry.seq,
        payload["name"],
        payload["attempt"],
        failure is None,
        payload["started_at"],
        payload["completed_at"],
        float(payload["completed_at"] - payload["started_at"]),
        None if failure is not None else _cut(_dumps(payload.get("value"))),
        None if failure is None else _cut(told(failure)),
    )


def told(failure: Any) -> str:
    """Return a recorded failure as text: its traceback if there is one, else type and message."""
    if not isinstance(failure, dict):
        return "unknown failure"
    line = f"{failure.get('type', 'unknown')}: {failure.get('message', '')}"
    return str(failure.get("traceback") or line)


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _cut(text: str) -> str:
    if len(text) <= SHOWN_LIMIT:
        return text
    return f"{text[:SHOWN_LIMIT]}… ({len(text)} characters in all)"

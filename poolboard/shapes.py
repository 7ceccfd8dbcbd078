"""The JSON shapes that scripts read: views in, plain JSON types out. Times are UTC, ISO 8601 with a Z."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from poolboard.engine.views import (
        Acknowledgement,
        ControlView,
        CoordinatorView,
        Counts,
        LimitView,
        PromptView,
        RunView,
        StageView,
        Summary,
        WorkerView,
    )

Shape = dict[str, object]

#: Stands as ``shape`` in every object on a line of its own. It goes up when a field goes or comes to mean something
#: else; new fields do not change it.
VERSION: Final = 1


def line(value: object) -> str:
    """Return a value as JSON on one line, in ASCII: no control character or lone surrogate reaches a terminal."""
    return json.dumps(value)


def instant(at_ms: int | None) -> str | None:
    """Return ms since 1970 as ``2025-01-31T12:00:00.000Z``."""
    if at_ms is None:
        return None
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def of_start(run_id: str) -> Shape:
    """Return the answer of ``run --detach --json``."""
    return {"shape": VERSION, "run_id": run_id}


def of_run(run: RunView) -> Shape:
    """Return one entry of ``list --json``."""
    return {
        "shape": VERSION,
        "run_id": run.run_id,
        "name": run.name,
        "status": run.status,
        "resumable": run.resumable,
        "cwd": run.cwd,
        "created_at": instant(run.created_at),
        "started_at": instant(run.started_at),
        "ended_at": instant(run.ended_at),
        "elapsed_s": round(run.elapsed_s, 3),
        "error": run.error,
        "children": of_counts(run.children),
        "control": of_control(run.control),
        "prompts": run.prompts,
    }


def of_summary(summary: Summary) -> Shape:
    """Return the answer of ``status --json``."""
    run = summary.run
    return {
        "shape": VERSION,
        "run_id": run.run_id,
        "name": run.name,
        "status": run.status,
        "resumable": run.resumable,
        "started_at": instant(run.started_at),
        "ended_at": instant(run.ended_at),
        "elapsed_s": round(run.elapsed_s, 3),
        "result": result_of(run),
        "error": run.error,
        "children": of_counts(run.children),
        "stages": [of_stage(stage) for stage in summary.stages],
        "workers": [of_worker(worker) for worker in summary.workers],
        "coordinator": of_coordinator(summary.coordinator),
        "control": of_control(run.control),
        "rate_per_s": round(summary.rate_per_s, 3),
        "eta_s": None if summary.eta_s is None else [round(guess, 1) for guess in summary.eta_s],
        "alerts": list(summary.alerts),
        "limits": [of_limit(limit) for limit in summary.limits],
        "prompts": run.prompts,
        "in_flight": summary.in_flight,
        "parked": summary.parked,
        "concurrency": summary.concurrency,
        "holds": [asdict(hold) for hold in summary.holds],
        "usage": [asdict(usage) for usage in summary.usage],
    }


def of_progress(summary: Summary) -> Shape:
    """Return one progress line of ``--headless --json``."""
    return {
        "shape": VERSION,
        "type": "progress",
        "run_id": summary.run.run_id,
        "status": summary.run.status,
        "elapsed_s": round(summary.run.elapsed_s, 3),
        "children": of_counts(summary.run.children),
        "rate_per_s": round(summary.rate_per_s, 3),
        "prompts": summary.run.prompts,
    }


def of_end(run: RunView) -> Shape:
    """Return the last line of ``--headless --json``."""
    return {
        "shape": VERSION,
        "type": "result",
        "run_id": run.run_id,
        "status": run.status,
        "result": result_of(run),
        "error": run.error,
        "elapsed_s": round(run.elapsed_s, 3),
        "children": of_counts(run.children),
    }


def of_acknowledgement(run_id: str, given: Acknowledgement) -> Shape:
    """Return the answer of ``pause``, ``resume`` and ``stop`` with ``--json``."""
    return {
        "shape": VERSION,
        "run_id": run_id,
        "status": given.status,
        "control": of_control(given.control),
        "message": given.message,
    }


def of_counts(counts: Counts) -> Shape:
    """Return the children by state, with their total."""
    # Not asdict: it copies deeply, which takes four times as long, and a list may have ten thousand runs.
    return {field.name: getattr(counts, field.name) for field in fields(counts)}


def of_stage(stage: StageView) -> Shape:
    """Return one stage's counters and durations."""
    return {
        "name": stage.name,
        "waiting": stage.waiting,
        "active": stage.active,
        "done": stage.done,
        "failed": stage.failed,
        "p50_ms": stage.p50_ms,
        "p95_ms": stage.p95_ms,
        "paused": stage.paused,
    }


def of_worker(worker: WorkerView) -> Shape:
    """Return one worker process."""
    return {
        "id": worker.id,
        "pid": worker.pid,
        "slots": worker.slots,
        "active": worker.active,
        "rss_bytes": worker.rss_bytes,
        "restarts": worker.restarts,
    }


def of_limit(limit: LimitView) -> Shape:
    """Return one named limit: who holds it, who waits for it and why (the first of each; totals beside)."""
    return asdict(limit)


def of_prompt(prompt: PromptView) -> Shape:
    """Return one question that waits for a person; ``until`` is when its default is taken."""
    return {
        "shape": VERSION,
        "id": prompt.id,
        "run_id": prompt.run_id,
        "child": prompt.n,
        "label": prompt.label,
        "stage": prompt.stage,
        "kind": prompt.kind,
        "message": prompt.message,
        "choices": list(prompt.choices),
        "default": None if prompt.default is None else json.loads(prompt.default),
        "since": instant(prompt.asked_at),
        "until": instant(prompt.until_at),
    }


def of_coordinator(coordinator: CoordinatorView) -> Shape:
    """Return the owner of the run; ``pid`` is null when none was ever seen."""
    return {"pid": coordinator.pid, "epoch": coordinator.epoch, "alive": coordinator.alive}


def of_control(control: ControlView) -> Shape:
    """Return the wish in force."""
    return {"state": control.state, "revision": control.revision, "by": control.by, "why": control.why}


def result_of(run: RunView) -> object:
    """Return the root's result as JSON types; None while there is none."""
    return None if run.result is None else json.loads(run.result)

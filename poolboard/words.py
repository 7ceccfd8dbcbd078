"""What the command line says in plain text: views in, lines out. All text of data goes through ``visible``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from poolboard.tui.text import clip, fit, visible
from poolboard.tui.text import width as cell_width
from poolboard.tui.units import clock_time, count, duration, eta, milliseconds, rate, several, size

if TYPE_CHECKING:
    from poolboard.engine.views import PromptNote, RunView, Summary

#: Longer text of data is cut on a line of ours; ``--json`` gives it whole.
#: Characters of a result that are told in words.
RESULT_LIMIT = 2_000
MAX_CELLS = 2000


def shown(text: str) -> str:
    """Return text of data on one line, safe for a terminal, cut where it is long."""
    return clip(text, MAX_CELLS)


def started(summary: Summary) -> str:
    """Return the line with which following a run begins."""
    run = summary.run
    return f"run {run.run_id} ({shown(run.name)}) is {_status(run)}; to see it live: poolboard watch {run.run_id}"


def progress(summary: Summary) -> str:
    """Return how far the run is, in one line."""
    run, counts = summary.run, summary.run.children
    parts = [f"{count(counts.done)} of {several(counts.total, 'child', 'children')} done"]
    if not counts.total:
        parts = ["no children yet" if run.ended_at is None else "no children"]
    if counts.failed:
        parts.append(f"{counts.failed} failed")
    if counts.cancelled:
        parts.append(f"{counts.cancelled} cancelled")
    if counts.leased and summary.coordinator.alive:
        parts.append(f"{counts.leased} active")
    if summary.rate_per_s > 0:
        parts.append(rate(summary.rate_per_s))
    if summary.eta_s is not None and run.status == "running":
        parts.append(f"{eta(summary.eta_s)} left")
    if run.status != "running":
        parts.insert(0, _status(run))
    return ", ".join(parts)


def ended(run: RunView, resume: str = "poolboard resume") -> Iterator[str]:
    """Yield how the run came to rest and what to do next: by ``resume``, unless the reason itself says how."""
    counts = run.children
    failed = f", {several(counts.failed, 'child', 'children')} failed" if counts.failed else ""
    total = several(counts.total, "child", "children")
    yield f"{_status(run)} after {duration(run.elapsed_s)}: {total}{failed}"
    if run.error:
        yield f"error: {shown(run.error)}"
    if run.control.why and run.status in ("paused", "stopped"):
        yield f"why: {shown(run.control.why)}"
    if run.resumable and not (run.status == "blocked" and "poolboard each" in (run.error or "")):
        yield f"to go on: {resume} {run.run_id}"


def result(run: RunView) -> Iterator[str]:
    """Yield the root's result as one line of JSON, if there is one; a long one is cut, and says where it is whole."""
    if run.result is None:
        return
    text = json.dumps(json.loads(run.result), ensure_ascii=False)
    more = ""
    if len(text) > RESULT_LIMIT:
        more = f"… ({len(text)} characters; all of it: poolboard status {run.run_id} --json)"
    yield f"result: {visible(text[:RESULT_LIMIT])}{more}"


def left(run_id: str) -> str:
    """Return the line that says how to come back to a run that goes on."""
    return f"the run goes on; to come back: poolboard watch {run_id}"


def status(summary: Summary) -> Iterator[str]:
    """Yield everything that ``status`` tells, a line each."""
    run, owner = summary.run, summary.coordinator
    yield f"run          {run.run_id} ({shown(run.name)})"
    yield f"status       {_status(run)}{' (resumable)' if run.resumable else ''}"
    yield f"progress     {progress(summary)}"
    yield f"elapsed      {duration(run.elapsed_s)}"
    alive = "alive" if owner.alive else "not running"
    if run.ended_at is None:
        told = "none yet" if owner.pid is None else f"pid {owner.pid}, epoch {owner.epoch}, {alive}"
        yield f"coordinator  {told}"
    if run.ended_at is None and (run.control.why or run.control.by):
        why = shown(run.control.why or "no reason given")
        yield f"control      {run.control.state} by {shown(run.control.by or '?')}: {why}"
    for hold in summary.holds:
        by = f" by {shown(hold.by)}" if hold.by else ""
        why = f": {shown(hold.why)}" if hold.why else ""
        state = "stopped" if hold.cut else "drained" if hold.scope == "worker" else "paused"
        left = f", {hold.active} not there yet" if hold.active else ""
        yield f"held         {hold.scope} {shown(hold.name)} {state}{by}, {hold.parked} parked{left}{why}"
    for usage in summary.usage:
        limit = "" if usage.limit is None else f" of {usage.limit:g}"
        yield f"used         {shown(usage.name)} {usage.used:g}{limit}"
    for worker in summary.workers:
        told = f"pid {worker.pid}, {worker.active} of {several(worker.slots, 'slot')} in use, {size(worker.rss_bytes)}"
        yield f"worker       {shown(worker.id)}: {told}, {several(worker.restarts, 'restart')}"
    if summary.stages:
        yield from table(
            ["stage", "waiting", "active", "done", "failed", "p50", "p95"],
            [
                [s.name, s.waiting, s.active, s.done, s.failed, milliseconds(s.p50_ms), milliseconds(s.p95_ms)]
                for s in summary.stages
            ],
        )
    for one in summary.limits:
        used = f"{one.in_use} of {one.most} in use" if one.per_s is None else one.text
        yield f"limit        {one.name}: {used}, {one.waiting} waiting"
    for prompt in summary.prompts:
        yield f"asks         {question(run.run_id, prompt)}"
    for alert in summary.alerts:
        yield f"alert        {shown(alert)}"
    if run.error:
        yield f"error        {shown(run.error)}"
    if run.result is not None:
        yield f"result       {shown(run.result)}"


def question(run_id: str, prompt: PromptNote) -> str:
    """Return a question that waits for a person, in one line, and how to answer it."""
    who = f"child {prompt.n}" if prompt.n else "the root"
    return f"{who} asks: {shown(prompt.message)} (poolboard answer {run_id[:8]} {prompt.id} …)"


def runs(found: Sequence[RunView], now_ms: int) -> Iterator[str]:
    """Yield a table of runs."""
    if not found:
        yield "no runs yet; to make one: poolboard demo"
        return
    yield from table(
        ["run", "name", "status", "done", "failed", "elapsed", "started"],
        [
            [
                run.run_id,
                run.name,
                _status(run),
                f"{run.children.done}/{run.children.total}",
                run.children.failed,
                duration(run.elapsed_s),
                clock_time(run.started_at, now_ms),
            ]
            for run in found
        ],
    )


def _status(run: RunView) -> str:
    return run.status.replace("_", " ")


def table(heads: list[str], rows: list[list[object]]) -> Iterator[str]:
    """Yield a head and rows with their columns under each other; cells are cut, and safe for a terminal."""
    cells = [heads, *([clip(str(cell), 60) for cell in row] for row in rows)]
    widths = [max(map(cell_width, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        yield "  ".join(fit(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip()

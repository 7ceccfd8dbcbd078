"""Runs as Prometheus reads them: its text format, version 0.0.4. Knows nothing of where the text goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from poolboard.engine.views import Summary

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
#: Samples of one scrape: a run with thousands of stages must not make a page of megabytes.
MOST_SAMPLES: Final = 20_000

Labels = tuple[tuple[str, str], ...]
Sample = tuple[Labels, float]


@dataclass(frozen=True, slots=True)
class Family:
    """One metric: its name, type, help and samples."""

    name: str
    kind: Literal["counter", "gauge"]
    about: str
    samples: tuple[Sample, ...]


def page(summaries: Sequence[Summary], statuses: Iterable[str] = ()) -> str:
    """Return the page: a family per metric, a sample per run, stage, worker; ``statuses`` are those of all runs."""
    counted = Counter(statuses)
    families = [
        Family(
            "poolboard_runs",
            "gauge",
            "Root runs in the journal by status.",
            tuple(((("status", name),), float(count)) for name, count in sorted(counted.items())),
        ),
        *_of_runs(summaries),
        *_of_stages(summaries),
        *_of_workers(summaries),
    ]
    return "".join(f"{line}\n" for family in families if family.samples for line in _lines(family))


def _of_runs(summaries: Sequence[Summary]) -> Iterator[Family]:
    runs = [(summary, _run(summary)) for summary in summaries]
    yield Family(
        "poolboard_run_info",
        "gauge",
        "The run's name and status; always 1.",
        tuple(((*run, ("name", s.run.name), ("status", s.run.status)), 1.0) for s, run in runs),
    )
    yield Family(
        "poolboard_run_elapsed_seconds",
        "gauge",
        "Time at work, without pauses.",
        tuple((run, s.run.elapsed_s) for s, run in runs),
    )
    states = ("ready", "leased", "waiting", "completed", "failed", "cancelled")
    yield Family(
        "poolboard_children",
        "gauge",
        "Child runs by state.",
        tuple(((*run, ("state", state)), float(getattr(s.run.children, state))) for s, run in runs for state in states),
    )
    yield Family(
        "poolboard_run_settled_per_second",
        "gauge",
        "Children that settle per second.",
        tuple((run, s.rate_per_s) for s, run in runs),
    )
    yield Family(
        "poolboard_coordinator_up",
        "gauge",
        "1 while a coordinator works on the run.",
        tuple((run, float(s.coordinator.alive)) for s, run in runs),
    )


def _of_stages(summaries: Sequence[Summary]) -> Iterator[Family]:
    stages = [((*_run(s), ("stage", stage.name)), stage) for s in summaries for stage in s.stages]
    yield Family(
        "poolboard_stages_total",
        "counter",
        "Stages that ended, by outcome.",
        tuple(
            ((*labels, ("outcome", outcome)), float(count))
            for labels, stage in stages
            for outcome, count in (("done", stage.done), ("failed", stage.failed))
        ),
    )
    yield Family(
        "poolboard_stages_active",
        "gauge",
        "Stages that run now.",
        tuple((labels, float(stage.active)) for labels, stage in stages),
    )
    yield Family(
        "poolboard_stage_duration_seconds",
        "gauge",
        "Durations of ended stages: median and 95th percentile, within 9 %.",
        tuple(
            ((*labels, ("quantile", quantile)), value_ms / 1000)
            for labels, stage in stages
            for quantile, value_ms in (("0.5", stage.p50_ms), ("0.95", stage.p95_ms))
            if value_ms is not None
        ),
    )


def _of_workers(summaries: Sequence[Summary]) -> Iterator[Family]:
    workers = [((*_run(s), ("worker", worker.id)), worker) for s in summaries for worker in s.workers]
    yield Family(
        "poolboard_worker_slots_in_use",
        "gauge",
        "Slots of a worker that are in use.",
        tuple((labels, float(worker.active)) for labels, worker in workers),
    )
    yield Family(
        "poolboard_worker_resident_bytes",
        "gauge",
        "Resident memory of a worker process.",
        tuple((labels, float(worker.rss_bytes)) for labels, worker in workers),
    )
    yield Family(
        "poolboard_worker_restarts_total",
        "counter",
        "How often a worker's place was filled again.",
        tuple((labels, float(worker.restarts)) for labels, worker in workers),
    )


def _run(summary: Summary) -> Labels:
    return (("run_id", summary.run.run_id),)


def _lines(family: Family) -> Iterator[str]:
    yield f"# HELP {family.name} {family.about}"
    yield f"# TYPE {family.name} {family.kind}"
    for labels, value in family.samples[:MOST_SAMPLES]:
        told = ",".join(f'{name}="{_escaped(text)}"' for name, text in labels)
        yield f"{family.name}{{{told}}} {value:.17g}"
    if len(family.samples) > MOST_SAMPLES:
        yield f"# {len(family.samples) - MOST_SAMPLES} samples of {family.name} left out"


def _escaped(text: str) -> str:
    text = text.encode("utf-8", "backslashreplace").decode()
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')

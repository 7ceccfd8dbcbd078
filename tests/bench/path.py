"""Where the time of one child goes, from the enqueue of its row to the line that is painted when it is done."""

from __future__ import annotations

import json
import re
import time
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Final

from .executor import WORKERS
from .figure import Figure, Grid, Section, Unmeasured, percentile
from .pool import SLOTS
from .report import number
from .scene import NOOP, PATIENCE_S, Scene, scene
from .terminal import Terminal

HOOKS: Final = Path(__file__).parent / "hooks"
STEPS: Final = (
    ("assigned to heard", "Assign encoded by the coordinator, until the worker has decoded it"),
    ("heard to returned", "the run in the worker: replay, a thread for its stage, its result as JSON, CompleteRun"),
    ("returned to taken in", "CompleteRun encoded by the worker, until the coordinator has decoded it"),
    ("taken in to submitted", "collected with what else that pass of the loop brought, or waiting for commits before"),
    ("submitted to durable", "queued for the writer, written, fsync, told to the loop"),
    ("durable to acknowledged", "Recorded, until the worker has decoded it; the next child may be assigned meanwhile"),
    (
        "durable to painted",
        "summary sent and read, and the first frame painted whose count has the child in it",
    ),
)

Moments = list[tuple[float, str, int, int]]


async def measure(children: int = 2_000) -> Section:
    """Return the median and the 95th percentile of each step of the way, over the children of one run on a screen."""
    with scene() as here:
        traces = here.folder / "traces"
        traces.mkdir()
        here.environment |= {"BENCH_TRACE": str(traces)}
        here.environment["PYTHONPATH"] = f"{HOOKS}:{here.environment['PYTHONPATH']}"
        counts = _on_a_screen(here, children)
        steps = _steps(_read(traces), counts)
    figures, rows = [], []
    for name, about in STEPS:
        values = [1000 * value for value in steps[name]]
        if len(values) < 2:
            raise Unmeasured(f"{name}: seen of {len(values)} children")
        figures += [
            Figure(f"{name}, p50", "ms", (median(values),)),
            Figure(f"{name}, p95", "ms", (percentile(values, 95),)),
        ]
        rows.append((name, about, number(median(values)), number(percentile(values, 95)), f"{len(values):,}"))
    return Section(
        "path",
        f"the way of a child, {children:,} no-op children on {WORKERS} workers x {SLOTS} slots, a screen attached",
        tuple(figures),
        ("many children are under way at once: these are waits, not costs, and their sum is not the time per child",),
        (Grid("From enqueue to painted row", ("step", "what happens", "p50 ms", "p95 ms", "children"), tuple(rows)),),
    )


def _on_a_screen(here: Scene, children: int) -> list[tuple[float, int]]:
    """Run the children under a dashboard that is there before them; return when how many were painted as done."""
    counts: list[tuple[float, int]] = []
    size, gate = ["--workers", str(WORKERS), "--slots", str(SLOTS)], here.folder / "gate"
    inputs = ["--input", f"count={children}", "--input", f"gate={gate}"]
    terminal = Terminal(here, "run", f"{NOOP}:of_one_stage_at_a_sign", *inputs, *size)
    counted = re.compile(rf"([\d,]+) of {children:,}\b")
    try:
        terminal.first_frames("opened", limit_s=PATIENCE_S)
        gate.touch()
        until = time.monotonic() + PATIENCE_S
        while not counts or counts[-1][1] < children:
            frame = terminal.frame(until - time.monotonic())
            if frame is None:
                raise Unmeasured(f"way of a child: the screen did not count {children:,} within {PATIENCE_S:.0f} s")
            if told := [int(count.replace(",", "")) for count in counted.findall(frame.text)]:
                counts.append((frame.at_s, max(told)))
        _wait_for_traces(here.folder / "traces", until)
        return counts
    finally:
        terminal.close()


def _painted(durable: dict[int, float], counts: list[tuple[float, int]]) -> dict[int, float]:
    """Return when each child was in a count that was painted: the first one that is as large as its place."""
    found: dict[int, float] = {}
    frames = iter(counts)
    at_s, count = next(frames)
    for place, n in enumerate(sorted((n for n in durable if n > 0), key=durable.__getitem__), 1):
        while count < place:
            at_s, count = next(frames)
        found[n] = at_s
    return found


def _wait_for_traces(folder: Path, until: float) -> None:
    """Wait until coordinator and workers have ended: each writes its file last."""
    while len(list(folder.glob("*.json"))) < 1 + WORKERS:
        if time.monotonic() > until:
            raise Unmeasured("way of a child: the processes did not end")
        time.sleep(0.05)


def _read(folder: Path) -> dict[str, list[Moments]]:
    found: dict[str, list[Moments]] = defaultdict(list)
    for path in folder.glob("*.json"):
        found[path.name.partition("-")[0]].append([tuple(one) for one in json.loads(path.read_text())])
    return found


def _steps(traces: dict[str, list[Moments]], counts: list[tuple[float, int]]) -> dict[str, list[float]]:
    """Return the seconds of each step, of every child that was seen at both its ends."""
    [coordinator] = traces["coordinator"]
    assigned = {n: at for at, what, n, _ in coordinator if what == "Assign out"}
    taken_in = {n: at for at, what, n, _ in coordinator if what == "CompleteRun in"}
    durable = {n: at for at, what, n, _ in coordinator if what == "durable"}
    heard: dict[int, float] = {}
    returned: dict[int, float] = {}
    acknowledged: dict[int, float] = {}
    for moments in traces["worker"]:
        asked = {req: n for _, what, n, req in moments if what == "CompleteRun out"}
        heard |= {n: at for at, what, n, _ in moments if what == "Assign in"}
        returned |= {n: at for at, what, n, _ in moments if what == "CompleteRun out"}
        acknowledged |= {asked[req]: at for at, what, _, req in moments if what == "Recorded in" and req in asked}
    submitted = _submitted(coordinator, taken_in, durable)
    ends = {
        "assigned to heard": (assigned, heard),
        "heard to returned": (heard, returned),
        "returned to taken in": (returned, taken_in),
        "taken in to submitted": (taken_in, submitted),
        "submitted to durable": (submitted, durable),
        "durable to acknowledged": (durable, acknowledged),
        "durable to painted": (durable, _painted(durable, counts)),
    }
    return {
        name: [max(last[n] - at, 0.0) for n, at in first.items() if n > 0 and n in last]
        for name, (first, last) in ends.items()
    }


def _submitted(coordinator: Moments, taken_in: dict[int, float], durable: dict[int, float]) -> dict[int, float]:
    """Return when each child's end was handed to the journal: by the last request before it that was done by then."""
    requests: list[tuple[float, float]] = []
    opened: dict[int, float] = {}
    for at, what, _, request in coordinator:
        if what == "submitted":
            opened[request] = at
        elif what == "committed" and request in opened:
            requests.append((opened.pop(request), at))
    found: dict[int, float] = {}
    for n, at in taken_in.items():
        fitting = [sent for sent, done in requests if sent >= at and n in durable and done <= durable[n]]
        if fitting:
            found[n] = fitting[-1]
    return found

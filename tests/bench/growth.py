"""What grows with the number of children, and what with the number of stages: measured at several sizes and fitted.

A number that grows as ``size ** exponent`` is a straight line on paper with two logarithmic axes; its slope is the
exponent. Per child, 0 is flat. Sizes take turns with nothing else: believe the exponents, not the rates.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import log
from random import Random
from statistics import linear_regression, median
from typing import Final

from poolboard.engine.monitor import Monitor
from poolboard.engine.wire import encode_summary
from poolboard.journal import queue

from . import budget
from .attach import first_frames, read_all
from .checkpoints import checkpoint, prepared
from .executor import WORKERS
from .figure import Figure, Grid, Section, Unmeasured
from .keys import Typist
from .pool import SLOTS
from .report import number
from .scene import Scene, children_of, scene, until_ended
from .terminal import Terminal
from .usage import Usage

CHILDREN: Final = (100, 1_000, 10_000)
#: (stages, children): about as many stages in all, so that each takes long enough to be timed.
STAGES: Final = ((1, 1_000), (10, 100), (100, 10))
COMMITS = 40
KEYS = 20
SUMMARY_INTERVAL_S = 0.2


@dataclass(frozen=True, slots=True)
class Size:
    """A run of one size: what each of its children cost, and what its end left."""

    children: int
    ms_per_child: float
    cpu_ms_per_child: float
    bytes_per_child: float
    coordinator_mib: float
    worker_mib: float
    summary_bytes: float
    commit_ms: float
    read_us_per_child: float
    first_frame_ms: float
    key_ms: float


#: What is told: its name, its unit, and the exponent that it should not be above. Memory may grow as the children do.
WANTED: Final[tuple[tuple[str, str, str, float], ...]] = (
    ("ms_per_child", "time per child", "ms", 0.0),
    ("cpu_ms_per_child", "CPU of coordinator and workers per child", "ms", 0.0),
    ("bytes_per_child", "journal per child", "bytes", 0.0),
    ("coordinator_mib", "coordinator memory, peak", "MiB", 1.0),
    ("worker_mib", "worker memory, peak of the larger", "MiB", 1.0),
    ("summary_bytes", "progress summary, largest", "bytes", 0.0),
    ("commit_ms", "a lone commit in that journal", "ms", 0.0),
    ("read_us_per_child", "to read all children, per child", "µs", 0.0),
    ("first_frame_ms", "poolboard watch to its list of children", "ms", 1.0),
    ("key_ms", "key to frame, p50", "ms", 0.0),
)
#: Noise alone makes a flat line lean that much; what is above it is told as growing.
TOLERANCE: Final = 0.15


async def measure(children: Sequence[int] | None = None, stages: Sequence[tuple[int, int]] = STAGES) -> Section:
    """Return a figure per size and number, and their exponents."""
    sizes = children or (*CHILDREN, 100_000) if budget.is_full() else children or CHILDREN
    found = [await _sized(count) for count in sizes]
    by_stages = {many: await _staged(many, few) for many, few in stages}
    figures = [
        Figure(f"{name}, {size.children:,} children", unit, (getattr(size, attribute),))
        for attribute, name, unit, _ in WANTED
        for size in found
    ]
    figures += [
        Figure(f"{name} per stage, {many} stages", unit, (value,))
        for many, values in by_stages.items()
        for (name, unit), value in values.items()
    ]
    rows, exponents = _rows(found)
    stage_rows, stage_exponents = _stage_rows(by_stages)
    figures += [Figure(f"{name}, exponent", "slope of logarithms", (value,)) for name, value in exponents.items()]
    figures += [Figure(f"{name}, exponent", "slope of logarithms", (value,)) for name, value in stage_exponents.items()]
    columns = ("what", "unit", *(f"{size.children:,}" for size in found), "exponent", "wanted")
    stage_columns = ("what, per stage", "unit", *(f"{many} stages" for many in by_stages), "exponent", "wanted")
    return Section(
        "growth",
        f"no-op children on {WORKERS} workers x {SLOTS} slots, a screen following, at several sizes; and children of "
        "several stages",
        tuple(figures),
        (
            "exponent: the number grows as size to that power; 0 is flat, 1 is linear",
            f"an exponent up to {TOLERANCE} above the wanted one is within what a machine's noise does to a line",
            "time and CPU per child: from the first child settled to the last",
        ),
        (Grid("Children", columns, rows), Grid("Stages of a child", stage_columns, stage_rows)),
    )


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Return the slope of the straight line through the logarithms."""
    return linear_regression([log(size) for size in sizes], [log(value) for value in values]).slope


def _rows(found: Sequence[Size]) -> tuple[tuple[tuple[str, ...], ...], dict[str, float]]:
    rows: list[tuple[str, ...]] = []
    exponents: dict[str, float] = {}
    for attribute, name, unit, wanted in WANTED:
        values = [float(getattr(size, attribute)) for size in found]
        exponents[name] = exponent([size.children for size in found], values)
        rows.append((name, unit, *map(number, values), *_judged(exponents[name], wanted)))
    return tuple(rows), exponents


def _stage_rows(
    by_stages: Mapping[int, Mapping[tuple[str, str], float]],
) -> tuple[tuple[tuple[str, ...], ...], dict[str, float]]:
    rows: list[tuple[str, ...]] = []
    exponents: dict[str, float] = {}
    for name, unit in next(iter(by_stages.values())):
        values = [told[name, unit] for told in by_stages.values()]
        exponents[f"{name} per stage"] = slope = exponent(list(by_stages), values)
        rows.append((name, unit, *map(number, values), *_judged(slope, 0.0)))
    return tuple(rows), exponents


def _judged(slope: float, wanted: float) -> tuple[str, str]:
    return f"{slope:.2f}", f"<= {wanted:g}{'' if slope <= wanted + TOLERANCE else ': grows'}"


async def _sized(count: int) -> Size:
    with scene() as here:
        run_id = await here.fan_out("of_one_stage", count, WORKERS, SLOTS)
        usage = Usage(here.run_folder(run_id), WORKERS)
        monitor = await Monitor.open(str(here.journal))
        try:
            following = asyncio.ensure_future(_largest_summary(monitor, run_id))
            run = await until_ended(here, monitor, run_id, usage.sample)
            settled = sorted(row.ended_at for row in await children_of(monitor, run) if row.ended_at is not None)
            summary_bytes = await following
            read_s = median([await read_all(here, run_id) for _ in range(3)])
        finally:
            await monitor.close()
        span_s, cpu_s = _span(usage, settled)
        mib = usage.peak_mib()
        size_bytes = here.journal.stat().st_size
        return Size(
            children=count,
            ms_per_child=1000 * span_s / count,
            cpu_ms_per_child=1000 * cpu_s / count,
            bytes_per_child=size_bytes / count,
            coordinator_mib=mib[0],
            worker_mib=mib[1],
            summary_bytes=summary_bytes,
            commit_ms=await _lone_commit_ms(here),
            read_us_per_child=1e6 * read_s / count,
            first_frame_ms=1000 * first_frames(here, run_id, count)[1],
            key_ms=_key_ms(here, run_id),
        )


def _span(usage: Usage, settled_ms: Sequence[int]) -> tuple[float, float]:
    """Return how long it took from the first child settled to the last, and the CPU seconds of that time."""
    first_s, last_s = settled_ms[0] / 1000, settled_ms[-1] / 1000
    if last_s <= first_s:
        raise Unmeasured(f"time per child: all {len(settled_ms)} settled in the same millisecond")
    return last_s - first_s, max(sum(usage.cpu_s(last_s)) - sum(usage.cpu_s(first_s)), 1e-3)


async def _largest_summary(monitor: Monitor, run_id: str) -> float:
    largest = 0
    async for summary in monitor.follow(run_id, interval_s=SUMMARY_INTERVAL_S):
        largest = max(largest, len(encode_summary(summary)))
        if summary.run.ended_at is not None:
            break
    return float(largest)


async def _lone_commit_ms(here: Scene) -> float:
    """Return how long one checkpoint takes in a journal that holds the run, nobody else writing."""
    journal, lease, [token] = await prepared(here.journal, 1)
    try:
        took_ms: list[float] = []
        for serial in range(COMMITS):
            started_s = time.perf_counter()
            await journal.transact(partial(queue.commit, lease=lease, token=token, checkpoint=checkpoint(serial)))
            took_ms.append(1000 * (time.perf_counter() - started_s))
        return median(took_ms)
    finally:
        await journal.close()


def _key_ms(here: Scene, run_id: str) -> float:
    terminal = Terminal(here, "watch", run_id)
    try:
        typist = Typist(terminal, Random(7))
        typist.begin()
        typist.press(KEYS)
        if not typist.answered_ms:
            raise Unmeasured(f"key to frame: none of {KEYS} keys moved anything")
        return median(typist.answered_ms)
    finally:
        terminal.close()


async def _staged(stages: int, children: int) -> dict[tuple[str, str], float]:
    """Return time, CPU and bytes of one stage among so many of a child."""
    with scene() as here:
        run_id = await here.fan_out("of_many_stages", children, WORKERS, SLOTS, f"stages={stages}")
        usage = Usage(here.run_folder(run_id), WORKERS)
        monitor = await Monitor.open(str(here.journal))
        try:
            run = await until_ended(here, monitor, run_id, usage.sample)
            rows = await children_of(monitor, run)
        finally:
            await monitor.close()
        started = [row.started_at for row in rows if row.started_at is not None]
        span_s, cpu_s = _span(usage, [min(started), *sorted(row.ended_at for row in rows if row.ended_at is not None)])
        total = stages * children
        size_bytes = here.journal.stat().st_size
        return {
            ("time", "ms"): 1000 * span_s / total,
            ("CPU of coordinator and workers", "ms"): 1000 * cpu_s / total,
            ("journal", "bytes"): size_bytes / total,
        }

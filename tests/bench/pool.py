"""How fast a pool settles durable children that do nothing, and what each costs, beside Python's own executor.

The rate is counted from the first child settled to the last, by the journal's clock; start-up is told apart. Poolboard,
the executor and the raw journal loop take turns, for the machine is never quiet: believe the ratios.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from dataclasses import dataclass

from poolboard.engine.monitor import Monitor
from poolboard.journal.reader import Reader

from .checkpoints import checkpoints_per_second
from .executor import WORKERS
from .figure import Figure, Section, Unmeasured
from .scene import PATIENCE_S, ROOT, Scene, children_of, scene, until_ended
from .usage import Usage

SLOTS = 8
#: The raw loop that stages are compared with puts as many checkpoints into a commit as there are slots.
RAW_CALLERS = WORKERS * SLOTS


@dataclass(frozen=True, slots=True)
class Pass:
    """One run, measured. CPU seconds are per 1,000 children while children settled; ``start`` is what came before."""

    children_per_s: float
    first_settled_s: float
    coordinator_cpu_s: float
    workers_cpu_s: float
    start_cpu_s: float
    commits_per_child: float
    bytes_per_child: float
    coordinator_peak_mib: float
    worker_peak_mib: float


async def measure(children: int = 2_000, rounds: int = 3) -> Section:
    """Return the figures of so many rounds; three-stage runs have half as many children."""
    ones: list[Pass] = []
    threes: list[Pass] = []
    theirs: list[tuple[float, float]] = []
    theirs_three: list[tuple[float, float]] = []
    raw: list[float] = []
    for _ in range(rounds):
        ones.append(await _run("of_one_stage", children))
        theirs.append(await _executor(children, 1))
        threes.append(await _run("of_three_stages", max(children // 2, 2)))
        theirs_three.append(await _executor(max(children // 2, 2), 3))
        raw.append(await _raw())
    return Section(
        "pool",
        f"{children:,} durable children that do nothing on {WORKERS} workers x {SLOTS} slots, beside "
        f"ProcessPoolExecutor({WORKERS}) that records nothing",
        (
            *_rates(ones, threes, [rate for rate, _ in theirs], [rate for rate, _ in theirs_three], raw),
            *_costs(ones, [cpu_s for _, cpu_s in theirs]),
        ),
        (
            "rates: from the first child settled to the last; start-up: from the command to the first child settled",
            "the executor's: from the first stage finished, for it does all items' first stages before their second",
            "CPU, commits, bytes and memory are those of the one-stage runs; commits and bytes are of the whole run",
            "CPU depends less than the rates on who else uses the machine; the executor's holds its start-up",
        ),
    )


def _rates(
    ones: list[Pass], threes: list[Pass], theirs: list[float], theirs_three: list[float], raw: list[float]
) -> list[Figure]:
    one = [a.children_per_s for a in ones]
    three = [a.children_per_s for a in threes]
    stages = [3 * rate for rate in three]
    return [
        Figure("one-stage children", "per second", tuple(one)),
        Figure("executor, one future each", "per second", tuple(theirs)),
        Figure("one-stage children / executor", "ratio", _ratios(one, theirs)),
        Figure("three-stage children", "per second", tuple(three)),
        Figure("executor, three futures in a row", "per second", tuple(theirs_three)),
        Figure("three-stage children / executor", "ratio", _ratios(three, theirs_three)),
        Figure("stages of three-stage children", "per second", tuple(stages)),
        Figure(f"raw checkpoints, {RAW_CALLERS} per commit", "per second", tuple(raw)),
        Figure("stages / raw checkpoints", "ratio", _ratios(stages, raw)),
        Figure("start-up", "s", tuple(a.first_settled_s for a in ones)),
    ]


def _costs(ones: list[Pass], executor_cpu_s: list[float]) -> list[Figure]:
    all_cpu_s = [a.coordinator_cpu_s + a.workers_cpu_s for a in ones]
    return [
        Figure("coordinator CPU", "s per 1,000 children", tuple(a.coordinator_cpu_s for a in ones)),
        Figure("workers CPU, together", "s per 1,000 children", tuple(a.workers_cpu_s for a in ones)),
        Figure("executor CPU, all three", "s per 1,000 futures", tuple(executor_cpu_s)),
        Figure("CPU of a child / of a future", "ratio", _ratios(all_cpu_s, executor_cpu_s)),
        Figure("coordinator and workers CPU before the first child", "s", tuple(a.start_cpu_s for a in ones)),
        Figure("commits", "per child", tuple(a.commits_per_child for a in ones)),
        Figure("journal file", "bytes per child", tuple(a.bytes_per_child for a in ones)),
        Figure("coordinator memory, peak", "MiB", tuple(a.coordinator_peak_mib for a in ones)),
        Figure("worker memory, peak of the larger", "MiB", tuple(a.worker_peak_mib for a in ones)),
    ]


def _ratios(ours: list[float], theirs: list[float]) -> tuple[float, ...]:
    return tuple(mine / other for mine, other in zip(ours, theirs, strict=True))


async def _run(workflow: str, children: int) -> Pass:
    with scene() as here:
        started_s = time.time()
        run_id = await here.fan_out(workflow, children, WORKERS, SLOTS)
        usage = Usage(here.run_folder(run_id), WORKERS)
        monitor = await Monitor.open(str(here.journal))
        try:
            run = await until_ended(here, monitor, run_id, usage.sample)
            settled = sorted(row.ended_at for row in await children_of(monitor, run) if row.ended_at is not None)
        finally:
            await monitor.close()
        return await _told(here, usage, started_s, [at / 1000 for at in settled])


async def _told(here: Scene, usage: Usage, started_s: float, settled_s: list[float]) -> Pass:
    count, first_s, last_s = len(settled_s), settled_s[0], settled_s[-1]
    if last_s <= first_s:
        raise Unmeasured(f"children per second: all {count} settled in the same millisecond")
    before, after = usage.cpu_s(first_s), usage.cpu_s(last_s)
    coordinator_mib, worker_mib = usage.peak_mib()
    reader = await Reader.open(here.journal)
    # Every commit that changes a row counts the stamp up by one.
    commits = await reader.stamp()
    await reader.close()
    return Pass(
        children_per_s=(count - 1) / (last_s - first_s),
        first_settled_s=first_s - started_s,
        coordinator_cpu_s=(after[0] - before[0]) * 1000 / count,
        workers_cpu_s=(after[1] - before[1]) * 1000 / count,
        start_cpu_s=sum(before),
        commits_per_child=commits / count,
        bytes_per_child=here.journal.stat().st_size / count,
        coordinator_peak_mib=coordinator_mib,
        worker_peak_mib=worker_mib,
    )


async def _executor(count: int, stages: int) -> tuple[float, float]:
    words = [sys.executable, "-m", "tests.bench.executor", str(count), str(stages)]
    done = await asyncio.to_thread(
        subprocess.run, words, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    if done.returncode != 0:
        raise Unmeasured(f"ProcessPoolExecutor ended with {done.returncode}: {done.stderr.strip()[-200:]}")
    per_s, cpu_s = json.loads(done.stdout)
    return float(per_s), float(cpu_s)


async def _raw() -> float:
    with scene() as here:
        return (await checkpoints_per_second(here.folder, RAW_CALLERS, rounds=1)).raw[0]

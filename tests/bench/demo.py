"""How long a newcomer waits: from ``poolboard demo`` to the first child done, and to the end."""

from __future__ import annotations

import time

from poolboard.engine.monitor import Monitor

from .figure import Figure, Section, Unmeasured
from .scene import Scene, children_of, scene


async def measure(limit: int = 300, rounds: int = 3) -> Section:
    """Return the figures of so many surveys of ``limit`` files of the standard library, a new journal each."""
    firsts: list[float] = []
    ends: list[float] = []
    for _ in range(rounds):
        with scene() as here:
            first_s, end_s = await _survey(here, limit)
        firsts.append(first_s)
        ends.append(end_s)
    return Section(
        "demo",
        f"poolboard demo --headless --limit {limit}, a worker per core, from the start of the command",
        (
            Figure("to the first child done", "s", tuple(firsts)),
            Figure(f"to the end of the command, {limit} files", "s", tuple(ends)),
        ),
        ("the first child: when the journal says that it settled, against the time of day at which the command began",),
    )


async def _survey(here: Scene, limit: int) -> tuple[float, float]:
    started_at_s, started_s = time.time(), time.perf_counter()
    process = here.spawn("demo", "--headless", "--limit", str(limit))
    await here.ended(process, "poolboard demo")
    end_s = time.perf_counter() - started_s
    monitor = await Monitor.open(str(here.journal))
    try:
        runs = await monitor.runs()
        settled = [row.ended_at for row in await children_of(monitor, runs[0]) if row.ended_at is not None]
    finally:
        await monitor.close()
    if not settled:
        raise Unmeasured("to the first child done: no child has settled")
    return min(settled) / 1000 - started_at_s, end_s

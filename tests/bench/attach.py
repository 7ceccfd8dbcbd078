"""How long coming back to a large run takes: reading all its children, and the first frames of the dashboard."""

from __future__ import annotations

import time

from poolboard.engine.monitor import Monitor

from .figure import Figure, Section
from .scene import Scene, children_of, run_of, scene, until_ended
from .terminal import Terminal

FRAME_LIMIT_S = 60.0
WORKERS, SLOTS = 2, 8
#: A row of the list of children begins with its label, which stands nowhere else on the screen.
ROW = "item-"


async def measure(children: int = 10_000, rounds: int = 5) -> Section:
    """Return the figures of attaching so many times to a completed run of so many children."""
    reads: list[float] = []
    counts: list[float] = []
    lists: list[float] = []
    with scene() as here:
        run_id = await _made(here, children)
        for _ in range(rounds):
            reads.append(await read_all(here, run_id))
            counted_s, listed_s = first_frames(here, run_id, children)
            counts.append(counted_s)
            lists.append(listed_s)
    return Section(
        "attach",
        f"a run of {children:,} children that completed",
        (
            Figure("Monitor.open to all children read", "ms", tuple(1000 * read for read in reads)),
            Figure("poolboard watch to the frame with the count", "s", tuple(counts)),
            Figure("poolboard watch to the frame that lists children", "s", tuple(lists)),
        ),
        ("watch: from the start of the process to the last byte of the frame, in a pty of 160 x 48 cells",),
    )


async def _made(here: Scene, children: int) -> str:
    run_id = await here.fan_out("of_one_stage", children, WORKERS, SLOTS)
    monitor = await Monitor.open(str(here.journal))
    try:
        await until_ended(here, monitor, run_id)
    finally:
        await monitor.close()
    return run_id


async def read_all(here: Scene, run_id: str) -> float:
    """Return how many seconds it takes to read every child of a run, from opening the journal."""
    started_s = time.perf_counter()
    monitor = await Monitor.open(str(here.journal))
    try:
        await children_of(monitor, await run_of(monitor, run_id))
        return time.perf_counter() - started_s
    finally:
        await monitor.close()


def first_frames(here: Scene, run_id: str, children: int) -> tuple[float, float]:
    """Return after how many seconds ``poolboard watch`` shows the count of a run, and its list of children."""
    terminal = Terminal(here, "watch", run_id)
    try:
        counted, listed = terminal.first_frames(f"{children:,} of {children:,}", ROW, limit_s=FRAME_LIMIT_S)
        return counted.at_s - terminal.started_s, listed.at_s - terminal.started_s
    finally:
        terminal.close()

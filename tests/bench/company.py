"""What a foreign process that writes to the same file costs: the time of a commit beside it, the loop's lateness."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from poolboard.journal import queue

from .checkpoints import checkpoint, prepared
from .figure import Figure, percentile

#: Commits a second of the foreign process; 0 is as many as it can.
PACES = (200, 0)
TICK_S = 0.001
#: Writes a row of its own table in transactions of one, each with its fsync, until its stdin is closed.
FOREIGN = """
import sys, threading, time
from pathlib import Path
from poolboard.journal.driver import connect, sqlite
connection, pace = connect(Path(sys.argv[1]), readonly=False), float(sys.argv[2])
connection.execute("PRAGMA busy_timeout = 60000")
connection.execute("CREATE TABLE IF NOT EXISTS foreigner (n INTEGER)")
over = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
print("writing", flush=True)
due = time.monotonic()
while not over.is_set():
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT INTO foreigner VALUES (1)")
    connection.execute("COMMIT")
    if pace:
        due = max(due + 1 / pace, time.monotonic() - 1)
        time.sleep(max(due - time.monotonic(), 0))
"""


@contextmanager
def foreigner(path: Path, pace: int) -> Iterator[None]:
    """Have another process write to the file meanwhile."""
    process = subprocess.Popen(
        [sys.executable, "-c", FOREIGN, str(path), str(pace)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        process.stdout.readline()
        yield
    finally:
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=10)
        process.kill()
        process.wait()


async def measure(folder: Path, commits: int) -> list[Figure]:
    """Return p99 of a lone caller's commit and of the loop's lateness, beside a foreigner of either pace."""
    figures: list[Figure] = []
    for pace in PACES:
        path = folder / f"beside-{pace}.sqlite"
        journal, lease, [token] = await prepared(path, 1)
        late_ms: list[float] = []
        ticking = asyncio.ensure_future(_tick(late_ms))
        took_ms: list[float] = []
        with foreigner(path, pace):
            for serial in range(commits):
                started = time.perf_counter()
                one = checkpoint(serial)
                await journal.transact(partial(queue.commit, lease=lease, token=token, checkpoint=one))
                took_ms.append((time.perf_counter() - started) * 1000)
        ticking.cancel()
        await journal.close()
        beside = f"beside {pace} foreign commits/s" if pace else "beside a foreigner flat out"
        figures += [
            Figure(f"commit p99 {beside}", "ms", (percentile(took_ms, 99),)),
            Figure(f"loop lateness p99 {beside}", "ms", (percentile(late_ms, 99),)),
        ]
    return figures


async def _tick(late_ms: list[float]) -> None:
    while True:
        started = time.perf_counter()
        await asyncio.sleep(TICK_S)
        late_ms.append((time.perf_counter() - started - TICK_S) * 1000)

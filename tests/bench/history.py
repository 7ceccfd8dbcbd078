"""What a long history costs: a commit after 100,000 checkpoints, a look at 10,000 runs with a million events."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from statistics import median

from poolboard.journal import queue
from poolboard.journal.driver import connect
from poolboard.journal.file import open_writer
from poolboard.journal.model import Receipt
from poolboard.journal.reader import Reader

from .checkpoints import checkpoint, prepared
from .figure import Figure, Unmeasured

RECORDED = (0, 5_000, 100_000)
PER_REQUEST = 1_000
RUNS, EVENTS_PER_RUN = 10_000, 100

INSERT_RUNS = """
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
INSERT INTO runs (number, run_id, name, cwd, header, created_at, status, started_at, ended_at, completed, last_seq, last_n,
  result, changed)
SELECT i, printf('%032x', i), 'bench', '/', ?2, i, 'completed', i, i + 5, 20, ?3, 20, '1', i FROM n
"""  # noqa: E501
INSERT_EVENTS = """
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?1 * ?3 - 1)
INSERT INTO events (position, epoch, type, work, at, payload)
SELECT (i / ?3 + 1) * (1 << 40) + i % ?3 + 1, 1, 'CheckpointRecorded', i % ?3 / 5, i, ?2 FROM n
"""


async def commits(folder: Path, recorded: tuple[int, ...] = RECORDED, samples: int = 300) -> list[Figure]:
    """Return how long a lone caller's commit takes when so many checkpoints of its child are recorded already."""
    journal, lease, [token] = await prepared(folder / "history.sqlite", 1)

    def commit(serial: int) -> partial[Receipt]:
        return partial(queue.commit, lease=lease, token=token, checkpoint=checkpoint(serial))

    figures: list[Figure] = []
    serial = 0
    for goal in recorded:
        while serial < goal:
            count = min(PER_REQUEST, goal - serial)
            await journal.submit([commit(serial + n) for n in range(count)])
            serial += count
        took_ms: list[float] = []
        for _ in range(samples):
            started = time.perf_counter()
            await journal.transact(commit(serial))
            took_ms.append((time.perf_counter() - started) * 1000)
            serial += 1
        figures.append(Figure(f"commit after {goal:,} checkpoints", "ms, median", (median(took_ms),)))
    first, last = figures[0].median, figures[-1].median
    figures.append(Figure("commit after most / after none", "ratio", (last / first,)))
    await journal.close()
    return figures


def fill(path: Path, runs: int, events_per_run: int) -> None:
    """Make a journal of ended runs, fast and without fsync: 200 bytes a checkpoint."""
    open_writer(path, create=True, synchronous="NORMAL").close()
    header = json.dumps({"folder": str(path.parent / "run"), "path": "bench.py", "workflow": "bench"})
    with closing(connect(path, readonly=False)) as connection:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(INSERT_RUNS, (runs, header, events_per_run))
        connection.execute(INSERT_EVENTS, (runs, json.dumps({"value": "x" * 180}), events_per_run))
        connection.execute("UPDATE stamp SET value = ?", (runs,))
        connection.execute("COMMIT")
        connection.execute("PRAGMA journal_mode = WAL")


async def looks(folder: Path, runs: int = RUNS, events_per_run: int = EVENTS_PER_RUN, rounds: int = 3) -> list[Figure]:
    """Return how long a look at all runs takes, in a process of its own and in SQL, and what a change token costs."""
    path = folder / "many.sqlite"
    fill(path, runs, events_per_run)
    cold_s = tuple(_cold(path, runs) for _ in range(rounds))
    reader = await Reader.open(path)
    sql_ms, token_us = [], []
    for _ in range(rounds):
        started = time.perf_counter()
        with closing(connect(path, readonly=True)) as connection:
            connection.execute("SELECT run_id, name, status, completed, last_seq, changed FROM runs").fetchall()
        sql_ms.append((time.perf_counter() - started) * 1000)
        started = time.perf_counter()
        for _ in range(100):
            await reader.data_version()
        token_us.append((time.perf_counter() - started) * 1e6 / 100)
    await reader.close()
    what = f"{runs:,} runs with {runs * events_per_run:,} events"
    return [
        Figure(f"list of {what}, a new process", "s", cold_s),
        Figure(f"rows of {what}, SQL", "ms", tuple(sql_ms)),
        Figure("change token", "µs", tuple(token_us)),
    ]


def _cold(path: Path, runs: int) -> float:
    command = [sys.executable, "-m", "poolboard", "list", "--json", "--journal", str(path)]
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, timeout=120)
    took_s = time.perf_counter() - started
    if done.returncode != 0 or done.stdout.count(b'"run_id"') < min(runs, 100):
        raise Unmeasured(f"poolboard list: exit code {done.returncode}: {done.stderr[-300:]!r}")
    return took_s

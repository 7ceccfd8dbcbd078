"""What a long history costs: a commit after 100,000 checkpoints, a look at 10,000 runs with a million events."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

from poolboard.journal import queue
from poolboard.journal.driver import connect
from poolboard.journal.file import open_writer
from poolboard.journal.model import Lease, Receipt, Token
from poolboard.journal.reader import RUNS_LIMIT, Reader
from poolboard.journal.rows import RUNS, RUNS_LISTED
from poolboard.journal.sqlite import SqliteJournal

from .checkpoints import checkpoint, prepared
from .figure import Figure, Unmeasured

RECORDED = (0, 5_000, 100_000)
PER_REQUEST = 1_000
PER_TURN = 20
LOOKS = 200
MANY_RUNS, EVENTS_PER_RUN = 10_000, 100

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


async def commits(folder: Path, recorded: Sequence[int] = RECORDED, samples: int = 300) -> list[Figure]:
    """Return how long a lone caller's commit takes when so many checkpoints of its child are recorded already.

    There is a journal for each, and they take turns: what else the machine does, it does to all of them.
    """
    histories = [await _History.of(folder / f"history-{count}.sqlite", count) for count in recorded]
    took_ms: list[list[float]] = [[] for _ in histories]
    for _ in range(samples // PER_TURN):
        for history, took in zip(histories, took_ms, strict=True):
            took.append(await history.commit_ms(PER_TURN))
    for history in histories:
        await history.journal.close()
    ratios = tuple(most / none for none, most in zip(took_ms[0], took_ms[-1], strict=True))
    return [
        *(
            Figure(f"commit after {count:,} checkpoints", "ms", tuple(took))
            for count, took in zip(recorded, took_ms, strict=True)
        ),
        Figure(f"commit after {recorded[-1]:,} / after none", "ratio", ratios),
    ]


@dataclass(slots=True)
class _History:
    journal: SqliteJournal
    lease: Lease
    token: Token
    recorded: int = 0

    @classmethod
    async def of(cls, path: Path, count: int) -> _History:
        journal, lease, [token] = await prepared(path, 1)
        history = cls(journal, lease, token)
        while history.recorded < count:
            many = min(PER_REQUEST, count - history.recorded)
            await journal.submit([history.next() for _ in range(many)])
        return history

    def next(self) -> partial[Receipt]:
        """Return the commit of a checkpoint that is not recorded yet."""
        self.recorded += 1
        return partial(queue.commit, lease=self.lease, token=self.token, checkpoint=checkpoint(self.recorded))

    async def commit_ms(self, count: int) -> float:
        """Return the median time of so many commits, one after the other."""
        took_ms: list[float] = []
        for _ in range(count):
            started = time.perf_counter()
            await self.journal.transact(self.next())
            took_ms.append((time.perf_counter() - started) * 1000)
        return median(took_ms)


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


async def looks(
    folder: Path, runs: int = MANY_RUNS, events_per_run: int = EVENTS_PER_RUN, rounds: int = 3
) -> list[Figure]:
    """Return how long a look at all runs and at one takes, in a process of its own and in SQL; and a change token."""
    path = folder / "many.sqlite"
    fill(path, runs, events_per_run)
    one = f"{runs // 2:032x}"
    list_s, status_s = [], []
    for _ in range(rounds):
        list_s.append(_cold(path, min(runs, 100), "list"))
        status_s.append(_cold(path, 1, "status", one))
    figures = [
        Figure("list, a new process", "s", tuple(list_s)),
        Figure("status of one, a new process", "s", tuple(status_s)),
    ]
    figures += _sql(path, runs, one, rounds)
    reader = await Reader.open(path)
    token_us = []
    for _ in range(rounds):
        started = time.perf_counter()
        for _ in range(LOOKS):
            await reader.data_version()
        token_us.append((time.perf_counter() - started) * 1e6 / LOOKS)
    await reader.close()
    what = f"{runs:,} runs with {runs * events_per_run:,} events"
    return [
        *(Figure(f"{what}: {figure.name}", figure.unit, figure.values) for figure in figures),
        Figure("change token, through the loop", "µs", tuple(token_us)),
    ]


def _sql(path: Path, runs: int, one: str, rounds: int) -> list[Figure]:
    """Return what the statements take on a connection that was just opened."""
    whole = f"{RUNS_LISTED} ORDER BY r.number DESC LIMIT {RUNS_LIMIT}"
    found: dict[str, list[float]] = {"status of one, SQL": [], "list, SQL alone": [], "list, SQL to Python values": []}
    token_us: list[float] = []
    for _ in range(rounds):
        with closing(connect(path, readonly=True)) as connection:
            for name, statement, values in (
                ("status of one, SQL", f"{RUNS} WHERE r.run_id = ?", (one,)),
                ("list, SQL alone", f"SELECT count(*) FROM ({whole}) WHERE run_id > '' AND changed >= 0", ()),
                ("list, SQL to Python values", whole, ()),
            ):
                started = time.perf_counter()
                rows = connection.execute(statement, values).fetchall()
                found[name].append((time.perf_counter() - started) * 1e3)
                assert len(rows) == (runs if name == "list, SQL to Python values" else 1)
                del rows  # giving back 300,000 values takes its time too
            started = time.perf_counter()
            for _ in range(LOOKS):
                connection.execute("PRAGMA data_version").fetchone()
            token_us.append((time.perf_counter() - started) * 1e6 / LOOKS)
    return [
        *(Figure(name, "ms", tuple(values)) for name, values in found.items()),
        Figure("change token, SQL", "µs", tuple(token_us)),
    ]


def _cold(path: Path, least: int, *words: str) -> float:
    command = [sys.executable, "-m", "poolboard", *words, "--json", "--journal", str(path)]
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, timeout=120)
    took_s = time.perf_counter() - started
    if done.returncode != 0 or done.stdout.count(b'"run_id"') < least:
        raise Unmeasured(f"poolboard {words[0]}: exit code {done.returncode}: {done.stderr[-300:]!r}")
    return took_s

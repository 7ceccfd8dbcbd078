"""How many checkpoints a second the journal takes, against the same SQL straight on the SQLite library.

Ours: so many callers, each waiting for its receipt before the next commit. Raw: one loop that puts the same number of
the same rows into each commit, and waits for nobody. Rounds of the two take turns, for the machine is never quiet.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path

from poolboard.journal import queue
from poolboard.journal.driver import Connection, Synchronous, connect
from poolboard.journal.model import Checkpoint, Lease, NewRun, NewWork, Token
from poolboard.journal.sqlite import SqliteJournal

HOUR_MS = 3_600_000
MEMBERS_PER_ROUND = 3_200


@dataclass(frozen=True, slots=True)
class Rates:
    """Checkpoints a second, one value per round."""

    ours: tuple[float, ...]
    raw: tuple[float, ...]

    @property
    def ratios(self) -> tuple[float, ...]:
        """Ours as a share of raw, round by round."""
        return tuple(mine / theirs for mine, theirs in zip(self.ours, self.raw, strict=True))


def checkpoint(serial: int) -> Checkpoint:
    """Return a checkpoint of the usual size under a key of its own: about 250 bytes of payload."""
    at = 1_700_000_000_000 + serial
    value = {"stage": "measure", "value": "x" * 100, "attempt": 1, "ok": True, "started_at": at, "completed_at": at + 9}
    key = json.dumps(["stage", "measure", f"{serial:032x}", 0])
    return Checkpoint(key, "measure", json.dumps(value), at, at + 9, 9.5)


async def prepared(
    path: Path, children: int, synchronous: Synchronous = "FULL"
) -> tuple[SqliteJournal, Lease, list[Token]]:
    """Return a new journal with a run that is held, and so many of its children claimed."""
    journal = await SqliteJournal.open(path, synchronous=synchronous)
    await journal.create_run(NewRun("bench", "bench", "/", "{}"))
    lease = await journal.acquire_lease("bench", "bench")
    await journal.transact(lambda tx: queue.enqueue(tx, lease, None, [NewWork("root", "bench", "root", "{}")]))
    root = await journal.transact(lambda tx: queue.claim(tx, lease, 0, "w", HOUR_MS))
    assert root is not None
    items = [NewWork(f"child {i}", "bench", f"child {i}", "{}") for i in range(children)]
    await journal.transact(lambda tx: queue.enqueue(tx, lease, root.token, items))
    tokens = []
    for n in range(1, children + 1):
        claimed = await journal.transact(partial(queue.claim, lease=lease, n=n, worker="w", ttl_ms=HOUR_MS))
        assert claimed is not None
        tokens.append(claimed.token)
    return journal, lease, tokens


async def _ours(journal: SqliteJournal, lease: Lease, tokens: list[Token], work: list[list[Checkpoint]]) -> float:
    async def caller(token: Token, checkpoints: list[Checkpoint]) -> None:
        for one in checkpoints:
            await journal.transact(partial(queue.commit, lease=lease, token=token, checkpoint=one))

    started = time.perf_counter()
    await asyncio.gather(*(caller(token, part) for token, part in zip(tokens, work, strict=True)))
    return time.perf_counter() - started


def _raw(connection: Connection, lease: Lease, tokens: list[Token], work: list[list[Checkpoint]]) -> float:
    """What the library alone needs: per member the lease, the row, the key, and three writes; per commit two more."""
    execute = connection.cursor().execute
    seq = int(execute("SELECT last_seq FROM runs WHERE number = 1").fetchone()[0])
    started = time.perf_counter()
    for step in zip(*work, strict=True):
        execute("BEGIN IMMEDIATE")
        now = execute("SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER)").fetchone()[0]
        for token, one in zip(tokens, step, strict=True):
            seq = _raw_member(execute, lease, token, one, seq, now)
        execute("UPDATE stamp SET value = value + 1")
        execute("UPDATE runs SET last_seq = ?, changed = (SELECT value FROM stamp) WHERE number = 1", (seq,))
        execute("COMMIT")
    return time.perf_counter() - started


def _raw_member(execute, lease: Lease, token: Token, one: Checkpoint, seq: int, now: int) -> int:  # type: ignore[no-untyped-def]
    work_id = (1 << 40) + token.n
    key = sha256(one.key.encode()).digest()[:16]
    request = sha256(one.payload.encode()).digest()[:16]
    holder, epoch = execute("SELECT holder, epoch FROM leases WHERE run = 1").fetchone()
    state, generation = execute("SELECT state, generation FROM work WHERE id = ?", (work_id,)).fetchone()
    known = execute("SELECT seq FROM operations WHERE run = 1 AND work = ? AND key = ?", (token.n, key)).fetchone()
    if (holder, epoch, state, generation, known) != (lease.holder, lease.epoch, "leased", token.generation, None):
        raise AssertionError("the raw loop found another state than it left")
    seq += 1
    execute(
        "INSERT INTO events (position, epoch, type, work, at, payload) VALUES (?, ?, ?, ?, ?, ?)",
        ((1 << 40) + seq, epoch, "CheckpointRecorded", token.n, now, one.payload),
    )
    execute(
        "INSERT INTO operations (run, work, key, seq, generation, request) VALUES (1, ?, ?, ?, ?, ?)",
        (token.n, key, seq, generation, request),
    )
    execute(
        "UPDATE work SET stage = ?, stages_done = stages_done + ?, changed = (SELECT value + 1 FROM stamp) "
        "WHERE id = ?",
        (one.stage, one.ok, work_id),
    )
    return seq


def _rounds(callers: int, rounds: int, members: int) -> Iterator[list[list[Checkpoint]]]:
    # A lone caller pays an fsync for each: an eighth of the members takes it as long as all take the others.
    steps = max(members // (callers if callers > 1 else 8), 1)
    for number in range(rounds):
        first = number * callers * steps
        yield [[checkpoint(first + caller * steps + step) for step in range(steps)] for caller in range(callers)]


async def checkpoints_per_second(
    folder: Path,
    callers: int,
    rounds: int = 5,
    members: int = MEMBERS_PER_ROUND,
    synchronous: Synchronous = "FULL",
) -> Rates:
    """Return the rates of so many rounds in two new journals inside a folder."""
    journal, lease, tokens = await prepared(folder / f"ours-{callers}.sqlite", callers, synchronous)
    other, raw_lease, raw_tokens = await prepared(folder / f"raw-{callers}.sqlite", callers, synchronous)
    await other.close()
    connection = connect(folder / f"raw-{callers}.sqlite", readonly=False, synchronous=synchronous)
    connection.execute("PRAGMA wal_autocheckpoint = 2000")
    ours: list[float] = []
    raw: list[float] = []
    for work in _rounds(callers, rounds, members):
        count = callers * len(work[0])
        ours.append(count / await _ours(journal, lease, tokens, work))
        raw.append(count / _raw(connection, raw_lease, raw_tokens, work))
    connection.close()
    await journal.close()
    return Rates(tuple(ours), tuple(raw))

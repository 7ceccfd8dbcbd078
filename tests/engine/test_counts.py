"""What a child costs, counted instead of timed: messages, bytes, statements, commits, fsyncs.

Clocks cannot tell a change of a tenth on a shared machine; these numbers are the same on every machine. Each limit says
why it is what it is. If yours is smaller, lower it here; if it is larger, the change made every child dearer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import pytest

from poolboard.engine import coordination, launch, takeover, wire
from poolboard.engine.coordinator import Coordinator
from poolboard.engine.header import RunHeader
from poolboard.engine.intent import Errand
from poolboard.journal import queue
from poolboard.journal.model import Checkpoint, Claimed, NewRun, NewWork
from poolboard.journal.sqlite import SqliteJournal
from tests.engine.rig import Rig

CHILDREN: Final = 40
#: What a run says once, however many children it has: enqueue, slot given and wanted, the group settled, goodbye.
ONCE: Final = 8
#: Leases are renewed by the clock, and a first stage may reach the journal before its run returns: not of the children.
BY_CHANCE: Final = 12
#: What ``PRAGMA synchronous`` says where every commit waits for the disk.
FULL: Final = 2
#: Messages that come by the clock, not by the child.
BY_THE_CLOCK: Final = {"Activity", "Heartbeat", "HeartbeatHello", "WorkerHello", "Welcome"}


@dataclass
class Counted:
    """What one run's coordinator said, heard and wrote."""

    messages: Counter[str] = field(default_factory=Counter)
    wire_bytes: int = 0
    statements: list[str] = field(default_factory=list)
    size_bytes: int = 0
    synchronous: int = 0

    @property
    def commits(self) -> list[list[str]]:
        """The statements of each commit, from BEGIN to COMMIT."""
        found: list[list[str]] = []
        for statement in self.statements:
            if statement.startswith("BEGIN"):
                found.append([])
            if found:
                found[-1].append(statement)
        return found

    def took(self, messages: Sequence[wire.Message], size_bytes: int) -> None:
        names = [type(message).__name__ for message in messages]
        if not BY_THE_CLOCK.intersection(names):
            self.wire_bytes += size_bytes
        self.messages.update(name for name in names if name not in BY_THE_CLOCK)


async def counted_run(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, count: int, stages: int, workers: int = 1, slots: int = 1
) -> Counted:
    """Run children with the coordinator in this process, so that it can be watched; its workers are real ones."""
    counted = Counted()
    _watch_the_wire(monkeypatch, counted)

    async def not_now(*_: object, **__: object) -> None:
        return None

    monkeypatch.setattr(launch, "start_coordinator", not_now)
    run_id = await rig.start("idle:children", workers, slots, count=count, stages=stages)
    journal = await SqliteJournal.open(rig.journal, create=False)
    try:
        before = await journal.get_run(run_id)
        header = RunHeader.from_json(before.header)
        lease = await takeover.take_lease(journal, run_id)
        digest = await coordination.accepted_digest(journal, lease, header, accept_code=False)
        connection = journal._writer._connection
        counted.synchronous = connection.execute("PRAGMA synchronous").fetchone()[0]
        connection.set_trace_callback(counted.statements.append)
        await Coordinator(journal, lease, before, header, digest, Errand("resume")).run(lambda: None)
        connection.set_trace_callback(None)
        assert (await journal.get_run(run_id)).completed == count
        await journal.release_lease(lease)
    finally:
        await journal.close()
    counted.size_bytes = rig.journal.stat().st_size
    return counted


def _watch_the_wire(monkeypatch: pytest.MonkeyPatch, counted: Counted) -> None:
    encode, feed = wire.encode, wire.Decoder.feed

    def encoding(messages: Sequence[wire.Message]) -> bytes:
        data = encode(messages)
        counted.took(messages, len(data))
        return data

    def feeding(decoder: wire.Decoder, data: bytes) -> Any:
        messages = feed(decoder, data)
        counted.took(messages, len(data))
        return messages

    monkeypatch.setattr(wire, "encode", encoding)
    monkeypatch.setattr(wire.Decoder, "feed", feeding)


async def test_a_child_of_one_stage_takes_five_messages_and_two_commits(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = await counted_run(rig, monkeypatch, CHILDREN, stages=1)
    told, commits = counted.messages, counted.commits
    # Assign, CommitStage, Recorded, CompleteRun, Recorded; the root has them too. A stage's outcome is answered before
    # its workflow sees it, so the end cannot take the last one along.
    assert (told["Assign"], told["CompleteRun"]) == (CHILDREN + 1, CHILDREN + 1)
    assert told.total() <= 5 * (CHILDREN + 1) + ONCE + BY_CHANCE
    # Of 945 bytes, 90 are the child's row in EnqueueChildren and 130 its Assign; the rest is its outcome and its end.
    assert counted.wire_bytes / CHILDREN < 1000
    # The end of one child and the claim of the next share a commit, though there is one slot only.
    assert len(commits) <= 2 * CHILDREN + ONCE + BY_CHANCE
    # A commit: begin, clock and stamp, run and lease, counters (run, stage read and written, stamp), commit: 8, twice.
    # Outcome: operation, event, row: 3. End: attempt, result, event, operation, row: 5. Claim: item, row: 2.
    assert sum(map(len, commits)) / CHILDREN <= 30
    # FULL in WAL mode: an fsync for each commit, and two for each checkpoint (the WAL before, the file after).
    assert counted.synchronous == FULL
    checkpoints = sum(statement.startswith("PRAGMA wal_checkpoint") for statement in counted.statements)
    assert checkpoints <= 1 + len(commits) // 20


async def test_a_further_stage_takes_two_messages(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = await counted_run(rig, monkeypatch, CHILDREN, stages=3)
    # CommitStage and Recorded.
    assert counted.messages.total() <= (5 + 2 * 2) * (CHILDREN + 1) + ONCE + BY_CHANCE
    assert counted.messages["CommitStage"] >= 2 * CHILDREN


async def test_a_child_leaves_650_bytes_on_disk_and_eight_share_commits(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    await (await SqliteJournal.open(rig.folder / "empty.sqlite")).close()
    count, empty_bytes = 200, (rig.folder / "empty.sqlite").stat().st_size
    counted = await counted_run(rig, monkeypatch, count, stages=1, slots=8)
    # Three events with their payloads, the work row, two operations, their indexes.
    assert (counted.size_bytes - empty_bytes) / count < 650
    # This is what group commit is for; how many share one depends on the machine, that some do does not.
    assert len(counted.commits) < count


async def test_sixteen_at_once_take_one_commit_and_few_statements(rig: Rig) -> None:
    journal = await SqliteJournal.open(rig.journal)
    try:
        await journal.create_run(NewRun("counted", "counted", "/", "{}"))
        lease = await journal.acquire_lease("counted", "counted")
        await journal.transact(lambda tx: queue.enqueue(tx, lease, None, [NewWork("root", "w", "root", "{}")]))
        claim = partial(partial, queue.claim, lease=lease, worker="w", ttl_ms=30_000)
        root = await journal.transact(claim(n=0))
        assert isinstance(root, Claimed)
        items = [NewWork(f"child {n}", "w", f"child {n}", "{}") for n in range(32)]
        await journal.transact(lambda tx: queue.enqueue(tx, lease, root.token, items))
        first = await journal.submit([claim(n=n) for n in range(1, 17)])
        tokens = [one.token for one in first if isinstance(one, Claimed)]
        counted = Counted()
        outcome = Checkpoint("key", "stage", '{"value": 1}', 1, 2, 1.0)
        outcomes = [partial(queue.commit, lease=lease, token=token, checkpoint=outcome) for token in tokens]
        ends = [partial(queue.complete, lease=lease, token=token, result="1") for token in tokens]
        journal._writer._connection.set_trace_callback(counted.statements.append)
        await journal.submit([*outcomes, *ends, *(claim(n=n) for n in range(17, 33))])
        journal._writer._connection.set_trace_callback(None)
    finally:
        await journal.close()
    [commit] = counted.commits
    # Rows that are written count each: outcome 3, end 4, claim 1. What is read is read once for all sixteen.
    assert len(commit) <= 141

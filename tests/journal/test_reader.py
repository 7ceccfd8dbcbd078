"""What screens and coordinators read: pages, changes, counts, and nothing that grows with the history."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from poolboard.journal import queue
from poolboard.journal.driver import connect
from poolboard.journal.durations import BUCKETS, bucket, quantile_ms
from poolboard.journal.errors import RunNotFound, StorageUnavailable
from poolboard.journal.model import NewRun, WorkRow
from poolboard.journal.reader import Reader
from poolboard.journal.sqlite import SqliteJournal
from poolboard.journal.transaction import Transaction

if TYPE_CHECKING:
    from tests.journal.conftest import StartedRun


async def all_changes(reader: Reader, since: tuple[int, int], limit: int) -> list[WorkRow]:
    rows: list[WorkRow] = []
    while True:
        page = await reader.work_changed(1, since, limit)
        rows += page
        if len(page) < limit:
            return rows
        since = (page[-1].changed, page[-1].n)


async def test_a_reader_of_another_connection_sees_what_was_settled(run: StartedRun, path: Path) -> None:
    reader = await Reader.open(path)
    version = await reader.data_version()
    await run.enqueue(run.child("a"))
    assert await reader.data_version() != version
    assert [row.n for row in await reader.work_page(1, 0, 10)] == [1]
    assert reader.path == path
    await reader.close()
    await reader.close()
    with pytest.raises(StorageUnavailable):
        await reader.runs()


async def test_runs_come_newest_first_and_are_found_by_prefix(journal: SqliteJournal) -> None:
    for run_id in ("aa-1", "ab-2", "b%-3", "b_-4", "bb-5"):
        await journal.create_run(NewRun(run_id, "n", "/", "{}"))
    reader = journal.reader
    assert [row.run_id for row in await reader.runs()] == ["bb-5", "b_-4", "b%-3", "ab-2", "aa-1"]
    assert [row.run_id for row in await reader.runs(2)] == ["bb-5", "b_-4"]
    assert [row.run_id for row in await reader.find("a")] == ["ab-2", "aa-1"]
    assert [row.run_id for row in await reader.find("a", limit=1)] == ["ab-2"]
    assert [row.run_id for row in await reader.find("b%")] == ["b%-3"]
    assert [row.run_id for row in await reader.find("b_")] == ["b_-4"]
    assert [row.run_id for row in await reader.find("bb-5")] == ["bb-5"]
    assert await reader.find("zz") == []
    assert (await reader.run("ab-2")).number == 2
    for asked in (reader.run("a"), reader.run_by_number(9), reader.work(1, 5), reader.boundary(1, 5)):
        with pytest.raises(RunNotFound):
            await asked


async def test_a_list_of_runs_leaves_out_what_may_be_large(journal: SqliteJournal) -> None:
    """B71: a run's inputs and its result may have a MiB each, and 10,000 runs are listed."""
    header, result = json.dumps({"inputs": "x" * 500_000}), json.dumps("y" * 500_000)
    await journal.create_run(NewRun("run-1", "n", "/", header))
    lease = await journal.acquire_lease("run-1", "me")
    await journal.transact(lambda tx: queue.finish_run(tx, lease, "completed", result, None))
    reader = journal.reader
    lists = (await reader.runs(), await reader.runs_changed(0), await reader.find("run"), await journal.list_runs())
    assert [[(row.header, row.result, row.status) for row in rows] for rows in lists] == [[("", None, "completed")]] * 4
    row = await reader.run("run-1")
    assert (row.header, row.result) == (header, result)


async def test_only_runs_that_changed_are_told(journal: SqliteJournal) -> None:
    rows = [await journal.create_run(NewRun(f"run-{n}", "n", "/", "{}")) for n in range(3)]
    seen = await journal.reader.stamp()
    assert [row.changed for row in rows] == [1, 2, 3] and seen == 3
    lease = await journal.acquire_lease("run-1", "me")
    await journal.transact(lambda tx: queue.set_status(tx, lease, "running"))
    assert [row.run_id for row in await journal.reader.runs_changed(seen)] == ["run-1"]
    assert await journal.reader.runs_changed(await journal.reader.stamp()) == []


async def test_pages_of_children_are_in_order_and_leave_the_root_out(run: StartedRun) -> None:
    await run.enqueue(*[run.child(f"key {n}") for n in range(25)])
    reader = run.journal.reader
    pages = [await reader.work_page(1, after, 10) for after in (0, 10, 20, 25)]
    assert [[row.n for row in page] for page in pages] == [[*range(1, 11)], [*range(11, 21)], [*range(21, 26)], []]
    assert [row.n for row in await reader.work_page(1, -1, 2)] == [0, 1]


@pytest.mark.parametrize("limit", [1, 3, 1_000])
async def test_following_changes_misses_nothing_whatever_the_page(run: StartedRun, limit: int) -> None:
    reader = run.journal.reader
    await run.enqueue(*[run.child(f"key {n}") for n in range(10)])
    await run.enqueue(run.child("alone"))
    first = await all_changes(reader, (0, 0), limit)
    assert [row.n for row in first] == list(range(1, 12))
    cursor = (first[-1].changed, first[-1].n)
    await run.do(queue.complete, await run.claim(7), "1")
    await run.claim(3)
    assert [(row.n, row.state) for row in await all_changes(reader, cursor, limit)] == [(7, "completed"), (3, "leased")]


async def test_a_heartbeat_is_no_change_and_no_event(run: StartedRun) -> None:
    await run.claimed_child()
    row, work, stamp = await run.row(), await run.journal.reader.work(1, 1), await run.journal.reader.stamp()
    for _ in range(1_000 // 50):
        await run.journal.submit([lambda tx: queue.renew(tx, run.lease, "w1", 30_000)] * 50)
    assert ((await run.row()).last_seq, await run.journal.reader.stamp()) == (row.last_seq, stamp)
    assert await run.journal.reader.work(1, 1) == work


async def test_renewing_one_worker_renews_what_it_has_and_nothing_else(run: StartedRun) -> None:
    mine = [await run.claimed_child(f"key {n}", "w1") for n in range(3)]
    await run.claimed_child("other", "w2")
    await run.do(queue.wait, mine[0])
    await run.do(queue.complete, mine[1], "1")
    await run.enqueue(run.child("ready"))
    assert await run.do(queue.renew, "w1", 30_000) == 2
    assert await run.do(queue.renew, "nobody", 30_000) == 0


async def test_a_child_knows_its_own_children_and_their_counts(run: StartedRun) -> None:
    parent = await run.claimed_child("parent")
    made = await run.do(queue.enqueue, parent, [run.child(f"key {n}") for n in range(5)])
    await run.do(queue.complete, await run.claim(made[0].n), "1")
    await run.claim(made[1].n)
    reader = run.journal.reader
    assert [row.n for row in await reader.children_of(1, parent.n, 3, 2)] == [4, 5]
    expected = {"ready": 3, "leased": 1, "waiting": 0, "completed": 1, "failed": 0, "cancelled": 0}
    assert await reader.child_counts(1, parent.n) == expected
    assert set((await reader.child_counts(1, made[2].n)).values()) == {0}
    row = await run.row()
    assert (row.total, row.ready, row.leased, row.completed) == (6, 3, 2, 1)


async def test_results_are_read_for_as_many_as_one_asks(run: StartedRun) -> None:
    await run.enqueue(*[run.child(f"key {n}") for n in range(4_500)])
    await run.do(queue.complete, await run.claim(4_400), '"far"')
    await run.do(queue.fail, await run.claim(2), "line", "{}")
    found = await run.journal.reader.results(1, [*range(1, 4_501), 99_999])
    assert len(found) == 4_500
    assert (found[4_400], found[2], found[3]) == (
        ("completed", '"far"', None),
        ("failed", None, "line"),
        ("ready", None, None),
    )
    assert await run.journal.reader.results(1, []) == {}


async def test_a_successor_finds_all_that_is_unsettled(run: StartedRun) -> None:
    await run.enqueue(*[run.child(f"key {n}") for n in range(4_100)])
    await run.do(queue.complete, await run.claim(1), "1")
    await run.claim(2)
    live = await run.journal.reader.live_work(1)
    assert [work.n for work in live] == [0, *range(2, 4_101)]
    assert [(work.state, work.worker, work.epoch, work.starts) for work in live[:3]] == [
        ("leased", "w0", 1, 1), ("leased", "w1", 1, 1), ("ready", None, 1, 0),
    ]  # fmt: skip


async def test_events_are_read_in_pages_and_by_type(run: StartedRun) -> None:
    await run.enqueue(*[run.child(f"key {n}") for n in range(5)])
    await run.do(queue.set_status, "running")
    reader = run.journal.reader
    assert [entry.seq for entry in await reader.events(1, 2, 3)] == [3, 4, 5]
    assert [entry.event.type for entry in await reader.events(1, 0, 10, types=["StatusChanged", "Note"])] == [
        "StatusChanged"
    ]
    assert await reader.events(1, 7, 10) == []
    assert await reader.events(2, 0, 10) == []


@pytest.mark.slow
async def test_the_kept_counters_equal_what_a_recount_finds(run: StartedRun, path: Path) -> None:
    """40,000 stage outcomes: reading the totals is reading a row, and the row is right."""
    await run.enqueue(*[run.child(f"key {n}") for n in range(400)])
    tokens = [await run.claim(n) for n in range(1, 401)]
    for token in tokens:
        await run.journal.submit(
            [
                lambda tx, token=token, n=n: queue.commit(  # type: ignore[misc]
                    tx,
                    run.lease,
                    token,
                    run.checkpoint(f"key {n}", stage=f"stage {n % 3}", duration_ms=0.1 * n, ok=n % 10 > 0),
                )
                for n in range(100)
            ]
        )
    stages = await run.journal.reader.stages(1)
    assert [stage.name for stage in stages] == ["stage 0", "stage 1", "stage 2"]
    assert sum(stage.done + stage.failed for stage in stages) == 40_000
    assert sum(stage.failed for stage in stages) == 4_000
    assert sum(stage.total_ms for stage in stages) == pytest.approx(400 * sum(0.1 * n for n in range(100)))
    expected = [0] * BUCKETS
    for n in range(0, 100, 3):
        expected[bucket(0.1 * n)] += 400
    assert stages[0].buckets == tuple(expected)
    connection = connect(path, readonly=True)
    plan = connection.execute("EXPLAIN QUERY PLAN SELECT * FROM stages WHERE run = 1 ORDER BY first_seq").fetchall()
    recount = connection.execute("SELECT count(*) FROM events WHERE type = 'CheckpointRecorded'").fetchone()[0]
    connection.close()
    assert recount == 40_000
    assert "SEARCH stages USING PRIMARY KEY" in plan[0][3]


def test_percentiles_come_close_to_the_durations_they_were_made_of() -> None:
    durations = [0.01, 0.1, 0.2, 1.0, 33.0, 1_000.0, 60_000.0, 3_600_000.0]
    for duration in durations[2:]:
        counts = [0] * BUCKETS
        counts[bucket(duration)] = 7
        for share in (0.0, 0.5, 1.0):
            assert quantile_ms(counts, share) == pytest.approx(duration, rel=0.1)
    assert [bucket(duration) for duration in durations] == sorted(bucket(duration) for duration in durations)
    assert bucket(float("inf")) == BUCKETS - 1
    assert bucket(float("nan")) == bucket(-5.0) == bucket(0.0) == 0
    assert quantile_ms([0] * BUCKETS, 0.5) is None


async def test_a_child_with_one_checkpoint_takes_less_than_a_kibibyte(run: StartedRun, path: Path) -> None:
    count, result = 2_000, '"' + "x" * 98 + '"'
    await run.enqueue(
        *[run.child(f'["child","one_file","{n:032x}",0]', '{"input": {"path": "some/file.py"}}') for n in range(count)]
    )
    payload = f'{{"value": {result}, "started_at": 1700000000000, "completed_at": 1700000000010}}'

    def whole_child(tx: Transaction, n: int) -> None:
        claimed = queue.claim(tx, run.lease, n, "w1", 30_000)
        assert claimed is not None
        queue.commit(tx, run.lease, claimed.token, run.checkpoint(f'["stage","measure","{n:032x}",0]', payload))
        queue.complete(tx, run.lease, claimed.token, result)

    await run.journal.submit([partial(whole_child, n=n) for n in range(1, count + 1)])
    connection = connect(path, readonly=True)
    pages = (
        connection.execute("PRAGMA page_count").fetchone()[0]
        - connection.execute("PRAGMA freelist_count").fetchone()[0]
    )
    size = pages * connection.execute("PRAGMA page_size").fetchone()[0]
    connection.close()
    assert size / count < 1_024

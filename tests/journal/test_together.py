"""Many calls of one verb in a commit: they are done at once, and nobody can tell it from one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from poolboard.journal import queue, together
from poolboard.journal.driver import connect
from poolboard.journal.errors import BadPayload, IdentityConflict, StaleWorkLease
from poolboard.journal.model import Claimed, Receipt, Token
from poolboard.journal.sqlite import SqliteJournal

if TYPE_CHECKING:
    from tests.journal.conftest import StartedRun, Starter

TABLES = ("runs", "events", "operations", "work", "results", "stages")
#: Columns that hold when, not what.
TIMES = ("created_at", "started_at", "ended_at", "active_since", "at", "expires_at", "ready_at", "changed", "run_id")


def claims(run: StartedRun, numbers: Sequence[int]) -> list[Callable[..., Any]]:
    return [partial(queue.claim, lease=run.lease, n=n, worker="w1", ttl_ms=30_000) for n in numbers]


def commits(run: StartedRun, tokens: Sequence[Token], key: str = "measure") -> list[Callable[..., Any]]:
    return [
        partial(queue.commit, lease=run.lease, token=token, checkpoint=run.checkpoint(key, f'{{"value": {token.n}}}'))
        for token in tokens
    ]


def completions(run: StartedRun, tokens: Sequence[Token]) -> list[Callable[..., Any]]:
    return [partial(queue.complete, lease=run.lease, token=token, result=f"[{token.n}]") for token in tokens]


async def claimed(run: StartedRun, count: int) -> list[Token]:
    await run.enqueue(*[run.child(f"child {n}") for n in range(count)])
    found = await run.journal.submit(claims(run, range(1, count + 1)))
    return [one.token for one in found if isinstance(one, Claimed)]


def content(path: Path) -> dict[str, list[dict[str, object]]]:
    connection = connect(path, readonly=True)
    found: dict[str, list[dict[str, object]]] = {}
    for table in TABLES:
        cursor = connection.execute(f"SELECT * FROM {table}")
        names = [column[0] for column in cursor.description]
        rows = [{k: v for k, v in zip(names, row, strict=True) if k not in TIMES} for row in cursor]
        found[table] = rows
    connection.close()
    return found


async def whole_life(run: StartedRun, put: Callable[[list[Callable[..., Any]]], Any]) -> list[object]:
    """Claim forty children, record two stages of each, complete them; return every outcome."""
    await run.enqueue(*[run.child(f"child {n}") for n in range(40)])
    found = await put(claims(run, range(1, 41)))
    tokens = [one.token for one in found]
    steps = [commits(run, tokens), commits(run, tokens, "weigh"), completions(run, tokens)]
    for step in steps:
        found += [outcome.seq for outcome in await put(step)]
    return list(found)


async def test_a_journal_filled_together_is_the_journal_filled_one_by_one(tmp_path: Path, start: Starter) -> None:
    outcomes = []
    for name, size in (("together", 40), ("singly", 1)):
        journal = await SqliteJournal.open(tmp_path / name)
        run = await start(journal)

        async def put(
            members: list[Callable[..., Any]], journal: SqliteJournal = journal, size: int = size
        ) -> list[Any]:
            parts = [members[at : at + size] for at in range(0, len(members), size)]
            return [outcome for part in parts for outcome in await journal.submit(part)]

        outcomes.append(await whole_life(run, put))
        await journal.close()
    assert outcomes[0] == outcomes[1]
    one, other = content(tmp_path / "together"), content(tmp_path / "singly")
    assert [len(rows) for rows in one.values()] == [1, 161, 161, 41, 40, 1]
    assert one == other


async def test_the_ordinary_case_is_taken_at_once(run: StartedRun) -> None:
    tokens = await claimed(run, 5)
    calls = [{"lease": run.lease, "token": token, "checkpoint": run.checkpoint()} for token in tokens]
    receipts = await run.journal.transact(lambda tx: together.commit(tx, calls))
    assert receipts is not None and [type(receipt) for receipt in receipts] == [Receipt] * 5
    results = [{"lease": run.lease, "token": token, "result": "1"} for token in tokens]
    assert await run.journal.transact(lambda tx: together.complete(tx, results)) is not None
    assert await run.journal.transact(lambda tx: together.complete(tx, results)) is None  # settled: one by one, please


async def test_of_many_checkpoints_only_the_stale_one_is_refused(run: StartedRun) -> None:
    tokens = await claimed(run, 9)
    tokens[4] = Token(5, tokens[4].generation, "another worker", tokens[4].epoch)
    outcomes = await run.journal.submit(commits(run, tokens))
    assert [type(outcome) for outcome in outcomes] == [Receipt] * 4 + [StaleWorkLease] + [Receipt] * 4
    assert [outcome.seq for outcome in outcomes if isinstance(outcome, Receipt)] == list(range(11, 19))
    [stage] = await run.journal.reader.stages(1)
    assert stage.done == 8


async def test_of_many_checkpoints_one_sent_again_gets_its_first_receipt(run: StartedRun) -> None:
    """Catalogue Q4, among others: the repetition is found after rows were written, and everything is run again."""
    tokens = await claimed(run, 6)
    [first] = await run.journal.submit(commits(run, tokens[2:3]))
    outcomes = await run.journal.submit(commits(run, tokens))
    assert outcomes[2] == first
    seqs = [outcome.seq for outcome in outcomes if isinstance(outcome, Receipt)]
    assert len(seqs) == len(set(seqs)) == 6
    again = await run.journal.submit(commits(run, tokens))
    assert again == outcomes
    [stage] = await run.journal.reader.stages(1)
    assert stage.done == 6


async def test_one_key_twice_in_a_commit_is_recorded_once(run: StartedRun) -> None:
    [token] = await claimed(run, 1)
    first, second, third = await run.journal.submit(commits(run, [token] * 3))
    assert isinstance(first, Receipt)
    assert first == second == third
    changed = partial(queue.commit, lease=run.lease, token=token, checkpoint=run.checkpoint("other", '{"value": 1}'))
    conflict = partial(queue.commit, lease=run.lease, token=token, checkpoint=run.checkpoint("other", '{"value": 2}'))
    kept, refused, same = await run.journal.submit([changed, conflict, changed])
    assert isinstance(refused, IdentityConflict)
    assert kept == same


async def test_of_many_results_only_the_one_that_is_not_json_is_refused(run: StartedRun) -> None:
    """Catalogue Q17: with the very words that it would get alone."""
    tokens = await claimed(run, 5)
    members = completions(run, tokens)
    members[3] = partial(queue.complete, lease=run.lease, token=tokens[3], result="NaN")
    outcomes = await run.journal.submit(members)
    assert [type(outcome) for outcome in outcomes] == [Receipt, Receipt, Receipt, BadPayload, Receipt]
    with pytest.raises(BadPayload) as alone:
        await run.journal.transact(members[3])
    assert str(outcomes[3]) == str(alone.value)
    row = await run.row()
    assert (row.completed, row.leased) == (4, 1)


async def test_two_that_claim_one_item_in_a_commit_do_not_both_get_it(run: StartedRun) -> None:
    """Situation B01."""
    await run.enqueue(*[run.child(f"child {n}") for n in range(4)])
    outcomes = await run.journal.submit(claims(run, [1, 2, 3, 2, 4, 4]))
    assert [one.token.n if isinstance(one, Claimed) else one for one in outcomes] == [1, 2, 3, None, 4, None]
    row = await run.row()
    assert (row.ready, row.leased) == (0, 4)
    assert await run.journal.submit(claims(run, [1, 2, 3])) == [None, None, None]


async def test_a_thousand_calls_in_a_commit_are_taken_in_parts(run: StartedRun) -> None:
    tokens = await claimed(run, 1_100)
    outcomes = await run.journal.submit(commits(run, tokens))
    assert [outcome.seq for outcome in outcomes if isinstance(outcome, Receipt)] == list(range(1_102, 2_202))


async def test_calls_after_a_lost_lease_are_all_refused_and_nothing_is_written(run: StartedRun) -> None:
    """Catalogue Q3: a new root epoch, the old coordinator's write."""
    tokens = await claimed(run, 5)
    await run.journal.acquire_lease(run.lease.run_id, "successor", if_epoch=run.lease.epoch)
    before = await run.row()
    outcomes = await run.journal.submit(commits(run, tokens) + completions(run, tokens) + claims(run, range(1, 6)))
    assert {type(outcome).__name__ for outcome in outcomes} == {"StaleLease"}
    assert (await run.row()).last_seq == before.last_seq

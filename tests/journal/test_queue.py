"""Children enter the queue once, are claimed once, and are never confused."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

import pytest

from poolboard.journal import queue
from poolboard.journal.errors import BadPayload, IdentityConflict, RootNotRunning, StaleWorkLease
from poolboard.journal.model import Claimed, Enqueued, NewWork, Token
from poolboard.journal.states import CONTROL_STATES, ControlState
from poolboard.journal.transaction import Transaction

if TYPE_CHECKING:
    from tests.journal.conftest import StartedRun


async def test_a_child_is_a_row_and_its_boundary_event_at_once(run: StartedRun) -> None:
    [made] = await run.enqueue(run.child("a", '{"input": {"path": "x.py"}}'))
    assert made == Enqueued(1, "ready")
    row = await run.journal.reader.work(1, 1)
    assert (row.parent, row.workflow, row.label, row.state) == (0, "one_file", "label of a", "ready")
    entry = await run.journal.reader.boundary(1, 1)
    assert (entry.event.type, entry.event.work) == ("ChildEnqueued", 1)
    assert entry.event.payload == '{"input": {"path": "x.py"}}'


async def test_enqueueing_again_after_a_lost_answer_finds_the_same_children(run: StartedRun) -> None:
    """Catalogue Q11."""
    items = [run.child(f"key {n}") for n in range(5)]
    first = await run.enqueue(*items)
    token = await run.claim(2)
    await run.do(queue.complete, token, "1")
    again = await run.enqueue(*items, run.child("new"))
    assert [child.n for child in first] == [1, 2, 3, 4, 5]
    assert [(child.n, child.state) for child in again] == [
        (1, "ready"), (2, "completed"), (3, "ready"), (4, "ready"), (5, "ready"), (6, "ready"),
    ]  # fmt: skip
    events = await run.journal.reader.events(1, 0, 100, types=["ChildEnqueued"])
    assert [entry.event.work for entry in events] == [0, 1, 2, 3, 4, 5, 6]


async def test_the_same_child_twice_in_one_request_is_one_child(run: StartedRun) -> None:
    made = await run.enqueue(run.child("a"), run.child("b"), run.child("a"))
    assert [child.n for child in made] == [1, 2, 1]
    assert (await run.row()).total == 2


@pytest.mark.parametrize("changed", [{"payload": '{"input": {"x": 2}}'}, {"workflow": "another"}])
async def test_one_key_with_another_input_is_a_conflict_and_no_second_row(
    run: StartedRun, changed: dict[str, str]
) -> None:
    """Catalogue Q10."""
    await run.enqueue(run.child("a"))
    with pytest.raises(IdentityConflict, match=r"^Pool boundary identity conflict: .*child 1"):
        await run.enqueue(run.child("b"), run.child("a", **changed))
    assert (await run.row()).total == 1


async def test_one_key_under_two_parents_is_two_children(run: StartedRun) -> None:
    parent = await run.claimed_child("a")
    [nested] = await run.do(queue.enqueue, parent, [run.child("a")])
    assert nested.n == 2
    assert (await run.journal.reader.work(1, 2)).parent == 1
    assert [row.n for row in await run.journal.reader.children_of(1, 1, 0, 10)] == [2]


async def test_a_run_has_one_root(run: StartedRun) -> None:
    root = run.child("root", workflow="survey")
    assert await run.do(queue.enqueue, None, [root]) == [Enqueued(0, "leased")]
    with pytest.raises(IdentityConflict, match="another root"):
        await run.do(queue.enqueue, None, [run.child("root 2")])
    with pytest.raises(BadPayload, match="one root"):
        await run.do(queue.enqueue, None, [root, root])


async def test_only_a_current_attempt_may_enqueue(run: StartedRun) -> None:
    old = await run.claimed_child("a")
    await run.do(queue.release, old, give_start_back=False)
    current = await run.claim(1, "w2")
    for token in (old, Token(1, 2, "w3", 1), Token(77, 1, "w1", 1)):
        with pytest.raises(StaleWorkLease):
            await run.do(queue.enqueue, token, [run.child("x")])
    [made] = await run.do(queue.enqueue, current, [run.child("x")])
    assert made.n == 2


@pytest.mark.parametrize("payload", ["[]", '{"input": NaN}', "", '{"a": "\ud800"}'])
async def test_one_bad_input_among_many_writes_none(run: StartedRun, payload: str) -> None:
    with pytest.raises(BadPayload, match="boundary"):
        await run.enqueue(*[run.child(f"key {n}") for n in range(600)], run.child("bad", payload))
    assert (await run.row()).total == 0


async def test_a_name_that_is_not_unicode_is_refused_before_anything_is_written(run: StartedRun) -> None:
    for item in (
        NewWork("k\udcff", "w", "l", "{}"),
        NewWork("k", "w\udcff", "l", "{}"),
        NewWork("k", "w", "\udcff", "{}"),
    ):
        with pytest.raises(BadPayload, match="not valid Unicode"):
            await run.enqueue(item)
    assert (await run.row()).total == 0


async def test_ten_thousand_children_take_few_statements(run: StartedRun) -> None:
    statements: list[str] = []

    def traced(tx: Transaction, chunk: list[NewWork]) -> None:
        plain, many = tx.execute, tx.executemany

        def execute(statement: str, values: object = ()) -> object:
            statements.append(statement)
            return plain(statement, values)  # type: ignore[arg-type]

        def executemany(statement: str, values: object) -> object:
            statements.append(statement)
            return many(statement, values)  # type: ignore[arg-type]

        tx.execute, tx.executemany = execute, executemany  # type: ignore[assignment]
        try:
            queue.enqueue(tx, run.lease, run.root, chunk)
        finally:
            tx.execute, tx.executemany = plain, many

    items = [run.child(f"key {n}") for n in range(10_000)]
    for first in range(0, 10_000, 1_000):
        await run.journal.transact(lambda tx, first=first: traced(tx, items[first : first + 1_000]))  # type: ignore[misc]
    row = await run.row()
    assert (row.ready, row.total, row.last_seq) == (10_000, 10_000, 10_001)
    assert len(statements) <= 10 * 10


async def test_a_claim_gives_what_the_worker_needs(run: StartedRun) -> None:
    await run.enqueue(run.child("a", '{"input": {"path": "x.py"}}'))
    claimed = await run.do(queue.claim, 1, "w1", 1_000)
    assert claimed == Claimed(Token(1, 1, "w1", 1), "one_file", '{"input": {"path": "x.py"}}', 1, 1, recorded=False)
    row = await run.journal.reader.work(1, 1)
    assert (row.state, row.worker, row.generation, row.starts) == ("leased", "w1", 1, 1)
    assert row.started_at is not None


async def test_work_is_claimed_once(run: StartedRun) -> None:
    """Situation B01."""
    await run.enqueue(run.child("a"))
    claims = await asyncio.gather(*(run.do(queue.claim, 1, f"w{n}", 1_000) for n in range(20)))
    assert [claim.token.worker for claim in claims if claim is not None] == ["w0"]


async def test_a_second_attempt_knows_that_there_is_something_to_replay(run: StartedRun) -> None:
    token = await run.claimed_child()
    first_start = (await run.journal.reader.work(1, 1)).started_at
    await run.do(queue.release, token, give_start_back=False)
    claimed = await run.do(queue.claim, 1, "w2", 1_000)
    assert claimed is not None
    assert (claimed.token.generation, claimed.starts, claimed.recorded) == (2, 2, True)
    assert (await run.journal.reader.work(1, 1)).started_at == first_start


@pytest.mark.parametrize("given_back", [True, False])
async def test_a_lost_start_counts_unless_it_is_given_back(run: StartedRun, given_back: bool) -> None:
    token = await run.claimed_child()
    await run.do(queue.release, token, give_start_back=given_back)
    row = await run.journal.reader.work(1, 1)
    assert (row.state, row.worker, row.starts) == ("ready", None, 0 if given_back else 1)
    with pytest.raises(StaleWorkLease):
        await run.do(queue.release, token, give_start_back=given_back)


@pytest.mark.parametrize("state", [state for state in CONTROL_STATES if state != "running"])
async def test_a_run_that_is_not_running_gives_no_work(run: StartedRun, state: ControlState) -> None:
    """Catalogue Q12, the claim."""
    await run.enqueue(run.child("a"))
    await run.do(queue.set_control, state, "me", "lunch")
    assert await run.do(queue.claim, 1, "w1", 1_000) is None
    assert (await run.journal.reader.work(1, 1)).generation == 0


async def test_a_claim_of_nothing_is_refused(run: StartedRun) -> None:
    with pytest.raises(StaleWorkLease, match="no work item 9"):
        await run.do(queue.claim, 9, "w1", 1_000)


async def test_a_stopped_run_takes_no_children(run: StartedRun) -> None:
    await run.do(queue.set_control, "stopped", "me", None)
    with pytest.raises(RootNotRunning, match="Pool root is not running"):
        await run.enqueue(run.child("a"))


async def test_an_input_that_is_damaged_is_claimed_with_the_others_and_holds_nothing(run: StartedRun) -> None:
    """Situation B17: alone, and in one commit with twenty others."""
    await run.enqueue(*[run.child(f"key {n}", f'{{"input": {{"n": {n}}}}}') for n in range(21)])
    for n in (5, 21):
        await run.sql("UPDATE events SET payload = CAST(x'7b22ff7d' AS TEXT) WHERE work = ?", n)
    members = [partial(queue.claim, lease=run.lease, n=n, worker="w1", ttl_ms=1_000) for n in range(1, 21)]
    claims = await run.journal.submit(members)
    assert [isinstance(claim, Claimed) and claim.boundary == "" for claim in claims] == [n == 5 for n in range(1, 21)]
    alone = await run.do(queue.claim, 21, "w1", 1_000)
    assert alone is not None and alone.boundary == ""

"""The usage ledger: every charge once, totals kept for the run and for each child with all below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from poolboard.journal import queue
from poolboard.journal.errors import BadPayload, IdentityConflict
from poolboard.journal.model import NewWork

if TYPE_CHECKING:
    from tests.journal.conftest import StartedRun


async def test_a_charge_sent_again_after_a_lost_answer_is_billed_once(run: StartedRun) -> None:
    """Q4: also after the lease has run out."""
    token = await run.claimed_child()
    first = await run.do(queue.charge, token, "u1", {"tokens": 7})
    await run.sql("UPDATE work SET expires_at = 1")
    assert await run.do(queue.charge, token, "u1", {"tokens": 7}) == first
    assert await run.journal.reader.usage(1) == {"tokens": 7}


async def test_a_replayed_charge_is_billed_once(run: StartedRun) -> None:
    """P10: the attempt that replaces another makes the same calls again."""
    token = await run.claimed_child()
    await run.do(queue.charge, token, "u1", {"tokens": 7})
    await run.do(queue.release, token, give_start_back=False)
    again = await run.claim(token.n)
    await run.do(queue.charge, again, "u1", {"tokens": 7})
    assert await run.journal.reader.usage(1) == {"tokens": 7}


async def test_a_refused_charge_bills_nothing(run: StartedRun) -> None:
    token = await run.claimed_child()
    await run.do(queue.charge, token, "u1", {"tokens": 7})
    with pytest.raises(IdentityConflict):
        await run.do(queue.charge, token, "u1", {"tokens": 9})
    for amounts in ({"tokens": -1}, {"": 1}, {"tokens": float("nan")}, {"cost": float("inf")}):
        with pytest.raises(BadPayload):
            await run.do(queue.charge, token, "u2", amounts)
    with pytest.raises(BadPayload, match="different things"):
        await run.do(queue.charge, token, "u3", {f"thing {i}": 1 for i in range(40)})
    assert await run.journal.reader.usage(1) == {"tokens": 7}


async def test_a_child_counts_what_is_below_it_and_the_root_counts_all(run: StartedRun) -> None:
    child, other = await run.claimed_child("a"), await run.claimed_child("b")
    [made] = await run.do(queue.enqueue, child, [NewWork("x", "w", "l", "{}", 2)])
    below = await run.claim(made.n)
    for token, cost in ((child, 0.5), (below, 0.25), (other, 2)):
        await run.do(queue.charge, token, "u", {"cost": cost})
    reader = run.journal.reader
    assert [(await reader.usage(1, n))["cost"] for n in (0, child.n, below.n, other.n)] == [2.75, 0.75, 0.25, 2]


@pytest.mark.slow
async def test_forty_thousand_charges_are_read_as_one_row(run: StartedRun) -> None:
    """Q18: the total is kept, so it costs the same however much was charged."""
    token = await run.claimed_child()

    def many(tx: object) -> None:
        for number in range(40_000):
            queue.charge(tx, run.lease, token, f"u{number}", {"tokens": number})  # type: ignore[arg-type]

    await run.journal.transact(many)
    assert await run.journal.reader.usage(1) == {"tokens": sum(range(40_000))}
    steps: list[tuple[object, ...]] = []
    await run.journal.transact(
        lambda tx: steps.extend(tx.execute("SELECT count(*) FROM usage WHERE run = 1 AND work = 0").fetchall())
    )
    assert steps == [(1,)]

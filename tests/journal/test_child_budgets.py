"""What children may use, in the journal: a chain of changes, each of which costs what it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolboard.journal import child_budgets

if TYPE_CHECKING:
    from tests.journal.conftest import StartedRun


async def test_what_calls_and_persons_said_is_read_back_in_order(run: StartedRun) -> None:
    items = [run.child(str(i)) for i in range(3)]
    made = await run.do(child_budgets.enqueue_limited, run.root, items, {"tokens": 5.0}, "poolboard")
    numbers = [one.n for one in made]
    await run.do(child_budgets.limit_children, [(numbers[1], numbers[1])], {"tokens": 9.0}, "ann")
    before = (await run.row()).last_seq
    assert await run.do(child_budgets.enqueue_limited, run.root, items, {"tokens": 7.0}, "poolboard") == made
    assert (await run.row()).last_seq == before  # who is there already keeps what it has
    assert await run.journal.reader.child_budgets.changes(1) == [
        ([(numbers[0], numbers[2])], {"tokens": 5.0}),
        ([(numbers[1], numbers[1])], {"tokens": 9.0}),
    ]

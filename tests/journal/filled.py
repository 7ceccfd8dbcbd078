"""A run with something of everything in it, and what a journal's file holds."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poolboard.journal import messages, queue
from poolboard.journal.driver import connect
from poolboard.journal.message_model import NewMessage
from poolboard.journal.model import Event
from poolboard.journal.sqlite import SqliteJournal

if TYPE_CHECKING:
    from tests.journal.conftest import StartedRun

DAY_MS = 86_400_000


async def make(path: Path) -> None:
    """Make an empty journal."""
    await (await SqliteJournal.open(path)).close()


async def fill(run: StartedRun, children: int = 20, text: str = "y") -> None:
    """Give a run children that completed, failed and wait, and an event of its own."""
    made = await run.enqueue(*(run.child(f"k{n}") for n in range(children)))
    for item in made[: children // 2]:
        token = await run.claim(item.n)
        await run.do(queue.commit, token, run.checkpoint(payload=json.dumps({"value": text * 200})))
        if item.n % 3:
            await run.do(queue.complete, token, json.dumps("résult \x1b[2J"))
        else:
            await run.do(queue.fail, token, "it broke", json.dumps({"message": "\u202e"}))
    await run.journal.append(run.lease, Event("Note", "{}"), "a key")
    said = await run.do(messages.accept, NewMessage("**", None, None, "steer", '"\\u202e"', None, "ann"), "said")
    await run.do(messages.deliver, [(said.number, 1), (said.number, 2)])
    await run.do(queue.register_worker, "w1", "identity")
    await run.do(queue.set_control, "pausing", "me", "lunch")
    await run.do(queue.set_control, "running", "me", None)


async def end(run: StartedRun, days_ago: int = 0) -> None:
    """End a run some days ago and let go of it."""
    await run.do(queue.finish_run, "completed", "1", None)
    await run.sql("UPDATE runs SET ended_at = ended_at - ? WHERE number = ?", days_ago * DAY_MS, run.lease.number)
    await run.journal.release_lease(run.lease)


def rows(path: Path) -> dict[str, list[Any]]:
    """Return everything that a journal holds."""
    tables = (
        "runs",
        "leases",
        "control",
        "events",
        "operations",
        "work",
        "results",
        "stages",
        "workers",
        "messages",
        "receipts",
    )
    with closing(connect(path, readonly=True)) as connection:
        return {
            table: connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3").fetchall() for table in tables[:6]
        } | {table: connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall() for table in tables[6:]}

"""A run with something of everything in it, and what a journal's file holds."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poolboard.journal import messages, prompts, queue
from poolboard.journal.driver import connect
from poolboard.journal.message_model import NewMessage
from poolboard.journal.model import Event
from poolboard.journal.prompts import NewPrompt
from poolboard.journal.sqlite import SqliteJournal

if TYPE_CHECKING:
    from tests.journal.conftest import StartedRun

DAY_MS = 86_400_000


async def make(path: Path) -> None:
    """Make an empty journal."""
    await (await SqliteJournal.open(path)).close()


async def fill(run: StartedRun, children: int = 20, text: str = "y") -> None:
    """Give a run of a root of some children that completed, failed and wait, and something of everything else."""
    made = await run.enqueue(*(run.child(f"k{n}") for n in range(children)))
    for item in made[: children // 2]:
        token = await run.claim(item.n)
        await run.do(queue.commit, token, run.checkpoint(payload=json.dumps({"value": text * 200})))
        if item.n % 3:
            await run.do(queue.complete, token, json.dumps("résult \x1b[2J"))
        else:
            await run.do(queue.fail, token, "it broke", json.dumps({"message": "\u202e"}))
    await run.journal.append(run.lease, Event("Note", "{}"), "a key")
    await say(run, children)
    await wish(run, children)
    await run.do(queue.register_worker, "w1", "identity")
    await run.do(queue.set_control, "pausing", "me", "lunch")
    await run.do(queue.set_control, "running", "me", None)


async def say(run: StartedRun, last: int) -> None:
    """Have messages in every state, two of them to the last children, and questions open, answered and over."""
    everybody = NewMessage("**", None, None, "steer", '"\\u202e"', None, "ann")
    said = await run.do(messages.accept, everybody, "said")
    await run.do(messages.deliver, [(said.number, 0), (said.number, 1), (said.number, 2)])
    await run.do(messages.take, run.root, run.checkpoint("read", '{"numbers": 1}', stage=""), [said.number])
    gone = NewMessage(f"child-{last - 1}", last - 1, None, "follow_up", "1", None, "ann")
    late = await run.do(messages.accept, gone, "late")
    open_ = await run.do(
        messages.accept, NewMessage(f"child-{last}", last, "measure", "interrupt", "2", None, "ann"), "open"
    )
    await run.do(queue.cancel, last - 1)
    assert (await run.do(messages.give_back, last - 1, [late.number, open_.number]))[0] == [late.number]
    for key in ("answered", "over", "open"):
        asked = await run.do(prompts.ask, run.root, NewPrompt(key, "confirm", "Go on?", (), "false", "measure", None))
        if key == "answered":
            await run.do(prompts.answer, asked.prompt.id, "true", "ann")
        elif key == "over":
            await run.do(prompts.close, [asked.prompt.id])


async def wish(run: StartedRun, last: int) -> None:
    """Have limits that changed, holds that are in force and let go, and charges."""
    for size in ("2", "3"):
        await run.do(queue.set_setting, "limit:gpu", size, "ann", "a card died")
    await run.do(queue.set_holds, "child", [str(last - 5), str(last - 4)], True, "ann", "later")
    await run.do(queue.set_holds, "child", [str(last - 4)], False, "bob", None)
    await run.do(queue.set_holds, "stage", ["measure"], True, "ann", None, cut=True)
    token = await run.claim(last - 3)
    await run.do(queue.charge, token, "u1", {"tokens": 7, "cost": 0.1})
    await run.do(queue.charge, token, "u2", {"cost": 0.2})
    await run.do(queue.charge, run.root, "u1", {"tokens": 1})


async def end(run: StartedRun, days_ago: int = 0) -> None:
    """End a run some days ago and let go of it."""
    await run.do(queue.finish_run, "completed", "1", None)
    await run.sql("UPDATE runs SET ended_at = ended_at - ? WHERE number = ?", days_ago * DAY_MS, run.lease.number)
    await run.journal.release_lease(run.lease)


def rows(path: Path) -> dict[str, list[Any]]:
    """Return everything that a journal holds."""
    with closing(connect(path, readonly=True)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return {table: sorted(connection.execute(f"SELECT * FROM {table}"), key=repr) for table in tables}

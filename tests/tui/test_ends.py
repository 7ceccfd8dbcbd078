"""A run that ended badly says why on its board, also where no child is left to tell it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from poolboard.journal import queue
from poolboard.journal.model import Lease, NewRun, NewWork
from poolboard.journal.sqlite import SqliteJournal
from poolboard.journal.states import RunStatus
from poolboard.journal.transaction import Transaction
from poolboard.tui.app import PoolboardApp

from .conftest import says, seen, until

#: The second part is hostile: it is shown, never obeyed.
REASON = "ValueError: no such [red]folder[/] \x1b[2J here"


async def childless(path: Path, status: RunStatus) -> None:
    """Record a run that asked for no child and came to rest."""
    journal = await SqliteJournal.open(path)
    await journal.create_run(NewRun("run-1", "survey", "/somewhere", json.dumps({"folder": str(path.parent)})))
    lease: Lease = await journal.acquire_lease("run-1", "me")

    def work(tx: Transaction) -> None:
        queue.enqueue(tx, lease, None, [NewWork("root", "survey", "root", '{"input": {}}')])
        queue.set_status(tx, lease, "running")
        if status == "failed":
            queue.finish_run(tx, lease, "failed", None, REASON)
        else:
            queue.set_status(tx, lease, status, error=REASON)

    await journal.transact(work)
    await journal.release_lease(lease)
    await journal.close()


@pytest.mark.parametrize(
    ("status", "told"), [("failed", ("failed: ValueError",)), ("blocked", ("is blocked: ValueError", "p resumes it"))]
)
async def test_a_run_without_children_says_why_it_ended_and_that_it_has_none(
    tmp_path: Path, status: RunStatus, told: tuple[str, ...]
) -> None:
    await childless(tmp_path / "journal.sqlite", status)
    app = PoolboardApp(str(tmp_path / "journal.sqlite"), "run-1")
    async with app.run_test(size=(100, 24)) as pilot:
        await until(pilot, says(pilot, "No children: the run has not asked for any."), "what there is to list")
        line = next(line for line in seen(app) if told[0] in line)
        assert "[red]folder[/]" in line and "^[[2J" in line
        assert all(part in line for part in told)

"""What control of many children costs, and what is told of it: the deciding part over a real journal, no processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from poolboard.engine import wire
from poolboard.engine.control import Refusal
from poolboard.engine.pool_events import WorkLoaded
from poolboard.engine.scopes import Scopes
from poolboard.engine.wish import Verb
from poolboard.journal import queue
from tests.bench.office import Office, office


def scopes_of(desk: Office, children: int) -> Scopes:
    """Return the scopes of a run whose children all wait."""
    for n in range(1, children + 1):
        desk.dispatcher.feed(WorkLoaded(n, 0, "ready", 0, 0, None, 0))
    return Scopes(desk.dispatcher, 1.0, lambda: None, lambda: None)


def wish(verb: Verb, *ranges: tuple[int, int]) -> wire.ControlRequest:
    return wire.ControlRequest(req=1, verb=verb, by="ann", scope=wire.Scope(children=list(ranges)))


async def test_many_children_are_cancelled_in_a_request_per_thousand(tmp_path: Path) -> None:
    async with office(tmp_path / "journal.sqlite", 2_500) as desk:
        scopes = scopes_of(desk, 2_500)
        before = desk.counted.commits
        told = await scopes.grant(wish("cancel", (1, 2_400)))
        assert told == "2400 children cancelled, with what was below"
        assert desk.counted.commits - before <= 3
        await desk.settled()
        run = await desk.journal.get_run("bench")
        assert (run.cancelled, run.ready) == (2_400, 100)
        assert set(desk.dispatcher.pool.items) == set(range(2_401, 2_501))


async def test_of_many_that_are_to_pause_or_go_on_it_is_told_for_how_many_that_was_so(tmp_path: Path) -> None:
    """P9: a truthful partial result; what could not go on is named, and stays as it is."""
    async with office(tmp_path / "journal.sqlite", 6) as desk:
        scopes = scopes_of(desk, 6)
        await scopes.grant(wish("cancel", (2, 3)))
        told = await scopes.grant(wish("pause", (1, 4)))
        assert told == "children 1, 4 paused, with all below; 2 have ended"
        assert [name for _, name in scopes.holds] == ["1", "4"]
        assert await scopes.grant(wish("resume", (4, 6))) == "child 4 going on"
        assert [row.name for row in await desk.journal.reader.holds(desk.lease.number)] == ["1"]
        with pytest.raises(Refusal, match="children 5-6: not paused"):
            await scopes.grant(wish("resume", (5, 6)))


async def test_a_wish_that_cannot_be_recorded_changes_nothing(tmp_path: Path) -> None:
    """P8, of a part: the journal has it first; then the pool is told."""
    async with office(tmp_path / "journal.sqlite", 3) as desk:
        scopes = scopes_of(desk, 3)
        await desk.journal.transact(lambda tx: queue.finish_run(tx, desk.lease, "failed", None, "boom"))
        with pytest.raises(Refusal, match="has ended"):
            await scopes.grant(wish("pause", (1, 2)))
        assert (scopes.holds, desk.dispatcher.pool.holds.children) == ({}, set())

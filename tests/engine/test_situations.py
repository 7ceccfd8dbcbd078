"""Real troubles of people who run this kind of software, with the outcome that they should have had."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from poolboard.engine.views import Summary
from tests.engine.rig import Rig, kill


async def starts(rig: Rig) -> Counter[int]:
    """Return how many children took so many starts."""
    found: dict[int, int] = {}
    monitor = await rig.monitor()
    page = await monitor.children(rig.run_id)
    while True:
        found.update((row.n, row.starts) for row in page.rows)
        if not page.more:
            return Counter(found.values())
        page = await monitor.children(rig.run_id, page.cursor)


async def test_b08_workers_that_are_killed_one_and_then_two_at_once_cost_their_own_child_a_start_each(
    rig: Rig,
) -> None:
    await rig.start("parts:patients", workers=4, slots=1, n=6, folder=str(rig.folder))
    killed: set[int] = set()

    def full(summary: Summary) -> bool:
        alive = {worker.id for worker in summary.workers if worker.pid not in killed and worker.slots == 1}
        return len({a.worker for a in summary.active if a.stage == "patient" and a.worker in alive}) == 4

    for count in (1, 2):
        summary = await rig.until(full)
        victims = [worker.pid for worker in summary.workers[:count]]
        await kill(*victims)
        killed.update(victims)
    await rig.until(full)
    (rig.folder / "open").touch()
    summary = await rig.ended()
    assert summary.run.result == "15"
    extra = sum((count - 1) * children for count, children in (await starts(rig)).items())
    assert extra == 3, "each kill costs a start of the one child that its worker had, and nothing else"


async def test_b13_short_children_pass_a_long_one(rig: Rig) -> None:
    await rig.start("crowd:crowd", workers=4, slots=1, n=41, work_ms=20.0, first_ms=30_000.0)
    summary = await rig.completed(40)
    assert (summary.run.children.completed, summary.run.ended_at) == (40, None), "the long one is still at it"
    assert [active.n for active in summary.active] == [1]


async def test_b16_what_workers_finish_while_nobody_coordinates_is_taken_and_not_done_again(rig: Rig) -> None:
    await rig.start("squares:many", workers=2, slots=2, n=8, trace=str(rig.trace), delay_s=0.8)
    summary = await rig.until(lambda s: sum(active.stage == "square" for active in s.active) == 4)
    await kill(summary.coordinator.pid)
    while len(rig.traces()) < 4:
        await (await rig.monitor()).wait_for_change(0.05)
    await rig.resume()
    assert (await rig.ended()).run.result == "140"
    assert Counter(rig.traces()) == Counter(f"{i}:0" for i in range(8))
    assert await starts(rig) == {1: 8}


def shared(pid: int, other: int) -> set[str]:
    """Return what two processes both have open beyond the standard streams: pipes, sockets, what has no name."""
    return _nameless(pid) & _nameless(other)


def _nameless(pid: int) -> set[str]:
    found = set()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        if int(link.name) > 2:
            try:
                found.add(str(link.readlink()))
            except OSError:  # closed meanwhile
                continue
    return {name for name in found if ":[" in name and not name.startswith("anon_inode")}


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="reads /proc")
@pytest.mark.parametrize("kills", [3, pytest.param(12, marks=pytest.mark.slow)])
async def test_b22_a_replacement_inherits_nothing_that_was_open(rig: Rig, kills: int) -> None:
    await rig.start("parts:patients", workers=2, slots=2, n=1, folder=str(rig.folder))
    await rig.until(lambda s: any(active.stage == "patient" for active in s.active))
    seen: set[int] = set()
    for _ in range(kills):
        summary = await rig.until(
            lambda s: (
                [worker.slots for worker in s.workers] == [2, 2]  # they have said hello
                and not seen & {w.pid for w in s.workers}
                and any(active.stage == "patient" for active in s.active)
            )
        )
        coordinator = summary.coordinator.pid
        assert coordinator is not None
        for flags in _flags(coordinator, str(rig.journal)):
            assert flags & os.O_CLOEXEC, "the journal would be handed on"
        for worker in summary.workers:
            assert shared(coordinator, worker.pid) == set()
        at_work = {active.worker for active in summary.active if active.stage == "patient"}
        victim = next(worker.pid for worker in summary.workers if worker.id not in at_work)
        seen.add(victim)
        await kill(victim)
    (rig.folder / "open").touch()
    summary = await rig.ended()
    assert summary.run.result == "0"
    with closing(sqlite3.connect(rig.journal)) as journal:
        assert journal.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def _flags(pid: int, journal: str) -> list[int]:
    """Return the flags of every descriptor of the journal's files."""
    found = []
    for link in Path(f"/proc/{pid}/fd").iterdir():
        if str(link.readlink()).startswith(journal):
            info = Path(f"/proc/{pid}/fdinfo/{link.name}").read_text()
            found.append(int(next(line for line in info.splitlines() if line.startswith("flags")).split()[1], 8))
    assert found, "it has the journal open"
    return found

"""B23: somebody sets the wall clock while runs go on. No lease ages by it, and no elapsed time jumps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from poolboard.journal import queue
from poolboard.journal.clock import MachineClock
from poolboard.journal.errors import LeaseHeld
from poolboard.journal.model import Claimed, NewRun, NewWork, Receipt, RunRow
from poolboard.journal.sqlite import SqliteJournal

HOUR_MS = 3_600_000
NOON_MS = 1_800_000_000_000


@dataclass
class Machine:
    """A machine whose clocks stand still until they are moved."""

    wall: int = NOON_MS
    up: int = 50_000
    boot: str = "boot 1"

    def clock(self) -> MachineClock:
        return MachineClock(self.boot, lambda: self.wall, lambda: self.up)

    def pass_ms(self, ms: int) -> None:
        self.wall += ms
        self.up += ms

    async def open(self, path: Path) -> SqliteJournal:
        return await SqliteJournal.open(path, machine=self.clock())

    async def look(self, path: Path) -> RunRow:
        """Return the run as another process sees it."""
        other = await self.open(path)
        row = await other.get_run("run-1")
        await other.close()
        return row


@pytest.mark.parametrize("step_ms", [HOUR_MS, -2 * HOUR_MS])
async def test_a_wall_clock_that_is_set_expires_no_lease_and_moves_no_age(path: Path, step_ms: int) -> None:
    machine = Machine()
    journal = await machine.open(path)
    await journal.create_run(NewRun("run-1", "n", "/", "{}"))
    lease = await journal.acquire_lease("run-1", "coordinator")
    await journal.transact(lambda tx: queue.enqueue(tx, lease, None, [NewWork("root", "w", "root", "{}")]))
    await journal.transact(lambda tx: queue.set_status(tx, lease, "running"))
    claim = partial(queue.claim, lease=lease, n=0, worker="w1", ttl_ms=30_000)
    claimed = await journal.transact(claim)
    assert isinstance(claimed, Claimed)
    machine.pass_ms(5_000)
    machine.wall += step_ms
    row = await machine.look(path)
    assert row.lease_age_ms == 5_000
    assert row.active_since is not None and row.read_at - row.active_since == 5_000
    with pytest.raises(LeaseHeld, match="renewed 5000 ms ago"):
        other = await machine.open(path)
        try:
            await other.acquire_lease("run-1", "another")
        finally:
            await other.close()
    done = partial(queue.complete, lease=lease, token=claimed.token, result="1")
    receipt = await journal.transact(done)
    assert isinstance(receipt, Receipt) and receipt.at == NOON_MS + 5_000
    machine.pass_ms(16_000)
    heir = await machine.open(path)
    assert (await heir.acquire_lease("run-1", "heir")).epoch == 2  # time that really passed counts
    await heir.close()
    await journal.close()


async def test_once_nothing_runs_the_wall_clocks_word_is_taken_again(path: Path) -> None:
    """A machine that learns the time of day only after its boot must not live in 1970 until the next one."""
    machine = Machine(wall=5_000)
    journal = await machine.open(path)
    await journal.create_run(NewRun("run-1", "n", "/", "{}"))
    await journal.close()
    machine.wall = NOON_MS
    journal = await machine.open(path)
    assert (await journal.create_run(NewRun("run-2", "n", "/", "{}"))).created_at == NOON_MS
    await journal.close()


async def test_a_small_correction_and_a_second_writer_leave_the_clock_alone(path: Path) -> None:
    machine = Machine()
    journal = await machine.open(path)
    machine.wall += 900
    other = await machine.open(path)
    for number, one in enumerate((journal, other)):
        row = await one.create_run(NewRun(f"run-{number}", "n", "/", "{}"))
        assert row.created_at == NOON_MS
        await one.close()


async def test_after_a_reboot_the_wall_clock_counts_and_leases_of_before_are_as_old_as_it_says(path: Path) -> None:
    machine = Machine()
    journal = await machine.open(path)
    await journal.create_run(NewRun("run-1", "n", "/", "{}"))
    await journal.acquire_lease("run-1", "before")
    await journal.close()
    machine.wall, machine.up, machine.boot = NOON_MS + HOUR_MS, 3_000, "boot 2"
    assert (await machine.look(path)).lease_age_ms == HOUR_MS
    heir = await machine.open(path)
    await heir.acquire_lease("run-1", "heir")
    await heir.close()
    machine.wall += 7 * HOUR_MS
    assert (await machine.look(path)).lease_age_ms == 0

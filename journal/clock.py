"""The store's clock: ms since 1970 UTC, one for all processes of a machine. No step of the wall clock moves it.

It is the time since boot plus an offset that the journal keeps for each boot: the wall clock as the first writer of
that boot found it. So leases age as time passes, whatever somebody sets the wall clock to while runs go on; once none
does, the next writer takes the wall clock's word again. Statements call it ``store_now()``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

#: A scalar query, so that SQLite calls the function once per statement, not per row.
NOW_MS: Final = "(SELECT store_now())"
FUNCTION: Final = "store_now"
#: The wall clock and the store's may differ by this much before the wall clock's word is taken.
TOLERANCE_MS: Final = 1_000

META_NAME: Final = "clock"
SELECT_ANCHOR: Final = f"SELECT value FROM journal_meta WHERE name = '{META_NAME}'"
#: Only over the value that was looked at: of two that write at once, one does.
PUT_ANCHOR: Final = f"""
INSERT INTO journal_meta (name, value) VALUES ('{META_NAME}', ?1)
ON CONFLICT DO UPDATE SET value = ?1 WHERE value = ?2
"""
SELECT_AT_WORK: Final = "SELECT 1 FROM leases WHERE holder IS NOT NULL AND renewed_at >= ? LIMIT 1"
BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class MachineClock:
    """The clocks of a machine, in ms: ``wall_ms`` since 1970 UTC, ``up_ms`` since its boot, sleep included."""

    boot: str
    wall_ms: Callable[[], int]
    up_ms: Callable[[], int]


@cache
def this_machine() -> MachineClock:
    """Return the clocks of the machine that we run on."""
    # On macOS the monotonic clock counts sleep, on Linux only the boot clock does.
    steady: int = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)

    def up_ms() -> int:
        return time.clock_gettime_ns(steady) // 1_000_000

    try:
        boot = BOOT_ID.read_text("ascii").strip()
    except OSError:
        # No name for this boot: to the minute, it began so long ago. A step of the wall clock names a new one then.
        boot = f"boot of minute {(_wall_ms() - up_ms()) // 60_000}"
    return MachineClock(boot, _wall_ms, up_ms)


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


def follow_wall(connection: Any) -> None:
    """Give a connection the wall clock: it has no journal yet, or nobody else's leases matter to it."""
    connection.create_function(FUNCTION, 0, _wall_ms)


def follow(connection: Any, machine: MachineClock) -> None:
    """Give a connection the store's clock; before the first writer of this boot that is the wall clock."""
    _install(connection, machine, connection.execute(SELECT_ANCHOR).fetchone())


def keep(connection: Any, machine: MachineClock) -> None:
    """Record this boot's offset if nobody has, or if nobody is at work and the wall clock was set; then follow it.

    ``connection`` may write. At work is whoever has not released a lease that was renewed since the boot.
    """
    row = connection.execute(SELECT_ANCHOR).fetchone()
    offset_ms = machine.wall_ms() - machine.up_ms()
    known_ms = _offset_ms(row, machine)
    if known_ms is None or (
        abs(known_ms - offset_ms) > TOLERANCE_MS and connection.execute(SELECT_AT_WORK, (known_ms,)).fetchone() is None
    ):
        connection.execute(PUT_ANCHOR, (f"{offset_ms} {machine.boot}", None if row is None else row[0]))
    follow(connection, machine)


def _install(connection: Any, machine: MachineClock, row: tuple[str] | None) -> None:
    offset_ms, up_ms = _offset_ms(row, machine), machine.up_ms
    if offset_ms is None:
        connection.create_function(FUNCTION, 0, machine.wall_ms)
    else:
        steady_ms = offset_ms
        connection.create_function(FUNCTION, 0, lambda: steady_ms + up_ms())


def _offset_ms(row: tuple[str] | None, machine: MachineClock) -> int | None:
    """Return the offset recorded for this boot."""
    if row is None:
        return None
    offset, _, boot = row[0].partition(" ")
    try:
        return int(offset) if boot == machine.boot else None
    except ValueError:
        return None

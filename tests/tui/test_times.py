"""B41: times and durations are the journal's, in every look, in every zone and over a change of the clock."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from poolboard.engine.monitor import Monitor
from poolboard.engine.views import Summary
from poolboard.shapes import of_summary
from poolboard.tui.app import PoolboardApp
from poolboard.tui.child_list import CHILD_SHAPE, took_s
from poolboard.tui.columns import Look
from poolboard.tui.header import Facts, identity
from poolboard.tui.units import clock_time, duration, span_ms

from .conftest import NAMES, Recorded, says, seen, until

#: 2026-03-08 05:29:59 UTC: a second later the clocks of St. John's go from 02:00 to 03:00.
_BEFORE_MS = 1_772_947_799_000


@pytest.fixture(params=["UTC", "Asia/Kathmandu", "America/St_Johns"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


async def read(recorded: Recorded) -> Summary:
    monitor = await Monitor.open(str(recorded.journal))
    try:
        return await monitor.status(recorded.run_id)
    finally:
        await monitor.close()


def words(summary: Summary, now_ms: int) -> str:
    return " ".join(piece.text for side in identity(summary, Facts("ab12", now_ms=now_ms)) for piece in side)


async def test_active_time_and_time_since_the_start_are_both_told_by_name(recorded: Recorded) -> None:
    """Run for 14 s, down for 60 s, resumed for 6 s."""
    summary = await read(recorded)
    began = _BEFORE_MS
    run = replace(summary.run, created_at=began, started_at=began, ended_at=began + 80_000, elapsed_s=20.0)
    ended = replace(summary, run=run)
    assert "elapsed 20.0s of 1m20s since the start" in words(ended, began + 90_000)
    assert words(ended, began + 90_000) == words(ended, began + 3_600_000), "the same in a later look"
    going = replace(summary.coordinator, alive=True)
    running = replace(summary, run=replace(run, status="running", ended_at=None), coordinator=going)
    assert "elapsed 20.0s of 1m20s since the start" in words(running, began + 80_000)
    paused = replace(running, run=replace(running.run, status="paused"))
    assert words(paused, began + 80_000) == words(paused, began + 85_000), "what rests does not count on"
    assert "since the start" not in words(running, began + 20_500), "one number, where both are the same"


async def test_what_ended_took_as_long_in_every_zone(recorded: Recorded, zone: str) -> None:
    monitor = await Monitor.open(str(recorded.journal))
    rows = {row.n: row for row in (await monitor.children(recorded.run_id)).rows}
    await monitor.close()
    app = PoolboardApp(str(recorded.journal), recorded.run_id, hints=False)
    async with app.run_test(size=(160, 48)) as pilot:
        await until(pilot, says(pilot, f"{len(NAMES)} in all"), "all children")
        lines = [line for line in seen(app) if line[:4].strip("▌ ") in ("✓", "✗")]
        for row in rows.values():
            assert row.started_at is not None and row.ended_at is not None
            took = duration((row.ended_at - row.started_at) / 1000)
            line = next(line for line in lines if str(row.n) in line[:9].split())
            assert took in line.split(), (zone, line)
            assert took_s(row, None) == took_s(row, row.ended_at + 5_000)
            assert not CHILD_SHAPE.live(row)


async def test_times_for_scripts_end_in_z_whatever_the_zone_is(recorded: Recorded, zone: str) -> None:
    told = json.loads(json.dumps(of_summary(await read(recorded))))
    times = [value for name, value in told.items() if name.endswith("_at") and value is not None]
    assert times and all(value.endswith(("Z", "+00:00")) for value in times), (zone, times)


def test_a_change_of_the_clock_makes_no_duration(zone: str) -> None:
    after_ms = _BEFORE_MS + 2_000
    assert span_ms(_BEFORE_MS, after_ms, None) == 2.0
    shown = [clock_time(at_ms, after_ms) for at_ms in (_BEFORE_MS, after_ms)]
    assert (
        shown
        == {
            "UTC": ["05:29:59", "05:30:01"],
            "Asia/Kathmandu": ["11:14:59", "11:15:01"],
            "America/St_Johns": ["01:59:59", "03:00:01"],
        }[zone]
    )


async def test_a_child_whose_worker_was_killed_and_that_was_stopped_stands_still(recorded: Recorded) -> None:
    monitor = await Monitor.open(str(recorded.journal))
    row = (await monitor.children(recorded.run_id)).rows[0]
    await monitor.close()
    stopped = row._replace(state="cancelled", started_at=_BEFORE_MS, ended_at=_BEFORE_MS + 14_000, starts=2)
    looks = [took_s(stopped, _BEFORE_MS + later) for later in (15_000, 20_000)]
    assert looks == [14.0, 14.0] and not CHILD_SHAPE.live(stopped)
    # Its worker is gone and nothing was recorded yet: nobody says that it still runs, so no clock ticks.
    left = stopped._replace(state="ready", ended_at=None)
    assert not CHILD_SHAPE.live(left) and took_s(left, Look().now_ms) is None

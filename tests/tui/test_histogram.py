"""A stage's durations as a person sees them: bars per octave, percentiles, and the screen that shows them."""

from __future__ import annotations

from poolboard.engine.summary import stage_durations
from poolboard.engine.views import StageDurations
from poolboard.journal.durations import BUCKETS, bucket
from poolboard.journal.model import StageRow
from poolboard.tui.app import PoolboardApp
from poolboard.tui.board_screen import BoardScreen
from poolboard.tui.histogram import bar, lines

from .conftest import NAMES, Recorded, says, seen, until


def durations_of(*took_ms: float) -> StageDurations:
    buckets = [0] * BUCKETS
    for one in took_ms:
        buckets[bucket(one)] += 1
    return stage_durations(StageRow("parse", len(took_ms), 0, sum(took_ms), tuple(buckets)))


def test_each_line_holds_an_octave_and_the_counts_add_up() -> None:
    told = durations_of(*[1.0] * 90, *[30.0] * 9, 900.0)
    assert sum(amount for _, _, amount in told.octaves) == 100
    for (_, high, _), (low, _, _) in zip(told.octaves, told.octaves[1:], strict=False):
        assert high == low
    text = [line.text for line in lines(told, 80, False)]
    assert "100 done, 0 failed" in text[0]
    bars = [line for line in text if "█" in line or "▏" in line]
    assert any("90%" in line and "p50" in line for line in bars)
    assert sum("p99" in line for line in text[2:]) == 1


def test_a_single_call_of_a_million_is_not_invisible_and_nothing_is_nothing() -> None:
    assert bar(1, 1_000_000, 40, False) == "▏" and bar(1, 1_000_000, 40, True) == "#"
    assert bar(0, 5, 40, False) == "" and bar(5, 5, 10, False) == "█" * 10
    assert "No call" in next(iter(lines(durations_of(), 80, False))).text


def test_ascii_is_enough_and_no_line_is_wider_than_the_screen() -> None:
    told = durations_of(0.2, 5.0, 5.5, 80.0, 4000.0, 3_600_000.0)
    for cells in (60, 76, 150):
        for line in list(lines(told, cells, True))[2:-1]:
            assert line.text.isascii() and len(line.text) <= cells


async def test_enter_on_a_stage_shows_how_long_its_calls_took(recorded: Recorded) -> None:
    app = PoolboardApp(str(recorded.journal), recorded.run_id)
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, says(pilot, f"{len(NAMES)} in all"), "all children")
        await pilot.press("shift+tab", "enter")
        await until(pilot, says(pilot, "16 done, 2 failed; mean"), "the numbers")
        assert any("█" in line for line in seen(app))
        await pilot.press("escape")
        assert isinstance(app.screen, BoardScreen)

"""Numbers as people read them."""

from __future__ import annotations

import re
from datetime import UTC, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolboard.tui.units import age, clock_time, duration, eta, percent, rate, several, size, span_ms


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0s"),
        (0.0001, "<1ms"),
        (0.04, "40ms"),
        (0.0996, "0.1s"),
        (0.5, "0.5s"),
        (59.94, "59.9s"),
        (59.96, "1m00s"),
        (60, "1m00s"),
        (119, "1m59s"),
        (3599.6, "1h00m"),
        (10799, "2h59m"),
        (86399.6, "1d00h"),
        (-5, "0s"),
        (None, "–"),
    ],
)
def test_a_duration_reads_without_odd_rounding(seconds: float | None, shown: str) -> None:
    """B44, each of its durations."""
    assert duration(seconds) == shown


_UNIT_S = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}


def _meant_s(shown: str) -> float:
    """Return what a shown duration says, in seconds."""
    if shown.startswith("<"):
        return 0.0005
    return sum(float(number) * _UNIT_S[unit] for number, unit in re.findall(r"([\d.]+)(ms|[smhd])", shown))


@given(st.floats(0, 1e8), st.floats(0, 1e8))
def test_a_longer_time_never_shows_a_smaller_text(one: float, other: float) -> None:
    """B44: monotone."""
    short, long = sorted((one, other))
    assert _meant_s(duration(short)) <= _meant_s(duration(long))


@given(st.floats(0, 1e7))
def test_a_duration_is_near_what_it_stands_for_and_never_reads_sixty_of_anything(seconds: float) -> None:
    shown = duration(seconds)
    assert abs(_meant_s(shown) - seconds) <= max(0.051, seconds / 24)
    assert not re.search(r"\b(60s|60m|24h)\b", shown)


def test_an_ended_row_takes_as_long_in_every_look() -> None:
    """B41, of what has ended."""
    assert span_ms(1_000, 5_000, 9_000) == span_ms(1_000, 5_000, 60_000) == 4.0


def test_a_running_row_counts_to_now_and_is_never_negative() -> None:
    """B41, of what runs."""
    assert span_ms(1_000, None, 3_500) == 2.5
    assert span_ms(9_000, None, 3_500) == 0.0
    assert span_ms(1_000, None, None) is None
    assert span_ms(None, None, 3_500) is None


@pytest.mark.parametrize(
    ("size_bytes", "shown"), [(0, "0 B"), (1, "1 B"), (999, "999 B"), (999_999, "1.0 MB"), (1_048_576, "1.0 MB")]
)
def test_a_size_reads_in_decimal_units(size_bytes: int, shown: str) -> None:
    """B44, sizes."""
    assert size(size_bytes) == shown


@pytest.mark.parametrize(
    ("done", "total", "shown"),
    [(0, 0, "–"), (0, 9, "0%"), (4999, 5000, "99%"), (5000, 5000, "100%"), (7, 5, "100%"), (-1, 5, "0%")],
)
def test_a_hundred_percent_means_all_of_it(done: int, total: int, shown: str) -> None:
    assert percent(done, total) == shown


@pytest.mark.parametrize(
    ("per_s", "shown"),
    [(0, "–"), (-1, "–"), (41.2, "41/s"), (1234.4, "1,234/s"), (2.5, "2.5/s"), (0.2, "12/min"), (0.001, "<1/min")],
)
def test_a_rate_picks_the_unit_that_can_be_read(per_s: float, shown: str) -> None:
    assert rate(per_s) == shown


def test_an_age_is_rounded_down() -> None:
    assert [age(value) for value in (-3, 0.4, 59.9, 60, 3599, 90_000)] == [
        "now",
        "now",
        "59s ago",
        "1m ago",
        "59m ago",
        "1d ago",
    ]


def test_an_eta_is_a_range_until_both_ends_read_the_same() -> None:
    assert eta(None) == "unsure"
    assert eta((36.2, 52.0)) == "36s to 52s"
    assert eta((70.1, 70.3)) == "1m10s"


def test_a_number_says_what_it_counts() -> None:
    assert several(1, "child", "children") == "1 child"
    assert several(1204, "child", "children") == "1,204 children"


def test_a_time_of_day_follows_the_zone_and_carries_the_date_when_it_is_not_today() -> None:
    noon_ms = 1_764_504_000_000  # 2025-11-30 12:00 UTC
    kathmandu = timezone(timedelta(hours=5, minutes=45))
    assert clock_time(noon_ms, noon_ms, UTC) == "12:00:00"
    assert clock_time(noon_ms, noon_ms, kathmandu) == "17:45:00"
    assert clock_time(noon_ms, noon_ms + 3 * 86_400_000, UTC) == "30 Nov 12:00"
    assert clock_time(None, noon_ms) == "–"
    assert clock_time(10**19, noon_ms) == "–"

"""Rates and guesses of the list of runs, from what was read of it again and again."""

from __future__ import annotations

from dataclasses import replace

from poolboard.engine.views import Counts, RunView
from poolboard.tui.run_rates import RunRates

from .test_actions import RUN


def at(settled: int, total: int = 100) -> RunView:
    return replace(RUN, status="running", children=Counts(total, ready=total - settled, completed=settled))


def test_nothing_is_claimed_before_a_run_was_read_twice() -> None:
    rates = RunRates()
    rates.take([at(10)], 0.0)
    assert rates.per_s(RUN.run_id) == 0.0 and rates.eta_s(at(10)) is None


def test_the_rate_is_that_of_the_last_ten_seconds_and_the_guess_has_two_ends() -> None:
    rates = RunRates()
    for second in range(31):
        rates.take([at(second if second <= 20 else 20 + 2 * (second - 20))], float(second))
    assert rates.per_s(RUN.run_id) == 2.0
    low, high = rates.eta_s(at(40)) or (0.0, 0.0)
    assert low == 30.0 and low < high < 60.0


def test_a_run_that_is_paused_or_gone_is_forgotten_and_a_retry_is_no_negative_rate() -> None:
    rates = RunRates()
    rates.take([at(10)], 0.0)
    rates.take([at(5)], 1.0)
    assert rates.per_s(RUN.run_id) == 0.0
    rates.take([replace(at(5), status="paused")], 2.0)
    rates.take([at(5)], 3.0)
    assert rates.per_s(RUN.run_id) == 0.0


def test_what_is_kept_of_a_run_is_bounded() -> None:
    rates = RunRates()
    for second in range(1000):
        rates.take([at(second, 10_000)], second / 10)
    assert len(rates._samples[RUN.run_id]) <= 128

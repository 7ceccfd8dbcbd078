"""Bringing back a crashed coordinator: how often, how fast, and when to let it be."""

from __future__ import annotations

from poolboard.engine.restarts import MAX_REFUSALS, MAX_RESTARTS, PAUSE_S, WINDOW_S, Restarts


def test_a_first_crash_is_mended_at_once() -> None:
    assert Restarts().decide(0.0) == "go"


def test_a_restart_is_given_time_to_show() -> None:
    restarts = Restarts()
    restarts.restarted(100.0)
    assert restarts.decide(100.0 + PAUSE_S / 2) == "wait"
    assert restarts.decide(100.0 + PAUSE_S) == "go"


def test_a_coordinator_that_keeps_crashing_is_left_alone_until_the_window_has_passed() -> None:
    restarts = Restarts()
    for crash in range(MAX_RESTARTS):
        assert restarts.decide(10.0 * crash) == "go"
        restarts.restarted(10.0 * crash)
    assert restarts.decide(10.0 * MAX_RESTARTS) == "give up"
    assert restarts.decide(WINDOW_S) == "go"


def test_a_refusal_is_tried_again_but_not_for_ever() -> None:
    restarts = Restarts()
    for attempt in range(MAX_REFUSALS):
        assert restarts.decide(PAUSE_S * attempt) == "go"
        restarts.refused(PAUSE_S * attempt)
    assert restarts.decide(PAUSE_S * MAX_REFUSALS) == "give up"

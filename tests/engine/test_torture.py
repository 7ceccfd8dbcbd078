"""A thousand kills: random processes die at random moments, then a checker reads journal and effects.

Reported, and all to be zero: acknowledged but missing, done again after it was recorded, stuck, left running.
``make torture`` kills 1,000 times (POOLBOARD_TORTURE_KILLS); the short form runs with the tests.
"""

from __future__ import annotations

import os

import pytest

from tests.engine.rig import Rig

from .torture import Torturer
from .verdict import Verdict


async def test_a_few_kills_leave_nothing_missing_doubled_stuck_or_running(rig: Rig) -> None:
    verdict = await Torturer(rig, screens=False).until(8)
    assert verdict.clean, f"{verdict}\n{verdict!r}"


def test_the_checker_sees_what_was_told_and_lost_and_what_was_told_and_done_again() -> None:
    verdict = Verdict()
    verdict.take(
        ["did 1 0 100", "acked 1 0 120", "did 2 0 130", "did 2 0 140", "acked 3 0 150"], {(1, 0): 110, (2, 0): 141}
    )
    assert (verdict.missing, verdict.again) == (["acked 3 0 150"], [])
    # The record is of the second time: the first was lost although the workflow had been told.
    verdict = Verdict()
    verdict.take(["did 1 0 100", "acked 1 0 101", "did 1 0 150", "acked 1 0 160"], {(1, 0): 155})
    assert (verdict.missing, verdict.again) == ([], ["did 1 0 150"])


@pytest.mark.torture
@pytest.mark.timeout(24 * 3600)
async def test_a_thousand_kills(rig: Rig) -> None:
    torturer = Torturer(rig, screens=True)
    for kills in range(50, int(os.environ.get("POOLBOARD_TORTURE_KILLS", "1000")) + 50, 50):
        verdict = await torturer.until(kills)
        print(verdict, flush=True)
        assert verdict.clean, repr(verdict)

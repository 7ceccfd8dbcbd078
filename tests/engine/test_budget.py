"""What a run may use: limits that block it, a ledger that charges once, and going on with more."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolboard.engine import budget
from poolboard.engine.errors import UserMistake
from poolboard.engine.intent import Errand
from poolboard.engine.launch import RunRequest, start_coordinator, start_run
from poolboard.engine.run_reader import folder_of
from poolboard.engine.views import Summary
from tests.engine.rig import PATIENCE_S, WORKFLOWS, Rig, kill


async def start(rig: Rig, workflow: str, limits: dict[str, float], slots: int = 4, **inputs: object) -> None:
    request = RunRequest(f"{WORKFLOWS}/spends.py:{workflow}", inputs, str(rig.journal), 1, slots, budget=limits)
    rig.run_id = await start_run(request)


def used(summary: Summary) -> dict[str, float]:
    return {usage.name: usage.used for usage in summary.usage}


@pytest.mark.slow
async def test_the_run_is_blocked_by_its_failures_and_goes_on_with_more(rig: Rig) -> None:
    """P10: resumable with a raised budget."""
    await start(rig, "failing", {"failures": 3}, n=600, folder=str(rig.folder))
    blocked = await rig.until(lambda s: s.run.status == "blocked")
    assert blocked.run.error is not None
    assert blocked.run.error.startswith("budget used up: ")
    assert blocked.run.error.endswith(" of 3 failures")
    assert (blocked.run.resumable, blocked.run.children.leased) == (True, 0)
    assert 3 <= blocked.run.children.failed < 600
    await rig.gone()
    monitor = await rig.monitor()
    with pytest.raises(UserMistake, match=r"budget used up: .* of 3 failures; .* --max-failures N"):
        await monitor.resume(rig.run_id)
    assert (await monitor.status(rig.run_id)).run.status == "blocked"
    (rig.folder / "mended").touch()
    await monitor.resume(rig.run_id, budget={"failures": 50})
    summary = await rig.ended()
    assert (summary.run.status, summary.run.children.total) == ("completed", 600)
    reader = await rig.rows()
    assert await reader.setting(1, "budget") == '{"failures": 50.0}'
    await reader.close()


async def test_the_run_is_blocked_once_it_has_taken_too_long(rig: Rig) -> None:
    await start(rig, "groups", {"duration_s": 1.5}, folder=str(rig.folder))
    reader = await rig.rows()

    async def asked() -> list[str]:
        found = await reader.events(1, 0, 1000, types=["ControlChanged"])
        return [json.loads(entry.event.payload)["by"] for entry in found]

    async with asyncio.timeout(PATIENCE_S):
        while "poolboard" not in await asked():
            await asyncio.sleep(0.05)
    await reader.close()
    (rig.folder / "open").touch()
    blocked = await rig.until(lambda s: s.run.status == "blocked")
    assert blocked.run.error is not None and blocked.run.error.endswith(" of 1.5 s")
    await (await rig.monitor()).resume(rig.run_id, budget={"duration_s": 0})
    assert (await rig.ended()).run.result == "100"


async def test_usage_is_kept_for_the_run_and_for_every_child_and_charged_once_over_kills(rig: Rig) -> None:
    """P10: no double charge on replay."""
    await start(rig, "groups", {}, folder=str(rig.folder))
    summary = await rig.until(lambda s: sum(active.stage == "wait" for active in s.active) == 4)
    told = {"tokens": 100, "calls": 4, "seconds": 3.0}
    assert used(summary) == told
    await kill(summary.coordinator.pid, *(worker.pid for worker in summary.workers))
    await rig.resume()
    again = await rig.until(lambda s: sum(active.stage == "wait" for active in s.active) == 4)
    assert used(again) == told, "every charge was made again on replay, and billed once"
    reader = await rig.rows()
    groups = [row.n for row in await reader.children_of(1, 0, 0, 10)]
    assert sorted([(await reader.usage(1, n))["tokens"] for n in groups]) == [30, 70]
    await reader.close()
    (rig.folder / "open").touch()
    await rig.ended()
    assert used(await (await rig.monitor()).status(rig.run_id)) == told, "also when nobody works on it any more"


async def test_a_run_that_charges_too_much_is_blocked_and_told_of_before(rig: Rig) -> None:
    await start(rig, "groups", {"tokens": 120, "calls": 4}, folder=str(rig.folder))
    warned = await rig.until(lambda s: any("tokens" in alert for alert in s.alerts))
    assert "budget: 100 of 120 tokens (83%)" in warned.alerts
    (rig.folder / "open").touch()
    blocked = await rig.until(lambda s: s.run.status == "blocked")
    assert blocked.run.error == "budget used up: 4 of 4 calls"


@pytest.mark.slow
async def test_a_budget_used_up_while_the_coordinator_dies_still_blocks(rig: Rig) -> None:
    """B35: killed while it pauses for its budget."""
    await start(rig, "groups", {"calls": 4}, folder=str(rig.folder))
    summary = await rig.until(lambda s: s.run.control.state == "pausing")
    await kill(summary.coordinator.pid, *(worker.pid for worker in summary.workers))
    monitor = await rig.monitor()
    await monitor.restart_crashed(rig.run_id)
    (rig.folder / "open").touch()
    blocked = await rig.until(lambda s: s.run.status == "blocked")
    assert blocked.run.error == "budget used up: 4 of 4 calls"
    await monitor.resume(rig.run_id, budget={"calls": 0})
    assert (await rig.ended()).run.result == "100"


@pytest.mark.slow
async def test_a_retry_that_the_budget_refuses_changes_nothing_and_one_that_mends_the_failures_is_let(rig: Rig) -> None:
    await start(rig, "failing", {"failures": 5}, n=3, folder=str(rig.folder))
    assert (await rig.ended()).run.children.failed == 3
    monitor, reader = await rig.monitor(), await rig.rows()
    before = (await reader.run(rig.run_id)).last_seq
    errand = Errand("retry", only=[(1, 1)], budget={"failures": 2})
    with pytest.raises(UserMistake, match=r"budget used up: 2 of 2 failures; give it more"):
        await start_coordinator(rig.journal, rig.run_id, str(folder_of(await reader.run(rig.run_id)).path), errand)
    after = await reader.run(rig.run_id)
    recorded = [entry.event.type for entry in await reader.events(1, before, 100)]
    assert (after.status, after.failed, recorded) == ("completed", 3, [])
    (rig.folder / "mended").touch()
    await monitor.retry(rig.run_id)  # three failures less: the limit is no reason to refuse
    assert (await rig.ended()).run.children.failed == 0
    await reader.close()


@pytest.mark.slow
async def test_what_is_no_amount_is_refused_where_it_is_charged(rig: Rig) -> None:
    await start(rig, "bad_usage", {})
    summary = await rig.ended()
    assert summary.run.result is not None
    for told in ("tokens must be from 0 to 1e18, not -1", "not nan", "counted by Poolboard itself", "must be a number"):
        assert told in summary.run.result


def test_eighty_percent_are_told_and_all_of_it_is_the_end() -> None:
    limits = {"failures": 10.0, "tokens": 100.0}
    assert budget.warnings(limits, {"failures": 7, "tokens": 79}) == []
    assert budget.warnings(limits, {"failures": 8}) == ["budget: 8 of 10 failures (80%)"]
    assert budget.exhausted(limits, {"failures": 9.9}) is None
    assert budget.exhausted(limits, {"failures": 10, "tokens": 200}) == (
        "budget used up: 10 of 10 failures, 200 of 100 tokens"
    )


@given(
    st.dictionaries(st.sampled_from("abc"), st.floats(0, 100)), st.dictionaries(st.sampled_from("abc"), st.floats(0))
)
def test_a_raised_limit_is_never_lower_and_zero_lifts_it(limits: dict[str, float], wished: dict[str, float]) -> None:
    after = budget.changed(limits, wished)
    assert all(limit > 0 for limit in after.values())
    assert all(after.get(name, 0) == limit for name, limit in wished.items())


@pytest.mark.slow
async def test_depth_and_concurrency_beyond_what_the_run_allows_are_refused_by_name(rig: Rig, tmp_path: Path) -> None:
    await start(rig, "failing", {}, n=3, concurrency=1001, folder=str(rig.folder))
    summary = await rig.ended()
    assert summary.run.error == (
        "ValueError: concurrency 1001 of one is beyond the run's 1000; @workflow(concurrency=1001) on failing allows it"
    )

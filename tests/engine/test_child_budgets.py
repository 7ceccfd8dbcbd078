"""What a child may use with all below it: held back when it is used up, told, and let go on with more."""

from __future__ import annotations

from pathlib import Path

import pytest

from poolboard.engine import budget
from poolboard.engine.authoring import workflow
from poolboard.engine.context import Context
from poolboard.engine.errors import UserMistake
from poolboard.engine.launch import RunRequest, start_run
from poolboard.engine.views import Part, Summary
from poolboard.journal.check import check
from tests.engine.rig import WORKFLOWS, Rig, kill


def blocked(summary: Summary) -> dict[str, str]:
    """Return why each child is held by the pool itself, by the first words of what it used up."""
    reasons = {int(hold.name): hold.why or "" for hold in summary.holds if hold.by == "poolboard"}
    return {reason.rpartition(" ")[2]: f"{n} {reason}" for n, reason in reasons.items()}


def child(told: str) -> Part:
    n = int(told.partition(" ")[0])
    return Part(children=((n, n),))


async def test_children_that_have_used_up_their_budgets_are_held_alone_and_go_on_with_more(rig: Rig) -> None:
    """P10 for children: blocked, resumable with a raised budget, nothing charged twice on replay."""
    request = RunRequest(f"{WORKFLOWS}/spends.py:bounded", {"folder": str(rig.folder)}, str(rig.journal), 1, 8)
    rig.run_id = await start_run(request)
    (rig.folder / "late").touch()
    summary = await rig.until(lambda s: set(blocked(s)) == {"tokens", "failures", "s"})
    why = blocked(summary)
    assert why["tokens"].endswith("budget used up: 70 of 60 tokens")
    assert why["failures"].endswith(" of 2 failures")
    assert summary.run.status == "running"
    assert sum("is blocked: budget used up" in alert for alert in summary.alerts) == 3
    monitor = await rig.monitor()
    with pytest.raises(
        UserMistake, match=r"70 of 60 tokens; give it more: poolboard resume RUN --child \d+ --max-usage t"
    ):
        await monitor.resume(rig.run_id, part=child(why["tokens"]))

    await kill(summary.coordinator.pid, *(worker.pid for worker in summary.workers))
    await rig.resume()
    again = await rig.until(lambda s: bool(s.workers) and set(blocked(s)) == {"tokens", "failures", "s"})
    assert blocked(again) == why
    reader = await rig.rows()
    n = int(why["tokens"].partition(" ")[0])
    assert await reader.usage(1, n) | {"tokens": 70} == await reader.usage(1, n)
    below = await reader.child_budgets.failed_below(1, int(why["failures"].partition(" ")[0]))
    assert below in (2, 3)
    await reader.close()

    (rig.folder / "open").touch()
    for name, more in (("tokens", {"tokens": 100.0}), ("failures", {"failures": 0.0}), ("s", {"duration_s": 3600.0})):
        told = await monitor.resume(rig.run_id, part=child(why[name]), budget=more)
        assert told.message.endswith("going on")
    assert (await rig.ended()).run.result == "[30,70,5,0]"
    assert not check(rig.journal).findings


@pytest.mark.parametrize("limits", [{"tokens": -1}, {"tokens": float("nan")}, {"tokens": "7"}, {"tokens": True}])
def test_a_budget_that_is_none_is_refused_where_it_is_written(limits: dict[str, float]) -> None:
    with pytest.raises((ValueError, TypeError), match=r"@workflow one: the budget of tokens must be"):

        @workflow(budget=limits)
        async def one(ctx: Context) -> None: ...

    assert budget.checked({"tokens": 7}, "x") == {"tokens": 7.0}


async def test_the_budget_of_a_workflow_is_its_runs_unless_it_is_started_with_another(tmp_path: Path) -> None:
    from poolboard.engine.launch import probe
    from poolboard.engine.probe import answer

    file = tmp_path / "spends.py"
    file.write_text(
        "from poolboard import Context, workflow\n\n"
        '@workflow(budget={"tokens": 10})\n'
        "async def w(ctx: Context) -> None: ...\n"
    )
    assert (await probe(file, "w", {}))["budget"] == {"tokens": 10.0}
    assert answer(str(file), "w", {}, {})["budget"] == {"tokens": 10.0}

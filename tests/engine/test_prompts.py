"""Questions in whole runs with real processes: asked once, answered once, whoever is killed or paused meanwhile."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

import pytest

from poolboard.engine.errors import UserMistake
from poolboard.engine.views import PromptView, Summary
from tests.engine.rig import Rig, kill, try_resume


def asks(count: int) -> Callable[[Summary], bool]:
    return lambda summary: summary.run.prompts == count and summary.coordinator.alive


async def asked(rig: Rig, count: int = 1) -> list[PromptView]:
    """Return the open questions once there are so many."""
    await rig.until(asks(count))
    return await (await rig.monitor()).prompts(rig.run_id)


async def answer(rig: Rig, text: str) -> str:
    """Answer the only question as soon as it is asked."""
    (prompt,) = await asked(rig)
    return (await (await rig.monitor()).answer(rig.run_id, prompt.id, text, "ann")).message


async def test_a_run_asks_three_kinds_of_questions_and_gets_three_kinds_of_answers(rig: Rig) -> None:
    await rig.start("asking:three_kinds", 1, 1, trace=str(rig.trace))
    (prompt,) = await asked(rig)
    assert (prompt.n, prompt.stage, prompt.kind, prompt.message) == (0, "step", "confirm", "Deploy?")
    assert (prompt.choices, prompt.default, prompt.run_id) == ((), "false", rig.run_id)
    monitor = await rig.monitor()
    assert (await monitor.status(rig.run_id)).run.status == "awaiting_input"
    assert [run.prompts for run in await monitor.runs()] == [1]
    assert await monitor.why(rig.run_id, 0) == f"waits for an answer to question {prompt.id}: Deploy?"
    assert await answer(rig, "yes") == "answered: yes"
    await rig.until(lambda s: bool(s.prompts) and s.prompts[0].kind == "select")
    assert await answer(rig, "2") == "answered: Production"
    await rig.until(lambda s: bool(s.prompts) and s.prompts[0].kind == "text")
    assert await answer(rig, "because\nof [red]this[/]") == "answered: because\nof [red]this[/]"
    summary = await rig.ended()
    assert json.loads(summary.run.result or "") == [True, "Production", "because\nof [red]this[/]"]
    assert rig.traces() == ["before", "after"]
    assert await monitor.prompts(rig.run_id) == []


async def test_an_answer_of_the_wrong_shape_explains_and_the_question_stays_open(rig: Rig) -> None:
    """P5."""
    await rig.start("asking:three_kinds", 1, 1, trace=str(rig.trace))
    (prompt,) = await asked(rig)
    monitor = await rig.monitor()
    with pytest.raises(UserMistake, match=f"question {prompt.id} stays open: 'perhaps' is neither yes nor no"):
        await monitor.answer(rig.run_id, prompt.id, "perhaps")
    with pytest.raises(UserMistake, match=f"there is no question 9999 .open questions: {prompt.id}."):
        await monitor.answer(rig.run_id, 9999, "yes")
    assert await asked(rig) == [prompt]


async def test_of_two_answers_at_once_one_wins_and_the_other_is_told(rig: Rig) -> None:
    await rig.start("asking:three_kinds", 1, 1, trace=str(rig.trace))
    (prompt,) = await asked(rig)
    monitor = await rig.monitor()
    both = await asyncio.gather(
        monitor.answer(rig.run_id, prompt.id, "yes", "ann"),
        monitor.answer(rig.run_id, prompt.id, "no", "bob"),
        return_exceptions=True,
    )
    (refused,) = [told for told in both if isinstance(told, Exception)]
    winner = "ann: yes" if refused is both[1] else "bob: no"
    assert f"question {prompt.id} was answered already by {winner}" in str(refused)


async def test_a_run_that_waits_for_an_answer_holds_no_slot(rig: Rig) -> None:
    await rig.start("asking:one_asks_one_works", 1, 1, trace=str(rig.trace))
    await rig.until(lambda s: s.run.children.completed == 1)
    assert rig.traces() == ["other"]
    assert await answer(rig, "free") == "answered: free"
    assert json.loads((await rig.ended()).run.result or "") == ["free", "other"]


@pytest.mark.slow
async def test_a_question_survives_quit_pause_kill_and_resume_and_is_asked_once(rig: Rig) -> None:
    """P4: prompt pending, quit, resume: asked again once; an answer while paused does not advance the work."""
    await rig.start("asking:three_kinds", 2, 1, trace=str(rig.trace))
    (prompt,) = await asked(rig)
    monitor = await rig.monitor()
    await monitor.pause(rig.run_id)
    summary = await rig.until(lambda s: s.run.status == "paused")
    await kill(summary.coordinator.pid, *(worker.pid for worker in summary.workers))
    await try_resume(rig)
    assert await asked(rig) == [prompt]
    await monitor.stop(rig.run_id, now=True)
    await rig.until(lambda s: s.run.status == "stopped" and not s.coordinator.alive)
    assert await monitor.prompts(rig.run_id) == [prompt]
    assert (await monitor.runs())[0].prompts == 1
    with pytest.raises(UserMistake, match="is stopped; 'poolboard resume' goes on with it"):
        await monitor.answer(rig.run_id, prompt.id, "yes")
    await try_resume(rig)
    assert await asked(rig) == [prompt]
    await monitor.pause(rig.run_id)
    await rig.until(lambda s: s.run.status == "paused")
    assert (await answer(rig, "yes")).startswith("answered: yes")
    assert (await monitor.status(rig.run_id)).run.status == "paused"
    assert await monitor.prompts(rig.run_id) == []
    await monitor.resume(rig.run_id)
    (second,) = await asked(rig)
    assert second.kind == "select"
    assert rig.traces() == ["before"]


@pytest.mark.slow
async def test_an_answer_that_no_worker_can_take_is_held(rig: Rig) -> None:
    """P6: the only worker is killed, the answer comes before another one is there."""
    await rig.start("asking:many_ask", 1, 1, trace=str(rig.trace), names=["a"])
    (prompt,) = await asked(rig)
    monitor = await rig.monitor()
    await kill(*(worker.pid for worker in (await monitor.status(rig.run_id)).workers))
    told = (await monitor.answer(rig.run_id, prompt.id, "held", "ann")).message
    assert told in ("answered: held", "answered: held; held until a worker takes the run up again")
    assert json.loads((await rig.ended()).run.result or "") == ["held"]
    assert rig.traces() == ["a=held"]


@pytest.mark.slow
async def test_more_children_ask_than_there_are_slots_and_the_parent_shows_how_many(rig: Rig) -> None:
    """U10: a nested child awaits input: the run shows it, with the count."""
    await rig.start("asking:many_ask", 1, 2, trace=str(rig.trace), names=list("abcde"))
    found = await asked(rig, 5)
    assert sorted(prompt.message for prompt in found) == [f"What of {name}?" for name in "abcde"]
    monitor = await rig.monitor()
    (run,) = await monitor.runs()
    assert (run.status, run.prompts) == ("awaiting_input", 5)
    assert await monitor.prompts() == found
    for prompt in found:
        await monitor.answer(rig.run_id, prompt.id, prompt.message[8])
    assert json.loads((await rig.ended()).run.result or "") == list("abcde")


@pytest.mark.slow
async def test_when_nobody_answers_the_default_is_taken_or_the_run_is_told(rig: Rig) -> None:
    await rig.start("asking:impatient", 1, 1, trace=str(rig.trace))
    summary = await rig.ended()
    assert json.loads(summary.run.result or "") == ["b", "nobody answered in time, and there is no default"]


@pytest.mark.slow
async def test_what_cannot_be_asked_is_refused_before_a_question_is_made(rig: Rig) -> None:
    await rig.start("asking:wrongly", 1, 1)
    told = json.loads((await rig.ended()).run.result or "")
    assert len(told) == 6
    reader = await rig.rows()
    assert await reader.events(1, 0, 100, types=["PromptAsked"]) == []
    await reader.close()


@pytest.mark.slow
async def test_a_cancelled_run_asks_nothing_any_more(rig: Rig) -> None:
    await rig.start("asking:many_ask", 1, 2, trace=str(rig.trace), names=["a"])
    await asked(rig)
    monitor = await rig.monitor()
    await monitor.cancel(rig.run_id)
    summary = await rig.ended()
    assert (summary.run.status, summary.run.prompts) == ("cancelled", 0)
    assert await monitor.prompts() == []


@pytest.mark.slow
async def test_hostile_text_is_kept_as_it_is(rig: Rig) -> None:
    name = "\x1b]52;c;UFdO\x07 [@click=app.quit]x[/] \u202egnp"
    await rig.start("asking:many_ask", 1, 1, trace=str(rig.trace), names=[name])
    (prompt,) = await asked(rig)
    assert prompt.message == f"What of {name}?"

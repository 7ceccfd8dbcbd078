"""Questions to a person: asked once, answered once, listed by what is open."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from poolboard.journal import prompts, queue
from poolboard.journal.check import check
from poolboard.journal.errors import BadPayload, StaleWorkLease
from poolboard.journal.model import Token
from poolboard.journal.prompts import Answer, Answered, NewPrompt, NoSuchPrompt

if TYPE_CHECKING:
    from tests.journal.conftest import StartedRun


def question(key: str = "k", message: str = "Go on?", timeout_ms: int | None = None) -> NewPrompt:
    return NewPrompt(key, "confirm", message, (), "false", "measure", timeout_ms)


async def open_now(run: StartedRun) -> list[int]:
    return [prompt.id for prompt in await run.journal.reader.open_prompts(run.lease.number)]


async def test_a_question_is_asked_once_and_the_run_awaits_input(run: StartedRun) -> None:
    await run.do(queue.set_status, "running")
    asked = await run.do(prompts.ask, run.root, question(timeout_ms=5_000))
    assert asked.answer is None and asked.prompt.until_at == asked.prompt.asked_at + 5_000
    assert (await run.row()).status == "awaiting_input"
    again = await run.do(prompts.ask, run.root, question(timeout_ms=9_000))
    assert again == asked
    assert await run.journal.reader.open_prompts(run.lease.number) == [asked.prompt]
    assert await run.journal.reader.prompt_counts([run.lease.number, 77]) == {run.lease.number: 1}


async def test_of_two_answers_the_first_counts_and_the_second_is_told_so(run: StartedRun) -> None:
    await run.do(queue.set_status, "running")
    id = (await run.do(prompts.ask, run.root, question())).prompt.id
    assert await run.do(prompts.answer, id, "true", "ann") == Answered(Answer("true", "ann"), True)
    assert await run.do(prompts.answer, id, "false", "bob") == Answered(Answer("true", "ann"), False)
    assert (await run.row()).status == "running"
    assert await open_now(run) == []


async def test_an_answer_is_held_until_somebody_asks_again(run: StartedRun) -> None:
    """P6: the attempt that asked is gone; the next one gets the answer at once."""
    child = await run.claimed_child("a")
    id = (await run.do(prompts.ask, child, question())).prompt.id
    await run.do(queue.release, child, give_start_back=True)
    assert (await run.do(prompts.answer, id, '"x"', "ann")).first
    successor = await run.claim(child.n)
    with pytest.raises(StaleWorkLease):
        await run.do(prompts.ask, child, question())
    assert (await run.do(prompts.ask, successor, question())).answer == Answer('"x"', "ann")


async def test_the_run_awaits_input_until_the_last_question_is_answered(run: StartedRun) -> None:
    await run.do(queue.set_status, "running")
    ids = [(await run.do(prompts.ask, run.root, question(key))).prompt.id for key in "abc"]
    for id in ids[:2]:
        await run.do(prompts.answer, id, "true", "ann")
        assert (await run.row()).status == "awaiting_input"
    await run.do(prompts.answer, ids[2], None, "the clock")
    assert (await run.row()).status == "running"
    assert await run.do(prompts.status_beside, "running") == "running"


async def test_paused_an_answer_does_not_make_the_run_go_on(run: StartedRun) -> None:
    """P4: answer while paused does not advance work."""
    id = (await run.do(prompts.ask, run.root, question())).prompt.id
    await run.do(queue.set_status, "paused")
    assert await run.do(prompts.status_beside, "running") == "awaiting_input"
    await run.do(prompts.answer, id, "true", "ann")
    assert (await run.row()).status == "paused"
    assert await run.do(prompts.status_beside, "running") == "running"


async def test_the_questions_of_a_child_that_ended_are_nobodys(run: StartedRun) -> None:
    await run.do(queue.set_status, "running")
    child = await run.claimed_child("a")
    id = (await run.do(prompts.ask, child, question())).prompt.id
    await run.do(queue.cancel, child.n)
    assert await open_now(run) == []
    with pytest.raises(NoSuchPrompt, match="its child is cancelled"):
        await run.do(prompts.answer, id, "true", "ann")
    await run.do(prompts.close, [id])
    assert (await run.row()).status == "running"


async def test_what_is_no_question_is_refused(run: StartedRun) -> None:
    for id in (0, -1, 1, 99):
        with pytest.raises(NoSuchPrompt):
            await run.do(prompts.answer, id, "true", "ann")
    with pytest.raises(BadPayload):
        await run.do(prompts.ask, run.root, question(message="x" * 2_000_000))
    with pytest.raises(StaleWorkLease):
        await run.do(prompts.ask, Token(0, 9, "w0", run.lease.epoch), question())


async def test_a_journal_with_open_and_answered_questions_is_whole(run: StartedRun) -> None:
    ids = [(await run.do(prompts.ask, run.root, question(key))).prompt.id for key in "ab"]
    await run.do(prompts.answer, ids[0], "true", "ann")
    report = check(run.journal.reader.path)
    assert report.findings == ()

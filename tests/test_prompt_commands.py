"""Questions from the command line: listed, answered, refused in one line, safe to show."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Answer

Run = Callable[..., "Answer"]

WORKFLOW = """
from poolboard import Context, workflow

@workflow
async def ask(ctx: Context) -> list[object]:
    sure = await ctx.ask.confirm("Really \\x1b]0;PWN\\x07 [red]?", default=True)
    return [sure, await ctx.ask.select("Where?", ["eu", "us"])]
"""


def open_now(poolboard: Run, kind: str, *run: str) -> list[dict[str, Any]]:
    """Return the open questions once one of this kind is among them."""
    for _ in range(200):
        found: list[dict[str, Any]] = json.loads(poolboard("prompts", *run, "--json").out)
        if any(prompt["kind"] == kind for prompt in found):
            return found
    raise AssertionError(f"nothing of kind {kind} was asked")


@pytest.mark.slow
def test_a_question_is_listed_answered_and_shown_without_being_obeyed(poolboard: Run, tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text(WORKFLOW)
    assert poolboard("prompts").out == "nothing waits for an answer\n"
    started = poolboard("run", "work.py:ask", "--workers", "1", "--detach", "--json", cwd=tmp_path)
    run_id = json.loads(started.out)["run_id"]
    (prompt,) = open_now(poolboard, "confirm")
    assert set(prompt) == {
        "id", "run_id", "child", "label", "stage", "kind", "message", "choices", "default", "since", "until", "shape",
    }  # fmt: skip
    assert (prompt["run_id"], prompt["child"], prompt["stage"], prompt["default"]) == (run_id, 0, None, True)
    told = poolboard("prompts", run_id)
    assert "Really ^[]0;PWN^G [red]?" in told.out and "\x1b" not in told.out
    assert f"to answer: poolboard answer {run_id[:8]} {prompt['id']} yes" in told.out
    shown = poolboard("status", run_id)
    assert "awaiting input" in shown.out and "\x1b" not in shown.out and "the root asks: Really ^[" in shown.out
    assert json.loads(poolboard("status", run_id, "--json").out)["prompts"] == 1
    assert json.loads(poolboard("list", "--json").out)[0]["prompts"] == 1
    wrong = poolboard("answer", run_id, str(prompt["id"]), "perhaps")
    assert (wrong.code, wrong.out) == (2, "") and "stays open: 'perhaps' is neither yes nor no" in wrong.err
    assert poolboard("answer", run_id, str(prompt["id"]), "no").out == "answered: no\n"
    late = poolboard("answer", run_id, str(prompt["id"]), "yes")
    assert late.code == 2 and f"question {prompt['id']} was answered already by" in late.err
    (second,) = open_now(poolboard, "select", run_id)
    assert json.loads(poolboard("answer", run_id, str(second["id"]), "2", "--json").out)["message"] == "answered: us"
    assert json.loads(poolboard("watch", run_id, "--json").out.splitlines()[-1])["result"] == [False, "us"]
    over = poolboard("answer", run_id, str(second["id"]), "eu")
    assert over.code == 2 and "has ended" in over.err

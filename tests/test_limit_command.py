"""Limits from the command line: given, told of, changed, refused in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from poolboard.engine.errors import UserMistake
from poolboard.limit_words import table

if TYPE_CHECKING:
    from tests.conftest import Answer

Run = Callable[..., "Answer"]

WORKFLOW = """
import time
from pathlib import Path
from poolboard import Context, stage, workflow

@stage(needs={"gpu": 1})
def use(gate: str) -> int:
    while not Path(gate).exists():
        time.sleep(0.01)
    return 1

@workflow
async def one(ctx: Context, gate: str) -> int:
    return await ctx.stage(use, gate)

@workflow
async def three(ctx: Context, gate: str) -> int:
    return sum(await ctx.map(one, [gate, gate, gate]))
"""


def test_words_become_the_table_that_a_configuration_has() -> None:
    assert table(["gpu=2", "api=60/min", "api.burst=5"], ["disk=1"]) == {
        "gpu": "2", "api": "60/min", "api.burst": "5", "disk": "1", "disk.shared": "true",
    }  # fmt: skip
    for own, shared in ((["gpu"], []), (["gpu="], []), (["=2"], []), (["gpu=1", "gpu=2"], []), (["gpu=1"], ["gpu=1"])):
        with pytest.raises(UserMistake):
            table(own, shared)


@pytest.mark.slow
def test_a_run_without_the_limit_that_its_stage_needs_is_one_clear_line(poolboard: Run, tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text(WORKFLOW)
    for words, says in (
        ((), "stage use needs 'gpu', which is no limit of this run (limits: none); give it with --limit gpu=N"),
        (("--limit", "gpu"), "--limit 'gpu': write NAME=VALUE"),
        (("--limit", "gpu=0"), "limit gpu: a capacity is a whole number from 1"),
        (("--limit", "gpu=1", "--shared-limit", "gpu=2"), "--shared-limit gpu: given twice"),
    ):
        answer = poolboard("run", "work.py:three", "--input", "gate=x", *words, "--headless", cwd=tmp_path)
        assert (answer.code, answer.out) == (2, "")
        assert answer.err.startswith("poolboard: ") and says in answer.err and answer.err.count("\n") == 1


@pytest.mark.slow
def test_limits_are_told_and_changed_while_the_run_goes_on(poolboard: Run, tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text(WORKFLOW)
    gate = tmp_path / "gate"
    words = ("run", "work.py:three", "--input", f"gate={gate}", "--workers", "1", "--limit", "gpu=1")
    started = poolboard(*words, "--detach", "--json", cwd=tmp_path)
    run_id = json.loads(started.out)["run_id"]
    limit = _until_two_wait(poolboard, run_id)
    assert (limit["in_use"], limit["most"], limit["shared"]) == (1, 1, False)
    told = poolboard("limit", run_id).out
    assert told.startswith("gpu 1 of 1 in use, 2 waiting\n")
    assert f"waits for gpu: 1 of 1 in use by child {limit['holders'][0]['n']}" in told
    assert json.loads(poolboard("status", run_id, "--json").out)["limits"][0]["name"] == "gpu"
    wrong = poolboard("limit", run_id, "tpu=4")
    assert wrong.code == 2 and "'tpu' is no limit of this run (limits: gpu)" in wrong.err
    changed = json.loads(poolboard("limit", run_id, "gpu=3", "--json").out)
    assert changed["message"] == "gpu = 3, from now on"
    gate.touch()
    last = json.loads(poolboard("watch", run_id, "--json").out.splitlines()[-1])
    assert last["result"] == 3
    after = poolboard("limit", run_id, "gpu=3")
    assert after.code == 2 and "has ended" in after.err


def _until_two_wait(poolboard: Run, run_id: str) -> dict[str, Any]:
    for _ in range(200):
        (limit,) = json.loads(poolboard("limit", run_id, "--json").out)["limits"] or [{}]
        if limit.get("waiting") == 2:
            return dict(limit)
    raise AssertionError("two children never waited")


@pytest.mark.slow
def test_each_gives_every_command_one_of_each_limit(poolboard: Run, tmp_path: Path) -> None:
    script = "n=$(ls busy | wc -l); mkdir busy/{}; sleep 0.02; echo $n; rmdir busy/{}"
    (tmp_path / "busy").mkdir()
    words = ("each", "-j", "4", "--limit", "disk=1", "--limit", "api=1000/s", script, ":::", *"abcdefgh")
    answer = poolboard(*words, cwd=tmp_path)
    assert answer.code == 0, answer.err
    assert answer.out.split() == ["0"] * 8

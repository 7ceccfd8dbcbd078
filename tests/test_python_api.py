"""Runs started from Python: scripts with and without a guard, loops, pipes of programs, and what cannot work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import poolboard as pb
from poolboard import Handle
from poolboard.engine.errors import UserMistake

if TYPE_CHECKING:
    from tests.conftest import Answer

ROOT = Path(__file__).parent.parent
Poolboard = Callable[..., "Answer"]

FLOWS = """
from dataclasses import dataclass
from pathlib import Path
import os, time
import poolboard
from poolboard import Context, stage, workflow

@dataclass
class Square:
    n: int
    squared: int

@stage
def square(n: int) -> Square:
    if n == 13:
        raise ValueError("unlucky")
    return Square(n, n * n)

def cube(n: int) -> int:
    if n == 13:
        raise ValueError("unlucky")
    return n ** 3

async def negate(n: int) -> int:
    return -n

@stage
def behind(gate: str) -> int:
    while not os.path.exists(gate):
        time.sleep(0.02)
    return 1

@workflow
async def one(ctx: Context, n: int) -> Square:
    return await ctx.stage(square, n)

@workflow
async def every(ctx: Context, upto: int) -> list[Square]:
    return await ctx.map(one, range(upto))

@workflow
async def gated(ctx: Context, gate: str) -> int:
    return await ctx.stage(behind, gate)
"""


def python(program: str, folder: Path, name: str | None = "script.py") -> Answer:
    """Run a program as a script of that name in the folder, or through a pipe."""
    from tests.conftest import Answer

    words = ["-"]
    if name is not None:
        (folder / name).write_text(program)
        words = [name]
    done = subprocess.run(
        [sys.executable, *words], input=program, cwd=folder, capture_output=True, text=True, timeout=110
    )
    return Answer(done.returncode, done.stdout, done.stderr)


def runs(poolboard: Poolboard) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(poolboard("list", "--json").out)
    return found


@pytest.mark.slow
def test_a_script_without_a_guard_gets_its_result_and_its_workers_start_no_run_of_their_own(
    poolboard: Poolboard, tmp_path: Path
) -> None:
    program = FLOWS + (
        "pool = poolboard.Pool(workers=2, name='mine')\n"
        "handle = pool.run(every, upto=4)\n"
        "print(handle.wait()[-1], handle.status().status, handle.run_id)\n"
        "print(pool.map(cube, [1, 2, 3]), pool.map(negate, [5]), pool.map(square, [6])[0].squared)\n"
    )
    answer = python(program, tmp_path)
    assert answer.code == 0, answer.err
    first, second = answer.out.splitlines()
    listed = runs(poolboard)
    assert first == f"Square(n=3, squared=9) completed {listed[-1]['run_id']}"
    assert second == "[1, 8, 27] [-5] 36"
    assert [run["name"] for run in listed] == ["mine"] * 4


@pytest.mark.slow
def test_a_guarded_script_and_a_running_loop_work_alike(poolboard: Poolboard, tmp_path: Path) -> None:
    program = FLOWS + (
        "async def main():\n"
        "    handle = poolboard.run(every, 3)\n"
        "    print([found.squared for found in await handle.result()], handle.status().children.completed)\n"
        "if __name__ == '__main__':\n"
        "    import asyncio\n"
        "    asyncio.run(main())\n"
    )
    answer = python(program, tmp_path)
    assert (answer.code, answer.out) == (0, "[0, 1, 4] 3\n"), answer.err
    assert len(runs(poolboard)) == 1


@pytest.mark.slow
def test_an_unguarded_loop_ends_the_import_of_a_worker_too(poolboard: Poolboard, tmp_path: Path) -> None:
    program = FLOWS + (
        "import asyncio\n"
        "async def main():\n"
        "    print(len(await poolboard.run(every, 3).result()))\n"
        "asyncio.run(main())\n"
    )
    answer = python(program, tmp_path)
    assert (answer.code, answer.out) == (0, "3\n"), answer.err
    assert len(runs(poolboard)) == 1


@pytest.mark.slow
def test_what_is_defined_after_an_unguarded_start_is_refused_and_the_guard_is_named(
    poolboard: Poolboard, tmp_path: Path
) -> None:
    program = FLOWS + ("poolboard.map(cube, [1])\ndef late(n: int) -> int:\n    return n\npoolboard.map(late, [1])\n")
    answer = python(program, tmp_path)
    line = program.splitlines().index("poolboard.map(cube, [1])") + 1
    assert answer.code == 1
    assert f"Line {line} starts a run, and what comes after it was not read" in answer.err
    assert "if __name__ == '__main__':" in answer.err
    assert len(runs(poolboard)) == 1


@pytest.mark.slow
def test_a_program_from_a_pipe_uses_functions_of_a_file_and_is_told_so_for_its_own(
    poolboard: Poolboard, tmp_path: Path
) -> None:
    (tmp_path / "flows.py").write_text(FLOWS)
    answer = python("import poolboard, flows\nprint(poolboard.map(flows.cube, [2]))\n", tmp_path, name=None)
    assert (answer.code, answer.out) == (0, "[8]\n"), answer.err
    refused = python(FLOWS + "poolboard.run(every, 3)\n", tmp_path, name=None)
    assert refused.code == 1
    assert "every stands in <stdin>, which is no file that workers could import: put it into one" in refused.err
    assert len(runs(poolboard)) == 1


def test_a_cell_of_a_notebook_is_told_to_use_a_file(tmp_path: Path) -> None:
    cell = tmp_path / "ipykernel_4711" / "1234.py"
    cell.parent.mkdir()
    cell.write_text("")
    space: dict[str, object] = {}
    exec(compile("def cube(n: int) -> int:\n    return n ** 3\n", str(cell), "exec"), space)
    with pytest.raises(UserMistake, match=r"in a notebook: %%writefile flows.py"):
        pb.map(space["cube"], [1])  # type: ignore[call-overload]


def test_a_run_inside_a_run_is_refused_and_nothing_is_started(poolboard: Poolboard, tmp_path: Path) -> None:
    program = FLOWS + (
        "@stage\n"
        "def nested() -> int:\n"
        "    return len(poolboard.map(cube, [1]))\n"
        "@workflow\n"
        "async def outer(ctx: Context) -> int:\n"
        "    return await ctx.stage(nested)\n"
    )
    (tmp_path / "flows.py").write_text(program)
    answer = poolboard("run", str(tmp_path / "flows.py:outer"), "--workers", "1", "--json")
    assert "poolboard.map was called inside a run" in json.loads(answer.out.splitlines()[-1])["error"]
    assert len(runs(poolboard)) == 1


@pytest.fixture
def flows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, poolboard: Poolboard) -> object:
    """Return the workflows as a module of this process; what they leave running ends with the test."""
    import importlib.util

    (tmp_path / "flows.py").write_text(FLOWS)
    spec = importlib.util.spec_from_file_location("flows", tmp_path / "flows.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "flows", module)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_a_failed_item_raises_its_error_or_is_collected(flows: object) -> None:
    cube: Callable[[int], int] = flows.cube  # type: ignore[attr-defined]
    pool = pb.Pool(workers=1)
    with pytest.raises(pb.ChildError, match="cube #2: stage cube: ValueError: unlucky"):
        pool.map(cube, [1, 13])
    good, bad = pool.map(cube, [2, 13], on_error="collect")
    assert (good.ok, good.value, bad.ok, bad.error) == (True, 8, False, "stage cube: ValueError: unlucky")
    assert pool.map(cube, []) == []


@pytest.mark.slow
def test_a_run_is_paused_resumed_stopped_and_cancelled_by_its_handle(flows: object, tmp_path: Path) -> None:
    handle: Handle[int] = pb.Pool(workers=1).run(flows.gated, str(tmp_path / "gate"))  # type: ignore[attr-defined]
    with pytest.raises(TimeoutError, match="it goes on"):
        handle.wait(timeout_s=0)
    assert handle.pause("lunch").control.why == "lunch"
    assert handle.resume().control.state == "running"
    handle.stop(now=True)
    with pytest.raises(pb.RunFailed, match=r"is stopped; handle.resume\(\) goes on with it"):
        handle.wait()
    (tmp_path / "gate").touch()
    handle.resume()
    assert handle.wait() == 1
    with pytest.raises(UserMistake, match="has ended"):
        handle.cancel()


def test_a_failed_run_says_why(flows: object) -> None:
    with pytest.raises(pb.RunFailed, match=r"\(every\) is failed: .*unlucky") as caught:
        pb.Pool(workers=1).run(flows.every, 14).wait()  # type: ignore[attr-defined]
    assert (caught.value.run.status, caught.value.run.children.failed) == ("failed", 1)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda flows: pb.run(flows.every, "many"), "every(upto)"),
        (lambda flows: pb.run(flows.every, 1, workers=2), "poolboard.Pool(workers=…).run(every, …)"),
        (lambda flows: pb.run(flows.cube, 1), "takes a function marked @workflow"),
        (lambda flows: pb.map(flows.one, [1]), "one is a workflow"),
        (lambda flows: pb.map(lambda n: n, [1]), "is not at the top level of its file"),
        (lambda flows: pb.map(len, ["a"]), "len is not written in Python"),
        (lambda flows: pb.map(flows.cube, ["x"]), "cube(n)"),
        (lambda flows: pb.map(flows.cube, range(400_000)), "400000 items come to"),
    ],
)
def test_a_mistake_is_told_before_anything_is_made(
    flows: object, own_folders: Path, call: Callable[[object], object], said: str
) -> None:
    with pytest.raises(UserMistake) as caught:
        call(flows)
    assert said in str(caught.value)
    assert not list(own_folders.rglob("*.sqlite"))


@pytest.mark.slow
def test_a_type_checker_knows_what_a_users_calls_return() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "tests/typed_program.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=110,
        env={**os.environ, "MYPYPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stdout

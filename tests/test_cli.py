"""The command line as a script sees it: exit codes, one line per mistake, JSON and nothing else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from poolboard import exit_codes

if TYPE_CHECKING:
    from tests.conftest import Answer

Poolboard = Callable[..., "Answer"]

DOUBLING = """
from poolboard import Context, stage, workflow

@stage
def double(n: int) -> int:
    if n == 13:
        raise ValueError("unlucky \\x1b[31mred")
    return 2 * n

@workflow
async def one(ctx: Context, n: int) -> int:
    return await ctx.stage(double, n)

@workflow
async def every(ctx: Context, upto: int) -> int:
    return sum(await ctx.map(one, range(upto)))

def plain(n: int) -> int:
    return n
"""


@pytest.fixture
def doubling(tmp_path: Path) -> Path:
    path = tmp_path / "doubling.py"
    path.write_text(DOUBLING)
    return path


def made_by(home: Path) -> list[str]:
    """Return every file that a command left in the person's folders."""
    return sorted(str(path.relative_to(home)) for path in home.rglob("*") if not path.is_dir())


def assert_refused(answer: Answer, named: str, home: Path) -> None:
    """Assert one line on stderr that names the thing, exit code 2, and nothing created."""
    assert answer.code == exit_codes.MISTAKE
    assert answer.out == ""
    assert answer.err.startswith("poolboard: ")
    assert answer.err.count("\n") == 1
    assert named in answer.err
    assert made_by(home) == []


# --- mistakes ---------------------------------------------------------------------------------------------------------


def test_a_folder_that_does_not_exist(poolboard: Poolboard, own_folders: Path) -> None:
    assert_refused(poolboard("demo", "--folder", "/nowhere/at/all"), "/nowhere/at/all", own_folders)


def test_an_empty_folder(poolboard: Poolboard, own_folders: Path, tmp_path: Path) -> None:
    assert_refused(poolboard("demo", "--folder", str(tmp_path)), str(tmp_path), own_folders)


def test_a_folder_that_is_a_file(poolboard: Poolboard, own_folders: Path, doubling: Path) -> None:
    assert_refused(poolboard("demo", "--folder", str(doubling)), "is a file", own_folders)


def test_a_folder_whose_name_drives_the_terminal(poolboard: Poolboard, own_folders: Path) -> None:
    answer = poolboard("demo", "--folder", "/no\x1b]0;title\x07\nwhere")
    assert_refused(answer, "/no^[]0;title^G⏎where", own_folders)


def test_a_folder_whose_name_is_not_utf8(poolboard: Poolboard, own_folders: Path) -> None:
    assert_refused(poolboard("demo", "--folder", os.fsdecode(b"/\xff")), "not UTF-8", own_folders)


@pytest.mark.parametrize("limit", ["0", "-1", "many"])
def test_a_limit_that_is_no_number_of_files(poolboard: Poolboard, own_folders: Path, limit: str) -> None:
    assert_refused(poolboard("demo", "--limit", limit), "--limit", own_folders)


def test_a_pool_without_workers(poolboard: Poolboard, own_folders: Path) -> None:
    assert_refused(poolboard("demo", "--workers", "0"), "--workers", own_folders)


def test_a_workflow_file_that_is_not_there(poolboard: Poolboard, own_folders: Path) -> None:
    assert_refused(poolboard("run", "missing.py"), "missing.py", own_folders)


def test_a_workflow_file_with_a_syntax_error(poolboard: Poolboard, own_folders: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("x = 1\ndef f(:\n")
    assert_refused(poolboard("run", str(tmp_path / "broken.py")), "broken.py:2", own_folders)


def test_a_workflow_file_that_raises_when_imported(poolboard: Poolboard, own_folders: Path, tmp_path: Path) -> None:
    (tmp_path / "raises.py").write_text("1 / 0\n")
    assert_refused(poolboard("run", str(tmp_path / "raises.py")), "ZeroDivisionError", own_folders)


@pytest.mark.parametrize("name", ["plain", "double", "nothing"])
def test_a_name_that_is_not_a_workflow(poolboard: Poolboard, own_folders: Path, doubling: Path, name: str) -> None:
    assert_refused(poolboard("run", f"{doubling}:{name}", "--input", "n=1"), repr(name), own_folders)


def test_an_input_of_the_wrong_type(poolboard: Poolboard, own_folders: Path, doubling: Path) -> None:
    assert_refused(poolboard("run", f"{doubling}:every", "--input", "upto=three"), "upto", own_folders)


def test_an_input_that_the_workflow_does_not_take(poolboard: Poolboard, own_folders: Path, doubling: Path) -> None:
    answer = poolboard("run", f"{doubling}:every", "--input", "upto=3", "--input", "up_to=3")
    assert_refused(answer, "up_to", own_folders)


def test_an_input_that_is_missing(poolboard: Poolboard, own_folders: Path, doubling: Path) -> None:
    assert_refused(poolboard("run", f"{doubling}:every"), "upto", own_folders)


@pytest.mark.parametrize("word", ["upto", "=3", "up to=3"])
def test_an_input_that_is_not_name_and_value(
    poolboard: Poolboard, own_folders: Path, doubling: Path, word: str
) -> None:
    assert_refused(poolboard("run", f"{doubling}:every", "--input", word), repr(word), own_folders)


def test_an_input_given_twice(poolboard: Poolboard, own_folders: Path, doubling: Path) -> None:
    answer = poolboard("run", f"{doubling}:every", "--input", "upto=3", "--input", "upto=4")
    assert_refused(answer, "given twice", own_folders)


def test_a_run_both_watched_and_left_alone(poolboard: Poolboard, own_folders: Path, doubling: Path) -> None:
    answer = poolboard("run", f"{doubling}:every", "--input", "upto=3", "--detach", "--headless")
    assert_refused(answer, "--detach and --headless", own_folders)


@pytest.mark.parametrize(
    "words",
    [["list"], ["status"], ["demo", "--limit", "1"], ["run", "{file}:every", "--input", "upto=3"], ["pause", "x"]],
)
def test_a_journal_that_is_no_database_is_refused_and_not_touched(
    poolboard: Poolboard, own_folders: Path, doubling: Path, words: list[str]
) -> None:
    given = [word.replace("{file}", str(doubling)) for word in words]
    before = doubling.read_bytes()
    assert_refused(poolboard(*given, "--journal", str(doubling)), str(doubling), own_folders)
    assert doubling.read_bytes() == before
    assert os.listdir(doubling.parent) == [doubling.name]


def test_a_journal_that_cannot_be_written(poolboard: Poolboard, own_folders: Path, doubling: Path) -> None:
    under_a_file = f"{doubling}/journal.sqlite"
    answer = poolboard("run", f"{doubling}:every", "--input", "upto=3", "--journal", under_a_file)
    assert_refused(answer, str(doubling), own_folders)


@pytest.mark.parametrize("verb", ["status", "pause", "resume", "stop", "watch"])
def test_a_run_that_nobody_knows(poolboard: Poolboard, own_folders: Path, verb: str) -> None:
    assert_refused(poolboard(verb, "deadbeef"), "deadbeef", own_folders)


def test_a_command_that_does_not_exist(poolboard: Poolboard, own_folders: Path) -> None:
    assert_refused(poolboard("paws"), "paws", own_folders)


def test_an_option_that_does_not_exist(poolboard: Poolboard, own_folders: Path) -> None:
    assert_refused(poolboard("list", "--jsn"), "--jsn", own_folders)


def test_debug_shows_where_a_mistake_was_noticed(poolboard: Poolboard) -> None:
    answer = poolboard("demo", "--folder", "/nowhere", "--debug")
    assert answer.code == exit_codes.MISTAKE
    assert "Traceback" in answer.err
    assert answer.err.splitlines()[-1] == "poolboard: no folder /nowhere"


# --- runs -------------------------------------------------------------------------------------------------------------


def test_a_run_tells_its_progress_and_its_result_as_json_lines(poolboard: Poolboard, doubling: Path) -> None:
    answer = poolboard("run", f"{doubling}:every", "--input", "upto=5", "--workers", "1", "--headless", "--json")
    assert answer.code == exit_codes.COMPLETED, answer.err
    lines = [json.loads(line) for line in answer.out.splitlines()]
    last = lines[-1]
    assert {"run_id", "status", "result", "error", "elapsed_s", "children"} <= set(last)
    assert (last["status"], last["result"], last["error"]) == ("completed", 20, None)
    assert (last["children"]["total"], last["children"]["completed"]) == (5, 5)
    assert all(line["type"] == "progress" and line["run_id"] == last["run_id"] for line in lines[:-1])


def test_a_run_without_a_terminal_tells_itself_in_plain_lines(poolboard: Poolboard, doubling: Path) -> None:
    answer = poolboard("run", f"{doubling}:every", "--input", "upto=5", "--workers", "1", "--name", "tidy")
    assert answer.code == exit_codes.COMPLETED, answer.err
    lines = answer.out.splitlines()
    assert "(tidy)" in lines[0] and "poolboard watch" in lines[0]
    assert lines[-2].startswith("completed after ") and lines[-2].endswith(": 5 children")
    assert lines[-1] == "result: 20"


def test_a_run_that_fails_ends_with_one_and_its_error_cannot_drive_the_terminal(
    poolboard: Poolboard, doubling: Path
) -> None:
    answer = poolboard("run", f"{doubling}:every", "--input", "upto=14", "--workers", "1")
    assert answer.code == exit_codes.FAILED
    assert "1 child failed" in answer.out
    assert "unlucky ^[[31mred" in answer.out
    assert "\x1b" not in answer.out + answer.err


def test_the_only_or_last_workflow_of_a_file_is_meant_when_none_is_named(poolboard: Poolboard, doubling: Path) -> None:
    answer = poolboard("run", str(doubling), "--input", "upto=2", "--workers", "1", "--json")
    assert json.loads(answer.out.splitlines()[-1])["result"] == 2


@pytest.mark.slow
def test_a_detached_run_is_found_again_by_list_and_status_and_watch(poolboard: Poolboard, doubling: Path) -> None:
    begun = poolboard("run", f"{doubling}:every", "--input", "upto=4", "--workers", "1", "--detach", "--json")
    assert begun.code == exit_codes.COMPLETED, begun.err
    (told,) = map(json.loads, begun.out.splitlines())
    run_id = told["run_id"]

    watched = poolboard("watch", run_id, "--json")
    assert watched.code == exit_codes.COMPLETED
    assert json.loads(watched.out.splitlines()[-1])["result"] == 12

    (listed,) = json.loads(poolboard("list", "--json").out)
    assert (listed["run_id"], listed["status"]) == (run_id, "completed")

    status = json.loads(poolboard("status", run_id[:8], "--json").out)
    assert status["run_id"] == run_id
    assert status["name"] == "every"
    assert (status["status"], status["resumable"], status["result"], status["error"]) == ("completed", False, 12, None)
    assert status["started_at"].endswith("Z") and status["ended_at"].endswith("Z")
    assert status["elapsed_s"] >= 0
    counts = {"ready": 0, "leased": 0, "waiting": 0, "completed": 4, "failed": 0, "cancelled": 0, "total": 4}
    assert status["children"] == counts
    (stage,) = status["stages"]
    assert (stage["name"], stage["waiting"], stage["active"], stage["done"], stage["failed"]) == ("double", 0, 0, 4, 0)
    assert 0 < stage["p50_ms"] <= stage["p95_ms"]
    assert isinstance(status["workers"], list)
    assert set(status["coordinator"]) == {"pid", "epoch", "alive"}
    assert set(status["control"]) == {"state", "revision", "by", "why"}

    assert run_id in poolboard("list").out
    assert "completed" in poolboard("status").out


def test_the_newest_run_is_meant_when_none_is_named_and_there_is_none(poolboard: Poolboard, own_folders: Path) -> None:
    assert_refused(poolboard("status"), "no run", own_folders)


def test_a_list_of_nothing_says_what_to_do_and_creates_nothing(poolboard: Poolboard, own_folders: Path) -> None:
    assert json.loads(poolboard("list", "--json").out) == []
    assert "poolboard demo" in poolboard("list").out
    assert "poolboard demo" in poolboard().out
    assert made_by(own_folders) == []


GATED = """
import os, time
from poolboard import Context, stage, workflow

@stage
def step(n: int, gate: str) -> int:
    while not os.path.exists(gate):
        time.sleep(0.02)
    return n

@workflow
async def one(ctx: Context, n: int, gate: str) -> int:
    return await ctx.stage(step, n, gate)

@workflow
async def gated(ctx: Context, gate: str) -> int:
    return sum(await ctx.map(one, [{"n": n, "gate": gate} for n in (1, 2, 3)]))
"""


@pytest.fixture
def gated(tmp_path: Path) -> list[str]:
    """Return the words that run a workflow whose stages end once ``tmp_path/gate`` is there."""
    (tmp_path / "gated.py").write_text(GATED)
    gate = f"gate={tmp_path / 'gate'}"
    return ["run", str(tmp_path / "gated.py"), "--input", gate, "--workers", "1", "--slots", "1"]


@pytest.mark.slow
def test_a_stopped_run_ends_with_three_and_goes_on_after_resume(
    poolboard: Poolboard, gated: list[str], tmp_path: Path
) -> None:
    run_id = poolboard(*gated, "--detach").out.strip()
    stopped = poolboard("stop", run_id, "--now", "--why", "lunch", "--json")
    assert stopped.code == exit_codes.COMPLETED, stopped.err
    assert json.loads(stopped.out)["control"]["why"] == "lunch"
    watched = poolboard("watch", run_id)
    assert watched.code == exit_codes.RESUMABLE
    assert "why: lunch" in watched.out and f"poolboard resume {run_id}" in watched.out

    (tmp_path / "gate").touch()
    resumed = poolboard("resume", run_id, "--json")
    assert resumed.code == exit_codes.COMPLETED, resumed.err
    assert json.loads(resumed.out.splitlines()[-1])["result"] == 6


MENDABLE = """
from pathlib import Path
from poolboard import Context, stage, workflow

@stage
def open_up(n: int) -> int:
    if n % 2 and not Path("mended").exists():
        raise OSError(f"door {n} is shut")
    return n

@workflow
async def door(ctx: Context, n: int) -> int:
    return await ctx.stage(open_up, n)

@workflow
async def house(ctx: Context) -> int:
    return sum([result.value or 0 for result in await ctx.map(door, range(6), on_error="collect")])
"""


@pytest.mark.slow
def test_what_failed_is_tried_again_once_its_cause_is_gone(poolboard: Poolboard, tmp_path: Path) -> None:
    (tmp_path / "doors.py").write_text(MENDABLE)
    first = poolboard("run", "doors.py", "--json", cwd=tmp_path)
    assert json.loads(first.out.splitlines()[-1])["result"] == 6
    run_id = json.loads(first.out.splitlines()[-1])["run_id"]
    (tmp_path / "mended").touch()
    again = poolboard("retry", run_id[:8], "--failed", "--json")
    end = json.loads(again.out.splitlines()[-1])
    assert (again.code, end["result"], end["children"]["failed"], end["children"]["completed"]) == (0, 15, 0, 6)
    nothing = poolboard("retry", run_id[:8])
    assert (nothing.code, nothing.err.count("\n")) == (exit_codes.MISTAKE, 1)
    assert "nothing has failed" in nothing.err


@pytest.mark.slow
def test_a_stopped_run_can_be_cancelled_for_good(poolboard: Poolboard, doubling: Path) -> None:
    started = poolboard("run", f"{doubling}:every", "--input", "upto=5000", "--detach", "--json")
    run_id = json.loads(started.out)["run_id"]
    poolboard("workers", run_id, "1")
    assert poolboard("stop", run_id, "--now").code == 0
    until_status(poolboard, run_id, "stopped")
    told = poolboard("cancel", run_id, "--why", "a wrong list", "--json")
    assert told.code == 0, told.err
    until_status(poolboard, run_id, "cancelled")
    late = poolboard("resume", run_id)
    assert late.code == exit_codes.MISTAKE and "it is cancelled" in late.err


def until_status(poolboard: Poolboard, run_id: str, wanted: str) -> None:
    for _ in range(100):
        if json.loads(poolboard("status", run_id, "--json").out)["status"] == wanted:
            return
    raise AssertionError(f"the run never became {wanted}")


def test_a_coordinator_that_is_killed_under_an_attached_run_comes_back_by_itself(
    poolboard: Poolboard, gated: list[str], tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "poolboard", *gated, "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        run_id = json.loads(process.stdout.readline())["run_id"]
        coordinator = json.loads(poolboard("status", run_id, "--json").out)["coordinator"]
        os.kill(coordinator["pid"], signal.SIGKILL)
        (tmp_path / "gate").touch()
        last = json.loads(process.stdout.read().splitlines()[-1])
        said = process.stderr.read()
        assert process.wait(timeout=60) == exit_codes.COMPLETED
    assert (last["status"], last["result"]) == ("completed", 6)
    assert said == f"the coordinator of run {run_id} was gone and is restarted\n"
    after = json.loads(poolboard("status", run_id, "--json").out)
    assert after["coordinator"]["epoch"] > coordinator["epoch"]
    assert [stage["done"] for stage in after["stages"]] == [3]


def test_a_paused_run_ends_an_attached_command_with_three_and_goes_on_in_place(
    poolboard: Poolboard, gated: list[str], tmp_path: Path
) -> None:
    run_id = poolboard(*gated, "--detach").out.strip()
    assert poolboard("pause", run_id).code == exit_codes.COMPLETED
    (tmp_path / "gate").touch()
    assert poolboard("watch", run_id).code == exit_codes.RESUMABLE
    owner = json.loads(poolboard("status", run_id, "--json").out)["coordinator"]
    resumed = poolboard("resume", run_id, "--json")
    assert json.loads(resumed.out.splitlines()[-1])["result"] == 6
    assert json.loads(poolboard("status", run_id, "--json").out)["coordinator"]["epoch"] == owner["epoch"]


# --- streams and signals ----------------------------------------------------------------------------------------------


def test_a_reader_that_goes_away_is_no_error_and_no_noise() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "poolboard", "--version"], stdout=writing, stderr=subprocess.PIPE, timeout=60
    )
    os.close(writing)
    assert done.stderr == b""
    assert done.returncode == exit_codes.BROKEN_PIPE


def test_a_terminal_that_knows_only_ascii_still_gets_its_text(poolboard: Poolboard) -> None:
    answer = poolboard("demo", "--folder", "/nö", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert answer.err == "poolboard: no folder /n\\xf6\n"


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGINT, exit_codes.INTERRUPTED),
        pytest.param(signal.SIGTERM, exit_codes.TERMINATED, marks=pytest.mark.slow),
        pytest.param(signal.SIGHUP, exit_codes.HANGUP, marks=pytest.mark.slow),
    ],
)
def test_who_leaves_a_headless_run_is_told_how_to_come_back(
    poolboard: Poolboard, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    (tmp_path / "long.py").write_text(
        "import asyncio\nfrom poolboard import Context, stage, workflow\n"
        "@stage\nasync def rest() -> None:\n    await asyncio.sleep(600)\n"
        "@workflow\nasync def long(ctx: Context) -> None:\n    await ctx.stage(rest)\n"
    )
    command = [sys.executable, "-m", "poolboard", "run", str(tmp_path / "long.py"), "--workers", "1", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        run_id = json.loads(process.stdout.readline())["run_id"]
        process.send_signal(number)
        said = process.stderr.read()
        assert process.wait(timeout=60) == code
    assert said == f"the run goes on; to come back: poolboard watch {run_id}\n"
    assert json.loads(poolboard("status", run_id, "--json").out)["status"] in ("pending", "running", "waiting")
    poolboard("stop", run_id, "--now")

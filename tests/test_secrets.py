"""B65: what is marked as a secret is in no journal row, log, process list, JSON or screen, and the run still works."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from poolboard import exit_codes
from poolboard.tui.app import PoolboardApp
from tests.tui.conftest import says, seen, until

if TYPE_CHECKING:
    from tests.conftest import Answer

Poolboard = Callable[..., "Answer"]
SECRET = "S3CR-77-VALUE"
PATIENCE_S = 60.0

WORKFLOW = """
import hashlib, os, time
from pydantic import BaseModel, SecretStr
from poolboard import Context, stage, workflow

@stage
def digest(token: SecretStr) -> str:
    print("using", token, "which is", token.get_secret_value())
    return hashlib.sha256(token.get_secret_value().encode()).hexdigest()

@stage
def fail(token: SecretStr) -> str:
    raise ValueError(f"refused: {token} {token.get_secret_value()}")

@stage
def wait_for(gate: str) -> None:
    while gate and not os.path.exists(gate):
        time.sleep(0.02)

@workflow
async def child(ctx: Context, key: SecretStr, bad: bool = False) -> str:
    ctx.log("key is", key=key, value=key.get_secret_value())
    return await ctx.stage(fail if bad else digest, key)

@workflow
async def work(ctx: Context, token: SecretStr, gate: str = "") -> list[str]:
    mine = await ctx.stage(digest, token)
    results = await ctx.map(child, [{"key": token}, {"key": token, "bad": True}], on_error="collect")
    done = await ctx.command("tool", 'test "$TOKEN" && echo ${#TOKEN}', env={"TOKEN": token.get_secret_value()})
    inherited = await ctx.command("env", "env | grep -c S3CR", expect=(1,), capture=True)
    await ctx.stage(wait_for, gate)
    return [mine, results[0].value or "", results[1].error or "", inherited.stdout or ""]

@workflow
async def leaks(ctx: Context, token: SecretStr) -> SecretStr:
    return token

class Account(BaseModel):
    user: str
    password: SecretStr

@workflow
async def nested(ctx: Context, account: Account) -> str:
    return account.user

@workflow
async def made(ctx: Context, token: SecretStr) -> str:
    return await ctx.child(child, SecretStr("made up here"))
"""


@pytest.fixture
def words(tmp_path: Path) -> Callable[..., list[str]]:
    (tmp_path / "secretive.py").write_text(WORKFLOW)
    return lambda name="work", *more: ["run", f"{tmp_path / 'secretive.py'}:{name}", "--workers", "1", *more]


def found_in(*folders: Path) -> list[str]:
    """Return the files that hold the secret."""
    return [
        str(path)
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink() and SECRET.encode() in path.read_bytes()
    ]


@pytest.mark.parametrize("way", ["on the line", "on the line with =", "in the environment"])
@pytest.mark.slow
async def test_b65_a_secret_input_is_nowhere_and_the_run_still_works(
    poolboard: Poolboard, words: Callable[..., list[str]], own_folders: Path, tmp_path: Path, way: str
) -> None:
    given = {
        "on the line": ["--input", f"token={SECRET}"],
        "on the line with =": [f"--input=token={SECRET}"],
        "in the environment": ["--input", "token"],
    }[way]
    env = {"POOLBOARD_INPUT_token": SECRET} if way == "in the environment" else {}
    gate = tmp_path / "gate"
    begun = poolboard(*words(), *given, "--input", f"gate={gate}", "--detach", "--json", env=env)
    run_id = json.loads(begun.out)["run_id"]
    for _ in range(200):
        if json.loads(poolboard("status", "--json").out)["children"]["completed"]:
            break
    lines = [line for process in processes(own_folders) for line in process.cmdline()]
    assert lines and not [line for line in lines if SECRET in line]
    gate.touch()
    watched = poolboard("watch", run_id, "--json")
    assert watched.code == exit_codes.COMPLETED, watched.out
    result = json.loads(watched.out.splitlines()[-1])["result"]
    assert result[:2] == [sha256(SECRET.encode()).hexdigest()] * 2
    assert "refused: ********** ***" in result[2] and result[3] == "0\n"
    assert found_in(own_folders, tmp_path) == []
    told = [begun, watched, poolboard("list", "--json"), poolboard("status"), poolboard("logs", run_id, "2", "--merge")]
    told += [poolboard("journal", "export", run_id), poolboard("doctor"), poolboard("logs", run_id, "1", "--json")]
    assert not [answer for answer in told if SECRET in answer.out + answer.err]
    app = PoolboardApp(None, run_id)
    async with app.run_test(size=(160, 48)) as pilot:
        await until(pilot, says(pilot, "completed"), "the board")
        await pilot.press("g", "enter")
        await until(pilot, says(pilot, "$secret"), "the child's input")
        assert SECRET not in "\n".join(seen(app))


def processes(home: Path) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("XDG_STATE_HOME", "").startswith(str(home)) and process.pid != os.getpid():
                found.append(process)
        except psutil.Error:
            continue
    return found


def test_b65_the_line_itself_is_rid_of_the_secret_before_the_run_starts(
    words: Callable[..., list[str]], own_folders: Path, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "poolboard", *words(), "--input", f"token={SECRET}"]
    command += ["--input", f"gate={tmp_path / 'gate'}", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert SECRET not in " ".join(psutil.Process(process.pid).cmdline())
        assert "token" in psutil.Process(process.pid).cmdline()
        (tmp_path / "gate").touch()
        assert process.wait(timeout=PATIENCE_S) == exit_codes.COMPLETED


@pytest.mark.slow
def test_a_run_with_a_secret_is_resumed_by_giving_it_again(
    poolboard: Poolboard, words: Callable[..., list[str]], own_folders: Path, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    run_id = poolboard(*words(), "--input", f"token={SECRET}", "--input", f"gate={gate}", "--detach").out.strip()
    pid = json.loads(poolboard("status", run_id, "--json").out)["coordinator"]["pid"]
    for process in processes(own_folders):
        if process.pid == pid or "poolboard.engine.worker" in process.cmdline():
            process.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + PATIENCE_S
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
    gate.touch()
    blocked = poolboard("resume", run_id)
    assert blocked.code == exit_codes.BLOCKED
    assert "POOLBOARD_INPUT_token=… poolboard resume" in blocked.out
    resumed = poolboard("resume", run_id, "--json", env={"POOLBOARD_INPUT_token": SECRET})
    assert resumed.code == exit_codes.COMPLETED, resumed.out
    assert found_in(own_folders, tmp_path) == []


@pytest.mark.parametrize(
    ("name", "given", "code", "said"),
    [
        ("leaks", f"token={SECRET}", exit_codes.FAILED, "result of leaks: it holds a SecretStr"),
        ("made", f"token={SECRET}", exit_codes.FAILED, "a secret goes to a child only as"),
        (
            "nested",
            f'account={{"user": "me", "password": "{SECRET}"}}',
            exit_codes.MISTAKE,
            "a SecretStr must be a parameter of its own",
        ),
        ("nested", f'account={{"usr": "me", "password": "{SECRET}"}}', exit_codes.MISTAKE, "account"),
    ],
)
def test_a_secret_that_would_be_lost_or_recorded_is_refused_without_it(
    poolboard: Poolboard,
    words: Callable[..., list[str]],
    own_folders: Path,
    name: str,
    given: str,
    code: int,
    said: str,
) -> None:
    answer = poolboard(*words(name, "--input", given))
    assert answer.code == code
    assert said in answer.out + answer.err and SECRET not in answer.out + answer.err
    assert found_in(own_folders) == []


def test_a_missing_secret_is_asked_for(poolboard: Poolboard, words: Callable[..., list[str]]) -> None:
    answer = poolboard(*words())
    assert answer.code == exit_codes.MISTAKE and "'token'" in answer.err


def test_b65_a_variable_given_to_each_is_nowhere(poolboard: Poolboard, own_folders: Path, tmp_path: Path) -> None:
    answer = poolboard(
        "each", "--env", f"TOKEN={SECRET}", "--joblog", str(tmp_path / "log"), "echo {} ${#TOKEN}", ":::", "a"
    )
    assert (answer.code, answer.out) == (0, f"a {len(SECRET)}\n"), answer.err
    assert found_in(own_folders, tmp_path) == []

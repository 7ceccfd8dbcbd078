"""What a person expects of any command: help, completion, colours, pipes, streams (B59)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import typer

from poolboard import examples, exit_codes, manual
from poolboard.cli import command_line
from tests.each_rig import until
from tests.terminal import on_terminal

if TYPE_CHECKING:
    from tests.conftest import Answer

Poolboard = Callable[..., "Answer"]
COMMANDS = dict(manual.commands(typer.main.get_group(command_line())))

NOTHING = """
from poolboard import Context, workflow

@workflow
async def one(ctx: Context, n: int) -> int:
    return n

@workflow
async def nothing(ctx: Context, n: int = 2) -> int:
    return sum(await ctx.map(one, range(n)))
"""


@pytest.fixture
def nothing(tmp_path: Path) -> str:
    (tmp_path / "nothing.py").write_text(NOTHING)
    return str(tmp_path / "nothing.py")


# --- help and manual --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", sorted(COMMANDS))
def test_every_commands_help_has_an_example_of_itself(words: str) -> None:
    command = COMMANDS[words]
    text = command.get_help(command.make_context(f"poolboard {words}", [], resilient_parsing=True))
    usage, _, rest = text.partition("\n")
    assert usage.startswith(f"Usage: poolboard {words}")
    assert f"poolboard {words}" in rest


def test_no_example_is_of_a_command_that_does_not_exist() -> None:
    assert set(examples.EXAMPLES) <= set(COMMANDS)
    for words, lines in examples.EXAMPLES.items():
        assert all(f"poolboard {words}" in line for line in lines)


@pytest.mark.parametrize("words", [["pause"], ["journal", "prune"], ["journal"], []])
def test_help_and_the_help_flag_say_the_same(poolboard: Poolboard, words: list[str]) -> None:
    asked = poolboard("help", *words)
    assert asked.code == 0
    assert asked.out.split("Options:")[0] == poolboard(*words, "--help").out.split("Options:")[0]


def test_help_for_a_command_that_does_not_exist_names_the_nearest(poolboard: Poolboard) -> None:
    answer = poolboard("help", "journal", "prnue")
    assert answer.code == exit_codes.MISTAKE
    assert answer.err == "poolboard: there is no command poolboard journal prnue; did you mean prune?\n"


def test_the_manual_has_every_command_option_exit_status_and_setting(poolboard: Poolboard) -> None:
    page = poolboard("man").out.replace("\\-", "-")
    assert page.startswith('.TH POOLBOARD 1 ""')
    for words, command in COMMANDS.items():
        assert f".SS poolboard {words}" in page
        for parameter in command.params:
            assert all(option in page for option in parameter.opts if option.startswith("--"))
    for code, meaning in exit_codes.MEANINGS.items():
        assert f".TP\n\\fB{code}\\fR\n{meaning}" in page
    assert "POOLBOARD_WORKERS" in page


@pytest.mark.skipif(shutil.which("groff") is None and shutil.which("mandoc") is None, reason="no groff, no mandoc")
def test_the_manual_is_a_page_that_man_can_show(poolboard: Poolboard) -> None:
    page = poolboard("man").out
    command = ["mandoc", "-T", "lint", "-W", "error"] if shutil.which("mandoc") else ["groff", "-man", "-Tutf8", "-ww"]
    done = subprocess.run(command, input=page, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


# --- completion -------------------------------------------------------------------------------------------------------


def completed(poolboard: Poolboard, line: str, env: dict[str, str] | None = None) -> list[str]:
    """Return what bash would offer at the end of a line."""
    words = line.split(" ")
    asked = {"_POOLBOARD_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    answer = poolboard(env={**asked, **(env or {})})
    assert answer.err == ""
    return answer.out.split()


@pytest.mark.slow
def test_the_shell_is_offered_commands_runs_children_themes_and_settings(poolboard: Poolboard, nothing: str) -> None:
    run_id = json.loads(poolboard("run", nothing, "--json").out.splitlines()[-1])["run_id"]
    assert "watch" in completed(poolboard, "poolboard wa")
    for line in ("poolboard status ", f"poolboard logs {run_id[:3]}", "poolboard each --resume ", "poolboard retry "):
        assert run_id in completed(poolboard, line), line
    assert completed(poolboard, f"poolboard logs {run_id} ") == ["0", "1", "2"]
    assert completed(poolboard, "poolboard status zzz") == []
    assert completed(poolboard, "poolboard themes show pa") == ["paper"]
    assert "workers" in completed(poolboard, "poolboard config get w")


def test_completion_of_a_journal_that_is_none_offers_nothing_and_says_nothing(
    poolboard: Poolboard, nothing: str
) -> None:
    assert completed(poolboard, "poolboard status ", {"POOLBOARD_JOURNAL": nothing}) == []
    assert completed(poolboard, "poolboard status ", {"POOLBOARD_WORKERS": "broken"}) == []


def test_completion_loads_neither_the_screen_nor_an_event_loop(poolboard: Poolboard, nothing: str) -> None:
    poolboard("run", nothing, "--json")
    program = (
        "import sys\nfrom poolboard.__main__ import main\ntry:\n    main([])\nexcept SystemExit:\n    pass\n"
        "print({'textual', 'pydantic_settings', 'asyncio'} & set(sys.modules))"
    )
    env = {**os.environ, "_POOLBOARD_COMPLETE": "complete_bash", "COMP_WORDS": "poolboard status ", "COMP_CWORD": "2"}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=60)
    assert len(done.stdout.splitlines()) == 2, done.stderr
    assert done.stdout.splitlines()[-1] == "set()"


def test_the_script_for_a_shell_can_be_shown(poolboard: Poolboard) -> None:
    answer = poolboard("--show-completion", "bash")
    assert "_POOLBOARD_COMPLETE" in answer.out or "_POOLBOARD_COMPLETE" in poolboard("--show-completion").out


# --- colours ----------------------------------------------------------------------------------------------------------


def test_an_error_is_coloured_on_a_terminal_only(poolboard: Poolboard) -> None:
    assert on_terminal("pause", "nobody").text.startswith("\x1b[1;31mpoolboard:\x1b[0m run 'nobody' not found")
    assert "\x1b" not in poolboard("pause", "nobody").err


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_who_wants_no_colours_gets_none(env: dict[str, str]) -> None:
    answer = on_terminal("pause", "nobody", env=env)
    assert (answer.code, "\x1b" in answer.text) == (exit_codes.MISTAKE, False)


@pytest.mark.slow
def test_notify_rings_a_terminal_when_the_run_has_ended_and_no_file(poolboard: Poolboard, nothing: str) -> None:
    assert on_terminal("run", nothing, "--notify").text.count("\x1b]9;poolboard: nothing is completed\x1b\\\x07") == 1
    assert "\x07" not in on_terminal("run", nothing).text
    answer = poolboard("run", nothing, "--notify")
    assert "\x07" not in answer.out + answer.err


# --- streams ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_quiet_leaves_the_result(poolboard: Poolboard, nothing: str) -> None:
    answer = poolboard("run", nothing, "--quiet")
    assert (answer.code, answer.out, answer.err) == (0, "result: 1\n", "")


def test_stdin_is_left_to_who_comes_after(nothing: str) -> None:
    line = f"{sys.executable} -m poolboard run {nothing} --quiet; {sys.executable} -m poolboard list >/dev/null; cat"
    done = subprocess.run(["/bin/sh", "-c", line], input="mine\n", capture_output=True, text=True, timeout=110)
    assert done.stdout == "result: 1\nmine\n"


@pytest.mark.slow
def test_b59_a_reader_that_takes_only_the_beginning_is_no_error(poolboard: Poolboard, nothing: str) -> None:
    run_id = json.loads(poolboard("run", nothing, "--json").out.splitlines()[-1])["run_id"]
    poolboard_ = f"{sys.executable} -m poolboard"
    for line in (f"{poolboard_} status --json | head -c 1", f"{poolboard_} journal export {run_id} | head -1"):
        done = subprocess.run(["bash", "-c", f"{line}; echo ${{PIPESTATUS[0]}} >&2"], capture_output=True, text=True)
        assert done.stderr.strip() in ("0", str(exit_codes.BROKEN_PIPE)), done.stderr
        assert done.stdout


def test_b59_a_full_disk_under_stdout_is_one_line_and_no_success(poolboard: Poolboard) -> None:
    line = f"{sys.executable} -m poolboard themes list > /dev/full"
    done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, timeout=60)
    assert done.returncode == exit_codes.STORAGE
    assert done.stderr.count("\n") == 1 and "Traceback" not in done.stderr


@pytest.mark.slow
def test_b59_json_stays_json_with_debug_on(poolboard: Poolboard, nothing: str) -> None:
    poolboard("run", nothing, "--json")
    answer = poolboard("--debug", "status", "--json")
    assert json.loads(answer.out)["status"] == "completed"


# --- hooks ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_hook_of_the_line_goes_before_the_settings_own_and_an_empty_one_takes_it_away(
    poolboard: Poolboard, nothing: str, tmp_path: Path
) -> None:
    env = {"POOLBOARD_ON_COMPLETE": f"touch {tmp_path}/set", "POOLBOARD_ON_FAILURE": f"touch {tmp_path}/set"}
    words = ("--on-complete", f"cat > {tmp_path}/told", "--on-failure", "", "--on-blocked", "true")
    answer = poolboard("run", nothing, "--workers", "1", "--headless", *words, env=env)
    assert answer.code == 0, answer.err
    run_id = json.loads(poolboard("list", "--json").out)[0]["run_id"]
    header = json.loads(poolboard("journal", "export", run_id).out.splitlines()[0])["run"]["header"]
    assert json.loads(header)["hooks"] == {"on_complete": f"cat > {tmp_path}/told", "on_blocked": "true"}
    until((tmp_path / "told").exists, "the hook")

"""``poolboard each`` as a person and a script see it: what it says, what items are, how commands are run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from poolboard import exit_codes
from tests.each_rig import GATED, PATIENCE_S, Poolboard, has_rested, run_of, started, until

HEAD = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand"


@pytest.fixture(autouse=True)
def gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file that GATED commands wait for."""
    monkeypatch.setenv("GATE", str(tmp_path / "gate"))
    return tmp_path / "gate"


# --- what it says -----------------------------------------------------------------------------------------------------


def test_stdout_is_what_the_commands_said_and_nothing_else(poolboard: Poolboard) -> None:
    answer = poolboard("each", "echo out {}; echo complaint {} >&2", ":::", "a", "b c", "d")
    assert answer.code == exit_codes.COMPLETED
    assert sorted(answer.out.splitlines()) == ["out a", "out b c", "out d"]
    assert sorted(line for line in answer.err.splitlines() if line.startswith("complaint")) == [
        "complaint a",
        "complaint b c",
        "complaint d",
    ]
    assert "completed" in answer.err


@pytest.mark.slow
def test_quiet_leaves_only_what_the_commands_complain_of(poolboard: Poolboard) -> None:
    answer = poolboard("each", "--quiet", "echo {}; echo complaint >&2", ":::", "a")
    assert (answer.code, answer.out, answer.err) == (0, "a\n", "complaint\n")


def test_with_keep_order_the_output_comes_in_the_order_of_the_items(poolboard: Poolboard, gate: Path) -> None:
    command = (
        f'if [ {{}} = 1 ]; then {GATED} fi; echo start {{}}; if [ {{}} = 4 ]; then touch "$GATE"; fi; echo end {{}}'
    )
    answer = poolboard("each", "-k", "-j2", command, stdin="1\n2\n3\n4\n5\n")
    assert answer.out.split("\n") == [f"{word} {n}" for n in range(1, 6) for word in ("start", "end")] + [""]


def test_outputs_of_commands_that_run_at_once_are_not_mixed(poolboard: Poolboard) -> None:
    answer = poolboard("each", "-j", "4", "for i in 1 2 3; do echo {} $i; sleep 0.02; done", ":::", *"abcdefgh")
    told = answer.out.split("\n")[:-1]
    assert sorted(told) == sorted(f"{item} {i}" for item in "abcdefgh" for i in (1, 2, 3))
    assert all(len({line[0] for line in told[start : start + 3]}) == 1 for start in range(0, 24, 3))


def test_a_failed_item_is_told_with_its_reason_and_its_command_and_the_rest_goes_on(poolboard: Poolboard) -> None:
    answer = poolboard("each", "-k", "echo {}; test {} != b || exit 7", ":::", "a", "b", "c")
    assert answer.code == exit_codes.FAILED
    assert answer.out == "a\nb\nc\n"
    assert "item 2 failed: stage command: CommandFailed: exit code 7: echo b; test b != b || exit 7" in answer.err
    run = run_of(poolboard)
    assert (run["status"], run["error"]) == ("failed", "ItemsFailed: 1 of 3 items failed")
    assert f"poolboard each --retry-failed {run['run_id']}" in answer.err


@pytest.mark.slow
def test_so_many_failures_as_are_allowed_are_none(poolboard: Poolboard) -> None:
    command = ["each", "-q", "exit {}", ":::", "0", "1", "2"]
    assert poolboard(*command[:1], "--allow-failures", "2", *command[1:]).code == exit_codes.COMPLETED
    assert poolboard(*command[:1], "--allow-failures", "1", *command[1:]).code == exit_codes.FAILED


@pytest.mark.slow
def test_json_is_a_line_per_item_and_the_end(poolboard: Poolboard) -> None:
    answer = poolboard("each", "--json", "echo {}; echo no >&2; exit {}", ":::", "0", "3")
    told = [json.loads(line) for line in answer.out.splitlines()]
    items = {line["n"]: line for line in told if line["type"] == "item"}
    assert (items[1]["status"], items[1]["exit_code"], items[1]["stdout"]) == ("completed", 0, "0\n")
    assert (items[2]["status"], items[2]["exit_code"], items[2]["stderr"]) == ("failed", 3, "no\n")
    assert (told[-1]["type"], told[-1]["status"]) == ("result", "failed")


def test_a_dry_run_prints_the_commands_and_leaves_nothing_behind(poolboard: Poolboard, own_folders: Path) -> None:
    answer = poolboard("each", "--dry-run", "-n2", "mv {} {#}", ":::", "a b", "c", "d")
    assert answer.out == "mv 'a b' c 1\nmv d 2\n"
    assert [path for path in own_folders.rglob("*") if path.is_file()] == []


# --- items ------------------------------------------------------------------------------------------------------------


def test_hostile_names_are_names(poolboard: Poolboard, tmp_path: Path) -> None:
    names = ["a b", "it's", 'q"q', "new\nline", "$(touch owned)", "`touch owned`", "-rf", "*", os.fsdecode(b"\xff\x80")]
    for name in names:
        (tmp_path / name).write_text(f"text of {name!r}")
    listed = b"".join(os.fsencode(name) + b"\0" for name in names)
    done = subprocess.run(
        [sys.executable, "-m", "poolboard", "each", "-q", "-k", "-0", "cat -- {}; printf '|'"],
        input=listed,
        cwd=tmp_path,
        capture_output=True,
        timeout=110,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode().split("|")[:-1] == [f"text of {name!r}" for name in names]
    assert not (tmp_path / "owned").exists()


@pytest.mark.slow
def test_without_a_shell_nothing_is_read_as_code(poolboard: Poolboard) -> None:
    answer = poolboard("each", "-q", "-k", "--argv", "printf", "%s|", "{}", "$HOME; {/}", ":::", "/a b", "$(id)")
    assert answer.out == "/a b|$HOME; a b|$(id)|$HOME; $(id)|"


@pytest.mark.slow
def test_items_that_look_like_options_are_items(poolboard: Poolboard) -> None:
    answer = poolboard("each", "-q", "-k", "echo x{}", ":::", "--help", "-j", "--debug", "--", "--version")
    assert answer.out == "x--help\nx-j\nx--debug\nx--\nx--version\n"


@pytest.mark.slow
def test_a_row_of_a_table_is_an_item(poolboard: Poolboard, tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text('lr,seed\n0.1,"a, b"\n0.2,$(id)\n')
    command = ["each", "-q", "-k", "--csv", "jobs.csv", 'echo --lr {lr} --seed "{seed}"']
    assert poolboard(*command, cwd=tmp_path).out == "--lr 0.1 --seed a, b\n--lr 0.2 --seed $(id)\n"


@pytest.mark.slow
def test_commands_get_nothing_from_stdin(poolboard: Poolboard) -> None:
    answer = poolboard("each", "-q", "-k", "-j1", "cat; echo {}", stdin="one\ntwo\nthree\n")
    assert answer.out == "one\ntwo\nthree\n"


@pytest.mark.slow
def test_no_items_are_no_run(poolboard: Poolboard) -> None:
    answer = poolboard("each", "echo {}", stdin="")
    assert (answer.code, answer.out) == (0, "")
    assert "nothing to do" in answer.err
    assert json.loads(poolboard("list", "--json").out) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--halt", "later", "x", ":::", "a"], "--halt"),
        (["--timeout", "soon", "x", ":::", "a"], "--timeout"),
        (["-j", "0", "x", ":::", "a"], "--jobs"),
        (["--csv", "missing.csv", "x {a}"], "missing.csv"),
        (["--env", "NOT_SET_ANYWHERE", "x", ":::", "a"], "NOT_SET_ANYWHERE"),
        (["--cwd", "/not/there", "x", ":::", "a"], "/not/there"),
        (["--joblog", "/not/there/log", "x", ":::", "a"], "/not/there/log"),
        (["echo `cat {}`", ":::", "a"], "backquote"),
        (["x", ":::", "a", ":::", "b"], "second :::"),
        (["x", "::::", "list"], "::::"),
        (["--detach", "--keep-order", "x", ":::", "a"], "--detach"),
        (["--resume", "abc", "--retry-failed", "abc"], "exclude"),
        ([":::", "a"], "no command"),
    ],
)
def test_a_mistake_is_one_line_and_starts_nothing(
    poolboard: Poolboard, tmp_path: Path, words: list[str], told: str
) -> None:
    answer = poolboard("each", *words, cwd=tmp_path)
    assert answer.code == exit_codes.MISTAKE, answer.err
    assert answer.err.count("\n") == 1
    assert told in answer.err
    assert json.loads(poolboard("list", "--json").out) == []


# --- how commands are run ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_command_that_takes_too_long_is_ended_and_named(poolboard: Poolboard, gate: Path) -> None:
    answer = poolboard("each", "--timeout", "0.3", GATED, ":::", "a")
    assert answer.code == exit_codes.FAILED
    assert "item 1 failed: stage command: TimeoutError: took longer than 0.3 s" in answer.err


@pytest.mark.slow
def test_a_command_that_succeeds_on_its_second_try_has_succeeded(poolboard: Poolboard, tmp_path: Path) -> None:
    command = "echo half; test -e {} || { touch {}; exit 1; }; echo whole"
    answer = poolboard("each", "--retries", "1", command, ":::", str(tmp_path / "tried"))
    assert (answer.code, answer.out) == (exit_codes.COMPLETED, "half\nwhole\n")


@pytest.mark.slow
def test_the_folder_and_the_variables_are_what_was_asked_for(poolboard: Poolboard, tmp_path: Path) -> None:
    answer = poolboard(
        "each", "-q", "--cwd", str(tmp_path), "--env", "COLOUR=deep blue", "pwd; echo ${#COLOUR} #", ":::", "a"
    )
    assert answer.out == f"{tmp_path}\n9\n"


@pytest.mark.slow
def test_so_many_commands_run_at_once_as_were_asked_for_each_in_a_place_of_its_own(
    poolboard: Poolboard, tmp_path: Path
) -> None:
    # mkdir fails if another command is in the same place; the count of folders is how many run.
    command = "mkdir place{%} && ls -d place* | wc -l && sleep 0.1 && rmdir place{%} # {}"
    answer = poolboard("each", "-q", "-j", "3", command, stdin="".join(f"{n}\n" for n in range(12)), cwd=tmp_path)
    assert answer.code == 0, answer.err
    assert max(map(int, answer.out.split())) == 3


@pytest.mark.slow
def test_results_are_copied_to_a_folder_per_item(poolboard: Poolboard, tmp_path: Path) -> None:
    poolboard("each", "-q", "--results", "out", "echo {}; echo no >&2; exit {}", ":::", "0", "1", cwd=tmp_path)
    found = {str(path.relative_to(tmp_path)): path.read_text() for path in tmp_path.rglob("std*")}
    assert found == {"out/1/stdout": "0\n", "out/1/stderr": "no\n", "out/2/stdout": "1\n", "out/2/stderr": "no\n"}


@pytest.mark.slow
def test_the_job_log_has_gnu_parallels_columns(poolboard: Poolboard, tmp_path: Path) -> None:
    log = tmp_path / "jobs.log"
    items = ["echo abc", "exit 5", "kill -9 $$", "sleep 60"]
    answer = poolboard("each", "-q", "--timeout", "2", "--joblog", str(log), 'eval "{}"', ":::", *items)
    assert answer.code == exit_codes.FAILED
    head, *rows = log.read_text().splitlines()
    assert head == HEAD
    told = {int(cells[0]): cells for cells in (row.split("\t") for row in rows)}
    # Receive, Exitval, Signal: a timeout shows as SIGTERM without an exit value.
    assert {n: (int(c[5]), int(c[6]), int(c[7])) for n, c in told.items()} == {
        1: (4, 0, 0),
        2: (0, 5, 0),
        3: (0, -1, 9),
        4: (0, -1, 15),
    }
    assert told[1][8] == 'eval ""\'echo abc\'""'
    assert abs(float(told[1][2]) - time.time()) < 3600


# --- pipes ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_first_command_runs_while_the_pipe_is_still_open(poolboard: Poolboard, tmp_path: Path) -> None:
    with started("-q", "touch {}") as process:
        assert process.stdin is not None
        process.stdin.write(os.fsencode(tmp_path / "first") + b"\n")
        process.stdin.flush()
        until((tmp_path / "first").exists, "the first command")
        process.stdin.write(os.fsencode(tmp_path / "second") + b"\n")
        process.stdin.flush()
        until((tmp_path / "second").exists, "the second command")
        process.stdin.close()
        assert process.wait(timeout=PATIENCE_S) == 0


@pytest.mark.slow
def test_a_list_of_thousands_runs_every_item_once(poolboard: Poolboard, tmp_path: Path) -> None:
    answer = poolboard(
        "each", "-q", "-j4", "-n", "10", "printf '%s\\n' {}", stdin="".join(f"{n}\n" for n in range(8000))
    )
    assert answer.code == 0
    assert sorted(map(int, answer.out.split())) == list(range(8000))


@pytest.mark.slow
def test_a_reader_that_goes_away_ends_it_without_noise(poolboard: Poolboard, gate: Path) -> None:
    with started("-k", "-j1", f"echo {{}}; test {{}} = 1 || {{ {GATED} }}", ":::", "1", "2", "3") as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == b"1\n"
        process.stdout.close()
        gate.touch()
        said = process.stderr.read().decode()
        assert process.wait(timeout=PATIENCE_S) == exit_codes.BROKEN_PIPE
    assert "Traceback" not in said and "rror" not in said
    assert "the run goes on" in said
    run_id = str(run_of(poolboard)["run_id"])
    until(lambda: has_rested(poolboard, run_id), "the run's end")
    assert run_of(poolboard)["status"] == "completed"


@pytest.mark.slow
def test_who_interrupts_it_leaves_the_run_going_on(poolboard: Poolboard, tmp_path: Path, gate: Path) -> None:
    with started("-j1", f"touch {{}}; {GATED}", ":::", str(tmp_path / "begun")) as process:
        assert process.stderr is not None
        until((tmp_path / "begun").exists, "the command")
        process.send_signal(signal.SIGINT)
        said = process.stderr.read().decode()
        assert process.wait(timeout=PATIENCE_S) == exit_codes.INTERRUPTED
    run_id = str(run_of(poolboard)["run_id"])
    assert f"poolboard watch {run_id}" in said
    gate.touch()
    until(lambda: has_rested(poolboard, run_id), "the run's end")
    assert run_of(poolboard)["status"] == "completed"

"""``poolboard each`` when things go wrong: kills, lists that are cut off, halts, retries, secrets."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import psutil
import pytest

from poolboard import exit_codes
from tests.each_rig import GATED, PATIENCE_S, Poolboard, has_rested, lines, run_of, started, until


@pytest.fixture(autouse=True)
def gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file that GATED commands wait for."""
    monkeypatch.setenv("GATE", str(tmp_path / "gate"))
    return tmp_path / "gate"


def until_told(count: int) -> None:
    """Return when a reader has noted that it has told of so many items: the last one is in doubt until then."""
    runs = Path(os.environ["XDG_STATE_HOME"]) / "poolboard" / "runs"
    until(lambda: sum(file.stat().st_size for file in runs.glob("*/told")) >= 8 * count, "the note of what was told")


# --- kills ------------------------------------------------------------------------------------------------------------


def processes_of(run_id: str) -> list[psutil.Process]:
    """Return the coordinator of a run and everything below it."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        if run_id in (process.info["cmdline"] or []):
            found += [process, *process.children(recursive=True)]
    return found


def kill_all(run_id: str) -> None:
    for process in processes_of(run_id):
        if process.is_running():
            process.kill()


def test_everything_is_killed_in_the_middle_and_resume_runs_only_what_was_not_done(
    poolboard: Poolboard, tmp_path: Path, gate: Path
) -> None:
    effects = tmp_path / "effects"
    command = f"if [ {{}} -gt 20 ]; then {GATED} fi; echo {{}} >>{effects}; echo out {{}}"
    log = str(tmp_path / "jobs.log")
    with started("-j2", "--joblog", log, command, ":::", *map(str, range(1, 41))) as process:
        until(lambda: len(lines(effects)) == 20, "half of the commands")
        run_id = str(run_of(poolboard)["run_id"])
        until(lambda: int(run_of(poolboard)["children"]["completed"]) == 20, "their record")  # type: ignore[index]
        assert process.stdout is not None
        told = [process.stdout.readline().decode() for _ in range(20)]
        until_told(20)
        process.kill()
        kill_all(run_id)
    assert run_of(poolboard)["status"] == "crashed"
    gate.touch()
    answer = poolboard("each", "--resume", run_id, "--joblog", log)
    assert answer.code == exit_codes.COMPLETED, answer.err
    assert sorted(map(int, lines(effects))) == list(range(1, 41))
    assert sorted([*told, *answer.out.splitlines(keepends=True)]) == sorted(f"out {n}\n" for n in range(1, 41))
    rows = Path(log).read_text().splitlines()[1:]
    assert sorted(int(row.split("\t")[0]) for row in rows) == list(range(1, 41))


@pytest.mark.slow
def test_a_coordinator_that_is_killed_comes_back_and_no_output_is_lost_or_told_twice(
    poolboard: Poolboard, tmp_path: Path, gate: Path
) -> None:
    command = f"if [ {{}} -gt 5 ]; then {GATED} fi; echo {{}}"
    with started("-j2", command, ":::", *map(str, range(1, 21))) as process:
        assert process.stdout is not None
        first = [process.stdout.readline() for _ in range(5)]
        owner = json.loads(poolboard("status", "--json").out)["coordinator"]
        os.kill(owner["pid"], signal.SIGKILL)
        gate.touch()
        rest = process.stdout.read().split()
        assert process.wait(timeout=PATIENCE_S) == 0
    assert sorted(int(line) for line in (*first, *rest)) == list(range(1, 21))


@pytest.mark.slow
def test_a_list_whose_reader_is_killed_blocks_the_run_until_it_is_given_again(
    poolboard: Poolboard, tmp_path: Path
) -> None:
    effects = tmp_path / "effects"
    command = f"echo {{}} >>{effects}; echo out {{}}"
    with started(command) as process:
        assert process.stdin is not None
        process.stdin.write(b"1\n2\n3\n")
        process.stdin.flush()
        until(lambda: len(lines(effects)) == 3, "the first commands")
        assert process.stdout is not None
        told = [process.stdout.readline().decode() for _ in range(3)]
        until_told(3)
        process.kill()
    run_id = str(run_of(poolboard)["run_id"])
    until(lambda: has_rested(poolboard, run_id) == "blocked", "the run to be blocked")
    status = json.loads(poolboard("status", run_id, "--json").out)
    assert f"cut off after 3: give it again, whole: poolboard each --resume {run_id[:8]}" in status["error"]
    watched = poolboard("watch", run_id)
    assert watched.code == exit_codes.BLOCKED
    # One piece of advice, not two that differ.
    assert (watched.out.count("poolboard each --resume"), watched.out.count("poolboard resume")) == (1, 0)

    other = poolboard("each", "--resume", run_id, stdin="1\nzwei\n3\n4\n")
    assert other.code == exit_codes.BLOCKED
    assert "item 2 is not the one that it was" in other.err

    answer = poolboard("each", "--resume", run_id, stdin="1\n2\n3\n4\n5\n")
    assert answer.code == exit_codes.COMPLETED, answer.err
    assert sorted([*told, *answer.out.splitlines(keepends=True)]) == [f"out {n}\n" for n in range(1, 6)]
    assert sorted(lines(effects)) == ["1", "2", "3", "4", "5"]


@pytest.mark.slow
def test_a_whole_list_is_not_asked_for_again_and_another_one_is_refused(
    poolboard: Poolboard, tmp_path: Path, gate: Path
) -> None:
    run_id = poolboard("each", "--detach", GATED + "echo {}", ":::", "a", "b").out.strip()
    assert poolboard("stop", run_id, "--now").code == 0
    until(lambda: has_rested(poolboard, run_id) == "stopped", "the run to be stopped")
    gate.touch()
    other = poolboard("each", "--resume", run_id, ":::", "a", "c")
    assert (other.code, "item 2 is not the one" in other.err) == (exit_codes.MISTAKE, True)
    answer = poolboard("each", "--resume", run_id, ":::", "a", "b")
    assert (answer.code, sorted(answer.out.split())) == (0, ["a", "b"])
    again = poolboard("each", "--resume", run_id)
    assert (again.code, again.out) == (0, "")
    assert "has ended: it is completed" in again.err


@pytest.mark.parametrize("order", [[], pytest.param(["--keep-order"], marks=pytest.mark.slow)])
def test_what_ended_while_nobody_read_is_told_by_resume_and_only_once(
    poolboard: Poolboard, tmp_path: Path, gate: Path, order: list[str]
) -> None:
    command = f"if [ {{}} -gt 2 ]; then {GATED} fi; echo {{}}"
    with started("-j2", *order, command, ":::", *map(str, range(1, 9))) as process:
        assert process.stdout is not None
        first = [process.stdout.readline().decode().strip() for _ in range(2)]
        until_told(2)
        process.kill()
    run_id = str(run_of(poolboard)["run_id"])
    gate.touch()
    until(lambda: has_rested(poolboard, run_id) == "completed", "the run to end by itself")
    late = poolboard("each", "--resume", run_id, *order)
    rest = late.out.split()
    assert late.code == 0, late.err
    assert sorted([*first, *rest]) == list("12345678")
    assert not order or rest == sorted(rest)
    assert poolboard("each", "--resume", run_id).out == ""


@pytest.mark.slow
def test_a_failed_command_is_told_by_its_exit_code_its_text_and_its_last_lines(
    poolboard: Poolboard, tmp_path: Path
) -> None:
    command = "for n in $(seq 30); do echo line $n >&2; done; printenv TOKEN >&2; exit 3 # {}"
    for form in ([], ["--argv", "sh", "-c"]):
        line = [*form, command] if form else [command]
        poolboard("each", "-q", "--env", f"TOKEN={SECRET}", *line, ":::", "a")
        run_id = str(run_of(poolboard)["run_id"])
        (event,) = poolboard("events", run_id, "--type", "WorkFailed", "--json").out.splitlines()[:1]
        account = json.loads(event)["payload"]["failure"]["traceback"]
        head, told, *rest = account.splitlines()
        assert head == "exit code 3"
        assert told.startswith("command: ") and "printenv TOKEN" in told
        assert "POOLBOARD_OUTPUT" not in account and "Traceback" not in account and SECRET not in account
        assert rest == ["its last lines:", *(f"  line {n}" for n in range(12, 31)), "  ***"]
        assert poolboard("logs", run_id, "1", "run").out.startswith("exit code 3\ncommand: ")


@pytest.mark.slow
def test_the_job_log_tells_how_long_the_last_try_took_without_the_pause_before_it(
    poolboard: Poolboard, tmp_path: Path
) -> None:
    log = tmp_path / "jobs.log"
    command = f"mkdir {tmp_path}/tried 2>&- && exit 1; true # {{}}"
    assert poolboard("each", "-q", "--retries", "1", "--joblog", str(log), command, ":::", "a").code == 0
    run_id = str(run_of(poolboard)["run_id"])
    found = poolboard("events", run_id, "--type", "CheckpointRecorded", "--json").out.splitlines()
    last = [json.loads(line)["payload"] for line in found if json.loads(line)["n"] == 1][-1]
    cells = log.read_text().splitlines()[1].split("\t")
    assert round(float(cells[2]) * 1000) == last["started_at"]
    assert round(float(cells[3]) * 1000) == last["completed_at"] - last["started_at"]


# --- giving up, and trying again --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_halt_now_ends_what_runs_and_starts_nothing_more(poolboard: Poolboard, tmp_path: Path) -> None:
    command = f"touch {tmp_path}/begun{{#}}; if [ {{#}} = 1 ]; then {GATED} exit 1; else sleep 600; fi # {{}}"
    with started("-j2", "--halt", "now,fail=1", command, ":::", *"abcdefgh") as process:
        until((tmp_path / "begun2").exists, "the second command")
        (tmp_path / "gate").touch()
        assert process.wait(timeout=PATIENCE_S) == exit_codes.FAILED
    run = run_of(poolboard)
    assert run["error"] == "Halted: 1 of 8 items failed (--halt now,fail=1); the rest was not run"
    assert run["children"]["cancelled"] >= 6  # type: ignore[index]


@pytest.mark.slow
def test_halt_soon_lets_what_runs_end_and_what_was_not_run_can_be_run_later(
    poolboard: Poolboard, tmp_path: Path, gate: Path
) -> None:
    effects = tmp_path / "effects"
    second, ordered = tmp_path / "second", "$XDG_STATE_HOME/poolboard/runs/*/halted"
    command = (
        f"case {{#}} in 1) until [ -e {second} ]; do sleep 0.02; done; test -e $GATE;; "
        f"2) touch {second}; until ls {ordered}; do sleep 0.02; done >&2;; esac && echo {{}} | tee -a {effects}"
    )
    answer = poolboard("each", "-q", "-j2", "--halt", "soon,fail=1", command, ":::", *"abcdefgh")
    assert answer.code == exit_codes.FAILED
    # The second command was running, saw that it is over, and ended as if nothing had been.
    assert lines(effects) == ["b"]
    run = run_of(poolboard)
    assert run["children"]["completed"] == 1  # type: ignore[index]
    assert run["children"]["failed"] == 1  # type: ignore[index]
    gate.touch()
    again = poolboard("each", "--retry-failed", str(run["run_id"]), "-k")
    assert again.code == exit_codes.COMPLETED, again.err
    assert again.out.split() == list("acdefgh")
    assert sorted(lines(effects)) == list("abcdefgh")


@pytest.mark.slow
def test_only_what_failed_is_tried_again(poolboard: Poolboard, tmp_path: Path, gate: Path) -> None:
    effects, log = tmp_path / "effects", tmp_path / "jobs.log"
    command = f'echo {{}} >>{effects}; test {{}} != b || test -e "$GATE"'
    assert poolboard("each", "-q", "--joblog", str(log), command, ":::", "a", "b", "c").code == exit_codes.FAILED
    gate.touch()
    run_id = str(run_of(poolboard)["run_id"])
    answer = poolboard("each", "-q", "--joblog", str(log), "--retry-failed", run_id)
    assert answer.code == exit_codes.COMPLETED, answer.err
    assert sorted(lines(effects)) == ["a", "b", "b", "c"]
    told = [row.split("\t") for row in log.read_text().splitlines()[1:]]
    assert sorted((cells[0], cells[6]) for cells in told) == [("1", "0"), ("2", "0"), ("2", "1"), ("3", "0")]
    assert poolboard("each", "--retry-failed", run_id).code == exit_codes.MISTAKE


# --- secrets ----------------------------------------------------------------------------------------------------------

SECRET = "S3CR-77-VALUE"


@pytest.mark.slow
def test_a_secret_is_in_the_commands_environment_and_nowhere_else(
    poolboard: Poolboard, own_folders: Path, tmp_path: Path, gate: Path
) -> None:
    command = (
        f'printf %s "$TOKEN" | wc -c; echo "$TOKEN" | tee /dev/stderr; touch {tmp_path}/begun; {GATED} exit 1 # {{}}'
    )
    with started("--json", "--env", f"TOKEN={SECRET}", command, ":::", "a") as process:
        assert process.stdout is not None and process.stderr is not None
        until((tmp_path / "begun").exists, "the command")
        told = " ".join(" ".join(p.info["cmdline"] or []) for p in psutil.process_iter(["cmdline"]))
        assert "TOKEN" in told and SECRET not in told
        run_id = str(run_of(poolboard)["run_id"])
        answers = [poolboard(*words, "--json").out for words in (("status", run_id), ("logs", run_id, "1"))]
        gate.touch()
        out, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == exit_codes.FAILED
    items = [json.loads(line) for line in out.splitlines() if b'"item"' in line]
    assert (items[0]["stdout"], items[0]["stderr"]) == (f"{len(SECRET)}\n***\n", "***\n")
    assert SECRET not in "".join(answers) and SECRET.encode() not in out + err
    for path in own_folders.rglob("*"):
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes(), path


@pytest.mark.slow
def test_a_run_whose_secret_is_gone_says_so_and_takes_it_again(
    poolboard: Poolboard, tmp_path: Path, gate: Path
) -> None:
    command = [
        "each",
        "--detach",
        "--env",
        f"TOKEN={SECRET}",
        "-j1",
        f'{GATED} echo "$TOKEN" | wc -c # {{}}',
        ":::",
        "a",
        "b",
    ]
    run_id = poolboard(*command).out.strip()
    assert poolboard("stop", run_id, "--now").code == 0
    until(lambda: has_rested(poolboard, run_id) == "stopped", "the run to be stopped")
    gate.touch()
    assert poolboard("resume", run_id).code == exit_codes.BLOCKED
    assert "TOKEN is not in the environment" in json.loads(poolboard("status", run_id, "--json").out)["error"]
    refused = poolboard("each", "--resume", run_id)
    assert (refused.code, "--env TOKEN=" in refused.err) == (exit_codes.MISTAKE, True)
    answer = poolboard("each", "-q", "--resume", run_id, "--env", f"TOKEN={SECRET}")
    assert (answer.code, answer.out) == (0, f"{len(SECRET) + 1}\n" * 2)


@pytest.mark.slow
def test_a_run_that_something_else_started_is_refused(poolboard: Poolboard, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "from poolboard import Context, workflow\n@workflow\nasync def each(ctx: Context) -> int:\n    return 1\n"
    )
    poolboard("run", str(tmp_path / "own.py"), "--workers", "1")
    answer = poolboard("each", "--resume", str(run_of(poolboard)["run_id"]))
    assert answer.code == exit_codes.MISTAKE
    assert "was not started by poolboard each" in answer.err

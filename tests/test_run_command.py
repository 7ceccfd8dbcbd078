"""``poolboard run``: arguments in three ways, told by name, a bar in a terminal, a fresh run at each save."""

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

TYPED = '''
from __future__ import annotations
from datetime import date
from pathlib import Path
from poolboard import Context, workflow

@workflow
async def report(
    ctx: Context, count: int, names: list[str], since: date | None = None, out: Path = Path("/tmp")
) -> str:
    """Write a report.

    One line each.
    """
    return f"{count!r} {names!r} {since!r} {out!r}"
'''


@pytest.fixture
def typed(tmp_path: Path) -> str:
    (tmp_path / "typed.py").write_text(TYPED)
    return str(tmp_path / "typed.py")


def last_line(answer: Answer) -> dict[str, object]:
    assert answer.code == exit_codes.COMPLETED, answer.err
    found: dict[str, object] = json.loads(answer.out.splitlines()[-1])
    return found


@pytest.mark.slow
def test_arguments_come_as_words_json_and_a_file_and_are_read_by_their_types(
    poolboard: Poolboard, typed: str, tmp_path: Path
) -> None:
    (tmp_path / "more.json").write_text('{"since": "2026-01-02"}')
    mixed = ["--input", "count=3", "--input-json", '{"names": ["a", "3"]}', "--input-file", str(tmp_path / "more.json")]
    end = last_line(poolboard("run", typed, *mixed, "--workers", "1", "--json"))
    assert end["shape"] == 1
    assert end["result"] == "3 ['a', '3'] datetime.date(2026, 1, 2) PosixPath('/tmp')"
    piped = poolboard(
        "run", typed, "--input-file", "-", "--workers", "1", "--json", stdin='{"count": 4, "names": [], "out": "x"}'
    )
    assert last_line(piped)["result"] == "4 [] None PosixPath('x')"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--input-json", '{"count": '], "--input-json: line 1, column 11: Expecting value"),
        (["--input-json", "[1]"], "--input-json: write an object"),
        (["--input-json", '{"count": NaN}'], "NaN is not JSON"),
        (["--input-json", "[" * 100_000], "--input-json: "),
        (["--input", "count=1", "--input-json", '{"count": 2}'], "count is given twice"),
        (["--input-file", "/nowhere.json"], "--input-file /nowhere.json: No such file"),
        (["--input-json", '{"count": 1.5, "names": []}'], "report(count)"),
        (["--input-json", '{"count": 1, "names": [1]}'], "report(names): $[0]"),
        (["--input-json", '{"count": 1}'], "needs 'names'"),
        (["--watch", "--detach", "--input", "count=1"], "--watch and --detach"),
    ],
)
def test_a_mistake_in_the_arguments_is_one_line_and_makes_nothing(
    poolboard: Poolboard, own_folders: Path, typed: str, words: list[str], said: str
) -> None:
    answer = poolboard("run", typed, *words)
    assert (answer.code, answer.out, answer.err.count("\n")) == (exit_codes.MISTAKE, "", 1), answer.err
    assert said in answer.err
    assert not list(own_folders.rglob("journal.sqlite"))


@pytest.mark.slow
def test_what_a_workflow_takes_is_told_with_types_defaults_and_its_doc(
    poolboard: Poolboard, own_folders: Path, typed: str
) -> None:
    lines = poolboard("run", typed, "--help-inputs").out.splitlines()
    assert lines[:4] == ["report", "  Write a report.", "", "  One line each."]
    assert [line.split() for line in lines[5:]] == [
        ["count", "int", "required"],
        ["names", "list[str]", "required"],
        ["since", "datetime.date", "|", "None", "default:", "None"],
        ["out", "Path", "default:", "PosixPath('/tmp')"],
    ]
    told = json.loads(poolboard("run", typed, "--help-inputs", "--json").out)
    assert (told["shape"], told["workflow"], told["inputs"][0]["type"]) == (1, "report", "int")
    assert poolboard("run", typed + ":nothing", "--help-inputs").code == exit_codes.MISTAKE
    assert not list(own_folders.rglob("journal.sqlite"))


@pytest.mark.slow
def test_left_alone_a_run_tells_its_id_and_nothing_else(poolboard: Poolboard, typed: str) -> None:
    words = ["run", typed, "--input", "count=1", "--input", "names=[]", "--workers", "1", "--detach"]
    run_id = poolboard(*words).out.strip()
    assert json.loads(poolboard("status", run_id, "--json").out)["run_id"] == run_id
    assert set(json.loads(poolboard(*words, "--json").out)) == {"shape", "run_id"}


@pytest.mark.slow
def test_in_a_terminal_a_headless_run_is_one_line_that_is_drawn_again(typed: str) -> None:
    import pty

    outer, inner = pty.openpty()
    words = ["run", typed, "--input", "count=1", "--input", "names=[]", "--workers", "1", "--headless"]
    with subprocess.Popen(
        [sys.executable, "-m", "poolboard", *words], stdin=inner, stdout=inner, stderr=inner, env={**os.environ}
    ) as process:
        os.close(inner)
        seen = b""
        while True:
            try:
                data = os.read(outer, 65536)
            except OSError:
                break
            if not data:
                break
            seen += data
        os.close(outer)
        assert process.wait(timeout=60) == exit_codes.COMPLETED
    assert "\r\x1b[K░░░".encode() in seen
    # The line is gone before the end is told.
    assert b"\x1b[Kcompleted after" in seen


@pytest.mark.slow
def test_each_save_cancels_the_run_and_starts_a_fresh_one_of_which_nothing_is_reused(
    poolboard: Poolboard, tmp_path: Path
) -> None:
    program = (
        "import pathlib, time\nfrom poolboard import Context, stage, workflow\n"
        "@stage\ndef first() -> int:\n    open({trace!r}, 'a').write('{mark} ')\n    return {value}\n"
        "@stage\ndef rest(hold: bool) -> None:\n    while hold:\n        time.sleep(0.02)\n"
        "@workflow\nasync def job(ctx: Context) -> int:\n"
        "    value = await ctx.stage(first)\n    await ctx.stage(rest, {hold})\n    return value\n"
    )
    trace, file = str(tmp_path / "trace"), tmp_path / "job.py"
    file.write_text(program.format(trace=trace, mark="a", value=1, hold=True))
    command = [sys.executable, "-m", "poolboard", "run", str(file), "--workers", "1", "--watch", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        ends = (line for line in map(json.loads, process.stdout) if line["type"] == "result")
        until_written(Path(trace), "a ")
        file.write_text("def broken(:\n")
        assert next(ends)["status"] == "cancelled"
        assert "job.py was saved: a fresh run, nothing is reused" in process.stderr.readline()
        assert "job.py:1" in process.stderr.readline()
        assert "waiting for job.py to be saved" in process.stderr.readline()
        file.write_text(program.format(trace=trace, mark="b", value=2, hold=False))
        end = next(ends)
        assert (end["status"], end["result"]) == ("completed", 2)
        process.stderr.readline()
        assert "waiting for job.py" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == exit_codes.INTERRUPTED
    assert Path(trace).read_text() == "a b "
    assert [run["status"] for run in json.loads(poolboard("list", "--json").out)] == ["completed", "cancelled"]


def until_written(path: Path, text: str) -> None:
    from tests.each_rig import until

    until(lambda: path.exists() and path.read_text() == text, f"{text!r} in {path.name}")

"""Settings: who is asked in which order, what is refused and how, and that they take effect (B61, B62)."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from poolboard import exit_codes
from poolboard.engine import config_file
from poolboard.engine.config import NAMES, Config, told, variable
from poolboard.engine.config_loading import load
from poolboard.engine.errors import UserMistake
from poolboard.journal.reader import Reader

if TYPE_CHECKING:
    from tests.conftest import Answer

Poolboard = Callable[..., "Answer"]

COUNT = """
from poolboard import Context, workflow

@workflow
async def nothing(ctx: Context) -> int:
    return 1
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a folder of a project; return its file of settings, which is not there yet."""
    (tmp_path / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "deep" / "er")
    return tmp_path / "poolboard.toml"


def mine(own_folders: Path, text: str) -> Path:
    """Write the person's own settings."""
    path = own_folders / "config_home" / "poolboard" / "config.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def refusal() -> str:
    with pytest.raises(UserMistake) as refused:
        load()
    assert "\n" not in str(refused.value)
    return str(refused.value)


# --- order ------------------------------------------------------------------------------------------------------------


def test_without_files_and_variables_all_settings_are_the_defaults(project: Path) -> None:
    loaded = load()
    assert loaded.config == Config()
    assert {loaded.source(name) for name in NAMES} == {"default"}


def test_a_variable_comes_before_the_projects_file_and_that_before_the_persons(
    project: Path, own_folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = mine(own_folders, "workers = 2\nslots = 2\nretries = 2\n")
    project.write_text("# ours\nworkers = 3\n\nslots = 3\n")
    monkeypatch.setenv("POOLBOARD_WORKERS", "4")
    loaded = load()
    assert (loaded.config.workers, loaded.config.slots, loaded.config.retries) == (4, 3, 2)
    assert loaded.source("workers") == "POOLBOARD_WORKERS"
    assert loaded.source("slots") == f"{project}:4"
    assert loaded.source("retries") == f"{user}:3"
    assert loaded.source("jobs") == "default"


def test_the_nearest_project_counts_and_pyproject_may_hold_its_settings(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write_text("workers = 9\n")
    near = project.parent / "deep" / "pyproject.toml"
    near.write_text('[project]\nname = "x"\n\n[tool.poolboard]\nslots = 7\n[tool.poolboard.limits]\ngpu = 2\n')
    loaded = load()
    assert (loaded.config.workers, loaded.config.slots, loaded.config.limits) == (None, 7, {"gpu": 2})
    assert (loaded.source("slots"), loaded.source("limits.gpu")) == (f"{near}:5", f"{near}:7")
    near.write_text('[project]\nname = "uses poolboard, has no settings of it"\n')
    assert load().config.workers == 9
    near.write_text("[broken but not ours\n")
    assert load().config.workers == 9


def test_named_limits_add_up_over_the_sources(
    project: Path, own_folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine(own_folders, '[limits]\ngpu = 1\n"api.burst" = 10\n')
    project.write_text('[limits]\ngpu = 2\napi = "60/min"\n')
    monkeypatch.setenv("POOLBOARD_LIMITS", '{"cpu": 3}')
    loaded = load()
    assert loaded.config.limits == {"gpu": 2, "api.burst": 10, "api": "60/min", "cpu": 3}
    assert loaded.source("limits.gpu") == f"{project}:2"
    assert loaded.source("limits.cpu") == "POOLBOARD_LIMITS"


def test_a_file_of_somebody_else_is_not_obeyed_unless_it_is_named(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write_text("workers = 3\n")
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    if project.stat().st_uid == 0:  # as root the owner is root, who is trusted
        monkeypatch.setattr(config_file, "TRUSTED", frozenset())
    assert "belongs to another user" in refusal()
    monkeypatch.setenv("POOLBOARD_CONFIG", str(project))
    assert load().config.workers == 3


# --- B61: what a variable may be --------------------------------------------------------------------------------------

BOOLEANS = ("ascii", "read_only", "notify", "quiet", "keep_order")


@pytest.mark.parametrize("name", BOOLEANS)
def test_b61_a_variable_set_to_false_switches_nothing_on(
    project: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for word, value in {
        **dict.fromkeys(("true", "TRUE", "1", "yes", "on"), True),
        **dict.fromkeys(("false", "False", "0", "no", "off"), False),
    }.items():
        monkeypatch.setenv(variable(name), word)
        assert getattr(load().config, name) is value, word
    monkeypatch.setenv(variable(name), "")
    assert getattr(load().config, name) == getattr(Config(), name)
    for word in ("maybe", "v1.0", "my_path"):
        monkeypatch.setenv(variable(name), word)
        assert refusal() == f"{variable(name)} is {word!r}: write {told(name).allowed}"


@pytest.mark.parametrize("name", ["workers", "slots", "jobs", "retries", "allow_failures"])
def test_b61_a_number_is_a_number_in_its_range(project: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    for word in ("4", " 4 "):
        monkeypatch.setenv(variable(name), word)
        assert getattr(load().config, name) == 4
    for word in ("4.5", "-1", "1e3", "0x10", "four"):
        monkeypatch.setenv(variable(name), word)
        assert refusal() == f"{variable(name)} is {word!r}: write {told(name).allowed}"


def test_b61_file_two_variable_three_flag_four_are_four_workers_and_show_says_why(
    poolboard: Poolboard, project: Path
) -> None:
    project.write_text("workers = 2\n")

    def shown(*words: str, env: dict[str, str] | None = None) -> tuple[object, str]:
        answer = poolboard("config", "show", "--json", *words, env=env)
        assert answer.code == 0, answer.err
        (row,) = [row for row in json.loads(answer.out)["settings"] if row["name"] == "workers"]
        return row["value"], row["source"]

    assert shown() == (2, f"{project}:1")
    assert shown(env={"POOLBOARD_WORKERS": "3"}) == (3, "POOLBOARD_WORKERS")
    assert shown("--workers", "4", env={"POOLBOARD_WORKERS": "3"}) == (4, "--workers")


# --- B62: what a file may say -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("# x\nworker = 4\n", 2, "there is no setting 'worker'; did you mean workers?"),
        ("zzz = 4\n", 1, "there is no setting 'zzz'"),
        ("workers = 4\nworkers = 5\n", 2, "not TOML: Cannot overwrite a value"),
        ("workers = 4\n\n\tascii true\n", 3, "not TOML: Expected '=' after a key in a key/value pair"),
        ('slots = 2\nworkers = "4"\n', 2, "workers is '4': write a whole number from 1 to 1024"),
        ("workers = 0\n", 1, "workers is 0: write a whole number from 1 to 1024"),
        ("notify = 1\n", 1, "notify is 1: write true or false"),
        ("[limits]\ngpu = 2\napi = '60/fortnight'\n", 3, "limits.api is '60/fortnight': write a table of name = 2"),
        ("[limits]\ngpu = 0\n", 2, "limits.gpu is 0"),
        ("limits = 3\n", 1, "limits is 3"),
        ("halt = [\n  'soon',\n]\nworkers = true\n", 1, "halt is ['soon']: write soon,fail=N"),
    ],
)
def test_b62_a_wrong_file_is_refused_with_its_line_and_what_is_allowed(
    project: Path, text: str, line: int, said: str
) -> None:
    project.write_text(text)
    assert refusal().startswith(f"{project}:{line}: {said}")


def test_b62_the_line_is_right_behind_texts_and_lists_of_several_lines(project: Path) -> None:
    project.write_text('theme = """a\nworkers = 1\n"""\nhalt = "soon,fail=1" # [x]\n\n"workers" = 0\n')
    assert refusal().startswith(f"{project}:6: workers is 0")


def test_b62_bytes_that_are_no_text_are_refused_with_their_line(project: Path) -> None:
    project.write_bytes(b"workers = 4\ntheme = '\xff'\n")
    assert refusal() == f"{project}:2: not UTF-8 text"


def test_b62_a_misspelt_variable_is_named_and_others_of_the_persons_are_not(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POOLBOARD_TOKEN_OF_MINE", "x")
    assert load().config == Config()
    monkeypatch.setenv("POOLBOARD_WORKRES", "4")
    assert refusal() == "POOLBOARD_WORKRES: there is no such setting; did you mean POOLBOARD_WORKERS?"


@pytest.mark.parametrize("words", [["list"], ["run", "count.py"], ["config", "show"], ["demo", "--limit", "1"]])
def test_b62_no_command_goes_on_with_a_misspelt_key(
    poolboard: Poolboard, project: Path, own_folders: Path, words: list[str]
) -> None:
    Path("count.py").write_text(COUNT)
    project.write_text("worker = 4\n")
    answer = poolboard(*words)
    assert (answer.code, answer.out) == (exit_codes.MISTAKE, "")
    assert answer.err == f"poolboard: {project}:1: there is no setting 'worker'; did you mean workers?\n"
    assert not list((own_folders / "state_home").rglob("*.sqlite"))


def test_validate_tells_everything_that_is_wrong_and_ends_with_two(poolboard: Poolboard, project: Path) -> None:
    project.write_text("worker = 4\nslots = 0\n")
    answer = poolboard("config", "validate")
    assert answer.code == exit_codes.MISTAKE
    assert [line.partition(f"{project}:")[2][:2] for line in answer.err.splitlines()] == ["1:", "2:"]
    project.write_text('theme = "neon"\n')
    answer = poolboard("config", "validate", str(project))
    assert answer.code == exit_codes.MISTAKE and f"no theme named 'neon' ({project}:1)" in answer.err
    project.write_text('theme = "neon"\nslots = 0\n')
    answer = poolboard("config", "validate")
    assert [line.partition(f"{project}:")[2][:1] for line in answer.err.splitlines()] == ["2", "1"]
    project.write_text('theme = "paper"\n')
    assert poolboard("config", "validate", "--json").out == '{"ok": true, "problems": []}\n'


# --- the commands -----------------------------------------------------------------------------------------------------


def test_show_tells_every_setting_in_order(poolboard: Poolboard, project: Path) -> None:
    lines = poolboard("config", "show").out.splitlines()
    assert [line.split()[0] for line in lines] == list(NAMES)
    assert {line.split()[-1] for line in lines} == {"default"}


@pytest.mark.parametrize("words", [["--wrokers", "4"], ["--workers"], ["workers"], ["--workers", "many"]])
def test_show_refuses_a_flag_that_is_none(poolboard: Poolboard, project: Path, words: list[str]) -> None:
    answer = poolboard("config", "show", *words)
    assert (answer.code, answer.out, answer.err.count("\n")) == (exit_codes.MISTAKE, "", 1)
    assert words[0] in answer.err


def test_edit_makes_a_file_that_is_right_opens_it_and_looks_at_what_was_saved(
    poolboard: Poolboard, project: Path, own_folders: Path, tmp_path: Path
) -> None:
    answer = poolboard("config", "edit", env={"EDITOR": "true"})
    assert (answer.code, answer.out) == (0, "the settings are right\n"), answer.err
    path = own_folders / "config_home" / "poolboard" / "config.toml"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert all(f"# {name} =" in path.read_text() for name in NAMES if name != "limits")
    editor = tmp_path / "my editor"
    editor.write_text('#!/bin/sh\necho "worker = 4" > "$2"\n')
    editor.chmod(0o755)
    answer = poolboard("config", "edit", "--project", env={"VISUAL": f"'{editor}' --wait", "EDITOR": "false"})
    here = project.parent / "deep" / "er" / "poolboard.toml"
    assert answer.code == exit_codes.MISTAKE and f"{here}:1: there is no setting 'worker'" in answer.err
    assert f"project  {here}" in poolboard("config", "path").out or f"{here}:1" in poolboard("config", "path").err


def test_edit_without_an_editor_that_works_says_so(poolboard: Poolboard, project: Path) -> None:
    answer = poolboard("config", "edit", env={"EDITOR": "/no/such/editor"})
    assert answer.code == exit_codes.MISTAKE and answer.err.count("\n") == 1
    assert "set EDITOR" in answer.err


# --- effect -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_run_without_flags_is_run_as_the_settings_say(poolboard: Poolboard, project: Path) -> None:
    Path("count.py").write_text(COUNT)
    project.write_text('workers = 1\nslots = 3\ngrace_s = 2.5\njournal = "runs.sqlite"\nquiet = true\n')
    answer = poolboard("run", "count.py")
    assert (answer.code, answer.out) == (0, "result: 1\n"), answer.err
    journal = project.parent / "runs.sqlite"
    assert journal.is_file()
    header = recorded(journal)
    assert (header["workers"], header["slots"], header["grace_s"]) == (1, 3, 2.5)
    answer = poolboard("run", "count.py", "--slots", "2", "--grace", "7", "--no-quiet")
    assert "poolboard watch" in answer.out
    header = recorded(journal)
    assert (header["workers"], header["slots"], header["grace_s"]) == (1, 2, 7)


def recorded(journal: Path) -> dict[str, Any]:
    """Return how the newest run of a journal was started."""

    async def read() -> str:
        reader = await Reader.open(journal)
        try:
            return (await reader.run((await reader.runs(1))[0].run_id)).header
        finally:
            await reader.close()

    header: dict[str, Any] = json.loads(asyncio.run(read()))
    return header


@pytest.mark.slow
def test_each_takes_its_defaults_from_the_settings(poolboard: Poolboard, project: Path) -> None:
    project.write_text("allow_failures = 1\nquiet = true\njobs = 1\nkeep_order = true\n")
    answer = poolboard("each", "echo {}; test {} != b", ":::", "a", "b", "c")
    assert (answer.code, answer.out) == (0, "a\nb\nc\n")
    assert answer.err.startswith("item 2 failed") and answer.err.count("\n") == 1
    answer = poolboard("each", "--allow-failures", "0", "echo {}; test {} != b", ":::", "a", "b", "c")
    assert answer.code == exit_codes.FAILED


def test_each_finds_settings_and_journal_from_where_the_person_stands_not_from_cwd(
    poolboard: Poolboard, project: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "poolboard.toml").write_text("worker = 1\n")
    answer = poolboard("each", "--cwd", str(elsewhere), "--journal", "here.sqlite", "-q", "pwd; echo {}", ":::", "a")
    assert (answer.code, answer.out) == (0, f"{elsewhere}\na\n"), answer.err
    assert Path("here.sqlite").is_file() and not (elsewhere / "here.sqlite").exists()


def test_an_error_of_the_journal_names_the_line_that_chose_it(poolboard: Poolboard, project: Path) -> None:
    project.write_text(f'slots = 2\njournal = "{project.parent}"\n')
    answer = poolboard("list")
    assert answer.code == exit_codes.MISTAKE
    assert answer.err.endswith(f"(from {project}:2)\n") and answer.err.count("\n") == 1
    project.write_text('journal = "memory"\n')
    assert "hosts no pool" in poolboard("list").err and f"(from {project}:1)" in poolboard("list").err
    assert poolboard("list", "--journal", str(project.parent / "other.sqlite")).code == 0
    assert poolboard("list", env={"POOLBOARD_JOURNAL": str(project.parent / "other.sqlite")}).code == 0


def test_a_theme_that_does_not_exist_is_refused_before_anything_starts(project: Path) -> None:
    from poolboard.showing import Showing

    project.write_text('\ntheme = "neon"\n')
    with pytest.raises(UserMistake, match=rf"no theme named 'neon' \({project}:2\): there are .*midnight"):
        Showing().settled(screen=True)
    assert Showing(theme="paper").settled(screen=True).theme == "paper"


def test_reading_a_large_pyproject_takes_a_pass_over_it_not_more(project: Path) -> None:
    """Every line is parsed by itself, once: no time grows with the square of the file."""
    lines = [f'"dependency-{n}" = [\n  "1",\n]' for n in range(5000)]
    text = "[tool.other]\n" + "\n".join(lines) + "\n[tool.poolboard]\nslots = 7\n"
    (project.parent / "pyproject.toml").write_text(text)
    assert load().source("slots").endswith(f":{text.count(chr(10))}")


def test_without_anything_to_read_settings_load_no_pydantic(tmp_path: Path) -> None:
    program = "import sys\nfrom poolboard.engine.config_loading import load\nload()\nprint('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stdout == "False\n", done.stderr


@pytest.mark.slow
def test_a_limit_of_the_settings_is_one_of_every_run_that_is_started(poolboard: Poolboard, project: Path) -> None:
    Path("scarce.py").write_text(
        "from poolboard import Context, stage, workflow\n"
        "@stage(needs={'gpu': 1})\ndef use() -> int:\n    return 1\n"
        "@workflow\nasync def scarce(ctx: Context) -> int:\n    return await ctx.stage(use)\n"
    )
    without = poolboard("run", "scarce.py", "--workers", "1")
    assert without.code == exit_codes.MISTAKE and "'gpu', which is no limit of this run" in without.err
    project.write_text('journal = "runs.sqlite"\n[limits]\ngpu = 2\napi = "60/min"\n"api.burst" = 10\n')
    assert poolboard("run", "scarce.py", "--workers", "1", "-q").out == "result: 1\n"
    limits = recorded(project.parent / "runs.sqlite")["limits"]
    assert (limits["gpu"], limits["api"]) == ("2", "60/min burst 10")
    poolboard("run", "scarce.py", "--workers", "1", "--limit", "api=3", "--limit", "gpu=1")
    limits = recorded(project.parent / "runs.sqlite")["limits"]
    assert (limits["gpu"], limits["api"]) == ("1", "3"), "a flag gives a limit whole, without the settings' burst"


def test_b29_a_run_is_found_by_its_journal_from_anywhere_and_what_is_not_there_names_it(
    poolboard: Poolboard, project: Path, tmp_path: Path
) -> None:
    Path("count.py").write_text(COUNT)
    run_id = poolboard("run", "count.py", "--detach").out.strip()
    (tmp_path / "elsewhere").mkdir()
    for words in (["status", run_id, "--json"], ["status", run_id[:8], "--json"], ["status", "--json"]):
        assert json.loads(poolboard(*words, cwd=tmp_path / "elsewhere").out)["run_id"] == run_id
    answer = poolboard("status", "ffff", cwd=tmp_path / "elsewhere")
    assert answer.code == exit_codes.MISTAKE
    assert answer.err.endswith("journal.sqlite\n") and "'ffff' not found in " in answer.err

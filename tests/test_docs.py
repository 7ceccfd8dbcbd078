"""The README says what is so: commands, options, exit codes, keys, and its workflow runs as printed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer

from poolboard import exit_codes
from poolboard.cli import command_line

if TYPE_CHECKING:
    from tests.conftest import Answer

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def table(head: str) -> list[list[str]]:
    """Return the rows of the README's tables whose first column is called ``head``."""
    parts = README.split(f"| {head} |")[1:]
    rows = [row for part in parts for row in part.split("\n\n", 1)[0].splitlines()[2:]]
    return [[cell.strip() for cell in row.strip().strip("|").split("|")] for row in rows]


@cache
def commands() -> dict[str, set[str]]:
    """Return every command, those of a group by two words, and its long options."""
    leaves: dict[str, Any] = {}
    for name, command in typer.main.get_group(command_line()).commands.items():
        inner = getattr(command, "commands", None)
        leaves |= {name: command} if inner is None else {f"{name} {word}": leaf for word, leaf in inner.items()}
    return {
        name: {option for parameter in leaf.params for option in parameter.opts if option.startswith("--")}
        for name, leaf in leaves.items()
    }


def named_in(row: list[str]) -> str:
    """Return the command of a row of the README, "" for the bare program."""
    words = row[0].strip("`").split()[1:]
    return " ".join(words[:2]) if " ".join(words[:2]) in commands() else " ".join(words[:1])


def test_the_readme_lists_every_command_and_no_other() -> None:
    assert {name for row in table("Command") if (name := named_in(row))} == set(commands())


def test_every_option_in_the_command_table_exists() -> None:
    for row in table("Command"):
        for option in re.findall(r"--[a-z-]+", row[1]):
            assert option in commands()[named_in(row)], row


def test_every_command_takes_a_journal_and_speaks_json() -> None:
    for name, options in commands().items():
        assert {"--journal", "--json"} <= options or name in ("help", "man"), name


def test_the_table_of_exit_codes_is_the_programs() -> None:
    assert {int(code): meaning for code, meaning in table("Exit status")} == exit_codes.MEANINGS


def test_help_shows_the_table_of_exit_codes(poolboard: Callable[..., Answer]) -> None:
    answer = poolboard("--help")
    assert answer.code == 0
    for code, meaning in exit_codes.MEANINGS.items():
        assert f"{code}  {meaning}" in answer.out


def test_every_key_in_the_readme_is_one_of_the_screens() -> None:
    from poolboard.tui.actions import ACTIONS

    known = {key for action in ACTIONS for key in action.all_keys.split()}
    for row in table("Key"):
        for key in re.findall(r"`([^`]+)`", row[0]):
            assert key in known, row


def test_every_file_that_the_readme_points_to_is_there() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert target.startswith("https://") or (ROOT / target).is_file(), target


def test_the_make_words_of_the_readme_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"^make ([a-z]+)", README, re.MULTILINE)) <= targets
    assert {"demo", "test", "check", "bench", "screenshots", "torture", "clean"} <= targets


def test_the_workflow_of_the_readme_runs_as_printed(poolboard: Callable[..., Answer], tmp_path: Path) -> None:
    program = re.search(r"```python\n# words\.py\n(.*?)```", README, re.DOTALL)
    assert program is not None
    (tmp_path / "words.py").write_text(program[1])
    (tmp_path / "one.txt").write_text("to be or not\n")
    (tmp_path / "two.txt").write_text("to be\n")
    answer = poolboard(
        "run",
        "words.py:all_texts",
        "--input",
        f"folder={tmp_path}",
        "--workers",
        "1",
        "--headless",
        "--json",
        cwd=tmp_path,
    )
    assert answer.code == 0, answer.err
    last = json.loads(answer.out.splitlines()[-1])
    assert last["result"] == {f"{tmp_path}/one.txt": 4, f"{tmp_path}/two.txt": 2}


@pytest.mark.parametrize(
    "name", ["README.md", "CHANGELOG.md", "LICENSE", "Makefile", "constraints.txt", ".ci/run", ".ci/setup"]
)
def test_no_page_names_the_machine_it_was_written_on(name: str) -> None:
    assert str(ROOT) not in (ROOT / name).read_text()


def test_the_readme_lists_every_setting_and_no_other() -> None:
    from poolboard.engine.config import NAMES

    named = {name.strip("[]") for row in table("Setting") for name in re.findall(r"`([^`]+)`", row[0])}
    assert named == set(NAMES)

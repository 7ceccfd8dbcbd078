"""What ``import poolboard`` promises, and what it costs."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import poolboard

ROOT = Path(__file__).parent.parent

HEAVY = ("aiosqlite", "pydantic", "rich", "sqlite3", "textual", "typer")


def loaded_after(program: str) -> set[str]:
    """Return the top-level modules that a fresh Python has loaded after the program."""
    code = f"{program}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=60, check=True
    )
    return set(done.stdout.split())


def test_every_promised_name_is_there_and_nothing_else_is_promised() -> None:
    assert poolboard.__all__ == sorted(poolboard.__all__)
    for name in poolboard.__all__:
        assert getattr(poolboard, name) is not None
    assert set(poolboard.__all__) <= set(dir(poolboard))


def test_a_misspelt_name_is_an_attribute_error_like_in_any_module() -> None:
    with pytest.raises(AttributeError, match="no attribute 'wrkflow'"):
        poolboard.wrkflow  # type: ignore[attr-defined]


def test_the_version_is_the_packages() -> None:
    packaged = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert poolboard.__version__ == packaged


def test_importing_poolboard_loads_nothing_heavy() -> None:
    assert loaded_after("import poolboard").isdisjoint(HEAVY)


def test_authoring_names_load_no_screen() -> None:
    loaded = loaded_after("from poolboard import ChildError, Context, Result, StageError, stage, workflow")
    assert loaded.isdisjoint({"textual", "typer"})


def test_asking_for_the_version_loads_nothing_heavy() -> None:
    loaded = loaded_after("from poolboard.__main__ import main\nassert main(['--version']) == 0")
    assert loaded.isdisjoint(HEAVY)


def test_asking_for_a_status_loads_no_screen(own_folders: Path) -> None:
    loaded = loaded_after("from poolboard.__main__ import main\nassert main(['list', '--json']) == 0")
    assert loaded.isdisjoint({"textual", "pydantic"})


def test_of_the_command_line_only_the_command_that_was_asked_for_is_declared(own_folders: Path) -> None:
    program = (
        "from poolboard.__main__ import main\nassert main(['list', '--json']) == 0\n"
        "import sys\nprint(*sorted(name for name in sys.modules if name.startswith('poolboard.cli_')))"
    )
    assert {name for name in loaded_after(program) if name.startswith("poolboard.cli_")} == {
        "poolboard.cli_options",
        "poolboard.cli_questions",
        "poolboard.cli_status",
    }


def test_what_a_first_command_waits_for_loads_no_pydantic() -> None:
    """It takes 120 ms of CPU in each of the processes that start one after the other."""
    assert "pydantic" not in loaded_after("import poolboard.each_run, poolboard.engine.launch")
    assert "pydantic" not in loaded_after("import poolboard.engine.coordination")

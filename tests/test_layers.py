"""The direction of imports, and that decisions are made without clock, socket, process or database."""

from __future__ import annotations

import ast
import gc
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("journal", "engine", "tui", "themes")

#: Modules that decide and do nothing else (DESIGN, layout).
PURE = (
    "engine/budget.py",
    "engine/pool.py",
    "engine/pool_calls.py",
    "engine/pool_holds.py",
    "engine/ranges.py",
    "engine/replay.py",
    "engine/address.py",
    "engine/delivery.py",
    "engine/patterns.py",
    "engine/admission.py",
    "engine/admission_reason.py",
    "engine/bucket.py",
    "engine/limit_spec.py",
    "engine/limit_view.py",
    "engine/summary.py",
    "journal/states.py",
    "tui/rows.py",
    "engine/restarts.py",
    "poolboard/quoting.py",
    "poolboard/templates.py",
)
IMPURE = {
    "aiosqlite",
    "asyncio",
    "multiprocessing",
    "os",
    "random",
    "socket",
    "sqlite3",
    "subprocess",
    "threading",
    "time",
}


def parsed(path: Path) -> ast.Module:
    """Return a file's tree; up to Python 3.12 a garbage collection in the middle may break it (CPython 106905)."""
    gc.disable()
    try:
        return ast.parse(path.read_bytes())
    finally:
        gc.enable()


def imported(path: Path) -> set[str]:
    """Return the full names of the modules that a file imports, at its top or anywhere."""
    names: set[str] = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module)
    return names


def test_the_contracts_of_import_linter_hold() -> None:
    command = "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"
    done = subprocess.run(
        [sys.executable, "-c", command, "--no-cache"], cwd=ROOT, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", PURE)
def test_what_decides_is_pure(name: str) -> None:
    assert {module.partition(".")[0] for module in imported(ROOT / name)}.isdisjoint(IMPURE)


def test_only_the_driver_chooses_the_sqlite_library() -> None:
    users = {
        path.relative_to(ROOT).as_posix()
        for folder in (*FOLDERS, "poolboard")
        for path in (ROOT / folder).glob("*.py")
        if imported(path) & {"sqlite3", "pysqlite3"}
    }
    assert users <= {"journal/driver.py"}


def test_the_screen_and_the_command_line_see_the_journal_through_the_monitor_alone() -> None:
    """Values, errors and state names may be imported everywhere; whatever opens, writes or runs may not."""
    open_to_all = {
        "poolboard.engine.errors",
        "poolboard.engine.monitor",
        "poolboard.engine.ranges",
        "poolboard.engine.budget",
        "poolboard.engine.restarts",
        "poolboard.engine.views",
        "poolboard.journal.errors",
        "poolboard.journal.message_model",
        "poolboard.journal.states",
    }
    starters = {
        "poolboard.engine.config",
        "poolboard.engine.config_loading",
        "poolboard.engine.launch",
        "poolboard.engine.authoring",
        "poolboard.engine.context",
        "poolboard.engine.coordinator_process",
        "poolboard.engine.limit_calls",
        "poolboard.engine.message",
        "poolboard.engine.result",
        "poolboard.engine.running",
    }
    #: The tools that look after files and processes themselves, whether or not a run is there.
    caretakers = {"completion", "configuration", "doctor", "leftovers", "machine", "premises", "run_folders", "upkeep"}
    #: What hands a run on reads more of it than a screen shows.
    caretakers |= {"deletion", "spans", "run_export", "run_facts", "report_page", "report_pictures"}
    #: ``each`` keeps files of its own in its run's folder, beside the logs.
    own_files = {
        "each_run": {"poolboard.engine.folder"},
        "item_files": {"poolboard.engine.logs"},
        "each": {"poolboard.engine", "poolboard.engine.secrets"},
        "inputs": {"poolboard.engine.secrets"},
        # Turns a program's values into inputs, and reads thousands of results back as typed values.
        "pool": {
            "poolboard.engine",
            "poolboard.engine.folder",
            "poolboard.engine.payload",
            "poolboard.engine.signature",
            "poolboard.journal.reader",
        },
    }
    for folder, more in (("tui", set()), ("poolboard", starters)):
        for path in (ROOT / folder).glob("*.py"):
            if folder == "poolboard" and path.stem in caretakers:
                continue
            inner = {n for n in imported(path) if n.startswith(("poolboard.engine", "poolboard.journal"))}
            own = own_files.get(path.stem, set()) if folder == "poolboard" else set()
            assert inner <= open_to_all | more | own, path


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_file_is_long(folder: str) -> None:
    long = {path.name: n for path in (ROOT / folder).glob("*.py") if (n := path.read_text().count("\n")) > 400}
    assert long == {}

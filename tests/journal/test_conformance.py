"""The suite that ships, run for every adapter that is here."""

from __future__ import annotations

import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest

from poolboard.journal.adapter import open_adapter
from poolboard.journal.conformance import (
    BatchConformance,
    ChangeConformance,
    DeletionConformance,
    JournalConformance,
    Opener,
)
from poolboard.journal.memory import MemoryJournal
from poolboard.journal.sqlite import SqliteJournal

names = count(1)


class TestSqlite(JournalConformance, BatchConformance, ChangeConformance, DeletionConformance):
    parts = (BatchConformance, ChangeConformance, DeletionConformance)

    @pytest.fixture
    def opener(self, tmp_path: Path) -> Opener:
        return lambda: SqliteJournal.open(tmp_path / "journal.sqlite")


class TestMemory(JournalConformance, BatchConformance, ChangeConformance, DeletionConformance):
    parts = (BatchConformance, ChangeConformance, DeletionConformance)

    @pytest.fixture
    def opener(self) -> Opener:
        name = f"conformance {next(names)}"
        return lambda: MemoryJournal.open_named(name)


class TestCustomByPath(JournalConformance, ChangeConformance):
    """An adapter from a file of its own, built on ours, which leaves two optional parts out."""

    parts = (ChangeConformance,)

    @pytest.fixture
    def opener(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Opener:
        monkeypatch.setenv("DIARY_PATH", str(tmp_path / "diary.sqlite"))
        return lambda: open_adapter(f"{Path(__file__).parent / 'adapters' / 'diary.py'}:open_diary")


def test_the_suite_needs_pytest_alone_and_nothing_else_loads_it() -> None:
    program = (
        "import sys, poolboard.journal.{}; found = {{name.partition('.')[0] for name in sys.modules}}; "
        "print(*sorted(found & {{'pytest', 'hypothesis', 'pytest_asyncio'}}))"
    )
    for module, loaded in (("conformance", "pytest"), ("select", ""), ("sqlite", "")):
        done = subprocess.run(
            [sys.executable, "-c", program.format(module)], capture_output=True, text=True, timeout=60, check=True
        )
        assert done.stdout.strip() == loaded

"""A journal that has none of the optional verbs: runs on it come out the same."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from poolboard.journal.sqlite import SqliteJournal
from poolboard.journal.stories import Plain
from tests.engine.rig import Rig, kill, try_resume

#: Python reads this file at its start: every process of the run then has the journal without them.
CUT_DOWN = """
from pathlib import Path
from poolboard.journal.sqlite import SqliteJournal
from poolboard.journal.stories import Plain

for name in Plain.OPTIONAL:
    delattr(SqliteJournal, name)
Path({told!r}).open("a").write("cut down\\n")
"""


async def test_a_run_killed_and_resumed_gives_its_result_without_any_optional_verb(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Catalogue J11, for the engine."""
    told = tmp_path / "told.txt"
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(CUT_DOWN.format(told=str(told)))
    before = os.environ.get("PYTHONPATH")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(tmp_path / "site"), before])))
    for name in Plain.OPTIONAL:
        monkeypatch.delattr(SqliteJournal, name)
    await rig.start("squares:many", n=30, trace=str(rig.trace), steps=2, delay_s=0.02)
    summary = await rig.completed(5)
    await kill(summary.coordinator.pid)
    await try_resume(rig)
    ended = await rig.ended()
    assert (ended.run.status, ended.run.result) == ("completed", "8555")
    assert sorted(set(rig.traces())) == sorted(f"{i}:{k}" for i in range(30) for k in range(2))
    assert told.read_text().count("cut down") >= 4  # two coordinators and two workers at least

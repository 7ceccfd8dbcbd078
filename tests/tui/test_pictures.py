"""The committed pictures are what the dashboard draws today from the recording."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import ROOT

#: The first test that looks draws all of them.
pytestmark = pytest.mark.timeout(300)

PICTURES = ROOT / "screenshots"
NAMES = sorted(path.name for path in PICTURES.glob("*.svg"))


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pictures")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(PICTURES / "draw.py"), str(folder)]
    subprocess.run(command, check=True, env=environment, timeout=280)
    return folder


def test_every_screen_in_three_sizes_and_two_themes_is_committed_and_the_board_in_a_fourth(drawn: Path) -> None:
    screens = {name.partition("-")[0] for name in NAMES}
    assert {"runs", "board", "child", "failures", "timeline", "journal", "stage", "log", "help"} <= screens
    assert len(NAMES) == len(screens) * 3 * 2 + 2
    assert sorted(path.name for path in drawn.glob("*.svg")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_is_what_is_drawn_today(drawn: Path, name: str) -> None:
    """If the change is meant, look at the new picture and commit it: make screenshots."""
    assert (drawn / name).read_text() == (PICTURES / name).read_text(), name


def test_no_picture_loads_anything_or_names_the_machine() -> None:
    for path in (*PICTURES.glob("*.svg"), PICTURES / "recording.json"):
        text = path.read_text()
        assert "@import" not in text and "url(http" not in text and 'url("http' not in text, path
        assert str(ROOT) not in text, path

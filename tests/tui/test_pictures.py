"""The committed pictures are what the dashboard draws today from the recording."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import ROOT

pytestmark = pytest.mark.timeout(300)

PICTURES = ROOT / "screenshots"
NAMES = sorted(path.name for path in PICTURES.glob("*.svg"))


#: The pictures that are drawn in every run of the tests; the others are drawn by make slow.
SHORT = "80x24-midnight"


def draw(folder: Path, *looks: str) -> Path:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(PICTURES / "draw.py"), str(folder), *looks]
    subprocess.run(command, check=True, env=environment, timeout=280)
    return folder


def differing(drawn: Path) -> list[str]:
    return [path.name for path in sorted(drawn.glob("*.svg")) if path.read_text() != (PICTURES / path.name).read_text()]


def test_every_screen_in_three_sizes_and_two_themes_is_committed_and_the_board_in_a_fourth() -> None:
    screens = {name.partition("-")[0] for name in NAMES}
    assert {"runs", "board", "child", "failures", "timeline", "journal", "stage", "log", "help"} <= screens
    assert len(NAMES) == len(screens) * 3 * 2 + 2


def test_the_pictures_of_one_size_are_what_is_drawn_today(tmp_path: Path) -> None:
    """If the change is meant, look at the new pictures and commit them: make screenshots."""
    drawn = draw(tmp_path, SHORT)
    assert sorted(path.name for path in drawn.glob("*.svg")) == [name for name in NAMES if SHORT in name]
    assert differing(drawn) == []


@pytest.mark.slow
def test_every_picture_is_what_is_drawn_today(tmp_path: Path) -> None:
    drawn = draw(tmp_path)
    assert sorted(path.name for path in drawn.glob("*.svg")) == NAMES
    assert differing(drawn) == []


def test_no_picture_loads_anything_or_names_the_machine() -> None:
    for path in (*PICTURES.glob("*.svg"), PICTURES / "recording.json"):
        text = path.read_text()
        assert "@import" not in text and "url(http" not in text and 'url("http' not in text, path
        assert str(ROOT) not in text, path

"""The installed program in a real terminal (tmux): start, filter, open, pause, resume, stop, quit, attach."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .conftest import ROOT

_PATIENCE_S = 90.0
GATED = """
import time
from pathlib import Path

from poolboard import Context, stage, workflow


@stage
def wait_for(gate: str, number: int) -> int:
    print(f"number {number} waits")
    while not Path(gate).exists():
        time.sleep(0.02)
    return number


@workflow
async def one(ctx: Context, gate: str, number: int) -> int:
    return await ctx.stage(wait_for, gate, number) + await ctx.stage(wait_for, gate + ".2", number)


@workflow
async def many(ctx: Context, gate: str) -> int:
    return len(await ctx.map(one, [{"gate": gate, "number": number} for number in range(12)]))
"""


class Tmux:
    """A tmux server of its own with one window."""

    def __init__(self, folder: Path, words: list[str], size: tuple[int, int] = (110, 30)) -> None:
        self._command = ["tmux", "-f", "/dev/null", "-S", str(folder / "t")]
        self.environment = {**os.environ, "PYTHONPATH": str(ROOT), "LC_ALL": "C.UTF-8", "PAGER": "head -3"}
        # As an old shell may have exported them: the terminal knows better.
        self.environment |= {"COLUMNS": "80", "LINES": "24"}
        line = " ".join(words) + "; echo ended $?; exec sleep 600"
        width, height = map(str, size)
        subprocess.run(
            [*self._command, "new-session", "-d", "-x", width, "-y", height, "-c", str(folder), line],
            check=True,
            env=self.environment,
        )

    def press(self, *keys: str) -> None:
        subprocess.run([*self._command, "send-keys", *keys], check=True)

    def type(self, text: str) -> None:
        subprocess.run([*self._command, "send-keys", "-l", text], check=True)

    def shown(self) -> str:
        done = subprocess.run([*self._command, "capture-pane", "-p"], check=True, capture_output=True, text=True)
        return done.stdout

    def wait(self, holds: Callable[[str], bool], what: str) -> str:
        deadline = time.monotonic() + _PATIENCE_S
        while not holds(shown := self.shown()):
            assert time.monotonic() < deadline, f"did not come: {what}\n{shown}"
            select.select([], [], [], 0.1)
        return shown

    def shows(self, *texts: str) -> str:
        return self.wait(lambda shown: all(text in shown for text in texts), " and ".join(texts))

    def close(self) -> None:
        subprocess.run([*self._command, "kill-server"], check=False, capture_output=True)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[tuple[Path, Callable[..., Tmux]]]:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    (tmp_path / "gated.py").write_text(GATED)
    opened: list[Tmux] = []

    def start(*words: str, size: tuple[int, int] = (110, 30)) -> Tmux:
        folder = tmp_path / str(len(opened))
        folder.mkdir()
        script = Path(sys.executable).with_name("poolboard")
        command = [str(script)] if script.exists() else [sys.executable, "-m", "poolboard"]
        opened.append(Tmux(folder, [*command, *words, "--journal", str(tmp_path / "journal.sqlite")], size))
        return opened[-1]

    yield tmp_path, start
    for one in opened:
        one.close()


@pytest.mark.timeout(600)
@pytest.mark.slow
def test_a_day_at_the_screen_start_filter_open_pause_resume_quit_attach_stop(
    place: tuple[Path, Callable[..., Tmux]], poolboard: Callable[..., object]
) -> None:
    """B32 too: the run goes on when its screen is left, and the question on the way out says so."""
    folder, start = place
    gate = folder / "gate"
    first = start("run", f"{folder}/gated.py:many", "--input", f"gate={gate}", "--workers", "1", "--slots", "3")
    first.shows("● running", "12 in all", "3 of 3 slots busy")

    first.press("/")
    first.type("state:leased")
    first.press("Enter")
    first.shows("showing 3 of 12")
    first.press("g", "Enter")
    first.shows("result or error")
    first.press("l")
    first.shows("waits", "follow: on")
    first.press("|")  # the pager of this test prints three lines and ends; the dashboard comes back
    first.shows("waits", "follow: on")
    first.press("q")
    first.shows("showing 3 of 12")
    first.press("Escape")
    first.shows("12 in all")

    first.press("p")
    first.shows("pausing 0/3")
    gate.touch()
    first.shows("‖ paused", "0 of 3 slots busy")
    first.press("p")
    first.shows("● running")

    first.press("C-c")
    first.shows("it goes on without this screen")
    first.press("d")
    first.shows("ended ")

    again = start("watch", size=(80, 24))
    again.shows("● running", "12 in all")
    again.press("x")
    again.shows("Stop this run?")
    again.press("Enter")  # the default is no
    again.wait(lambda shown: "Stop this run?" not in shown, "the question to go")
    again.press("x")
    again.shows("Stop this run?")
    again.press("y")
    Path(f"{gate}.2").touch()
    again.shows("■ stopped")
    again.press("q")
    again.shows("ended 3")  # stopped, and resumable

    status = poolboard("status", "--json", "--journal", str(folder / "journal.sqlite"))
    told = json.loads(getattr(status, "out", ""))
    assert told["status"] == "stopped" and told["resumable"]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("size", [(40, 12), (80, 24), (160, 48), (300, 80)])
def test_every_screen_fits_any_terminal(place: tuple[Path, Callable[..., Tmux]], size: tuple[int, int]) -> None:
    """U9: no size hides how the run stands, and none breaks a screen."""
    folder, start = place
    gate = folder / "gate"
    gate.touch()
    Path(f"{gate}.2").touch()
    one = start("run", f"{folder}/gated.py:many", "--input", f"gate={gate}", "--workers", "1", size=size)
    one.shows("✓ completed", "100%")
    for key, text in (("2", "failed"), ("3", "worker"), ("4", "slot"), ("5", "0"), ("6", "type"), ("1", "child")):
        one.press(key)
        one.shows(text, "✓ completed")
    one.press("?")
    one.shows("esc closes")
    one.press("Escape")
    one.wait(lambda shown: "esc closes" not in shown, "the help to go")
    one.press("g", "Enter")
    one.shows("#1 ", "result or err", "took ")
    one.press("q")
    one.shows("100%")
    one.press("q")
    one.shows("ended 0")

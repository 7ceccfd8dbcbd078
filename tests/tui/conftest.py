"""What the screen tests look at: a real run of hostile names, and a way to read a screen as a person does."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from html import unescape
from pathlib import Path

import pytest
from textual.app import App
from textual.pilot import Pilot

ROOT = Path(__file__).parent.parent.parent

#: One child each. A markup parser, a terminal and a column of cells would each stumble over some of them.
NAMES = (
    "[/",
    "[/tmp/x]",
    "[red]",
    "[b + x",
    "[00] x",
    "a[b]c",
    "[link=x]",
    "[@click=app.quit]x[/]",
    "数据 wide",
    "e\u0301 combining",
    "\u202egnp.exe",
    "\x1b]52;c;UFdO\x07",
    "\x1b]0;PWN\x1b\\",
    "\x1b[2J",
    "\x9b6n",
    "a\rb",
    "bad [/tmp/x] \x1b]0;PWN\x07",
    "bad [red",
)

WORKFLOW = """
from __future__ import annotations

import time
from pathlib import Path

from poolboard import Context, stage, workflow


@stage
def weigh(name: str) -> str:
    if name.startswith("bad"):
        raise ValueError(f"cannot weigh {name}")
    return name * 2


@workflow
async def one(ctx: Context, name: str) -> str:
    print(f"weighing {name}")
    return await ctx.stage(weigh, name)


@workflow
async def everything(ctx: Context, names: list[str]) -> int:
    return sum(result.ok for result in await ctx.map(one, names, on_error="collect"))


@stage
def wait_for(gate: str) -> int:
    while not Path(gate).exists():
        time.sleep(0.02)
    return 1


@workflow
async def two_waits(ctx: Context, gate: str) -> int:
    return await ctx.stage(wait_for, gate) + await ctx.stage(wait_for, gate + ".2")


@workflow
async def gated(ctx: Context, gate: str) -> int:
    return sum(await ctx.map(two_waits, [gate, gate, gate]))
"""


@dataclass(frozen=True)
class Recorded:
    """A journal that a real run has written."""

    journal: Path
    run_id: str


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """Run the workflow over the hostile names once, and return its journal."""
    folder = tmp_path_factory.mktemp("recorded")
    (folder / "weights.py").write_text(WORKFLOW)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for name in ("STATE", "RUNTIME", "CONFIG"):
        (folder / name).mkdir(mode=0o700)
        environment[f"XDG_{name}_{'DIR' if name == 'RUNTIME' else 'HOME'}"] = str(folder / name)
    journal = folder / "journal.sqlite"
    command = [sys.executable, "-m", "poolboard", "run", "weights.py:everything", "--journal", str(journal)]
    names = json.dumps(NAMES)
    done = subprocess.run(
        [*command, "--input", f"names={names}", "--workers", "1", "--headless", "--json"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=110,
    )
    assert done.returncode == 0, done.stderr
    last = json.loads(done.stdout.splitlines()[-1])
    assert last["result"] == len(NAMES) - 2
    return Recorded(journal, last["run_id"])


_TEXT = re.compile(r'<text class="[^"]*" x="([\d.]+)" y="([\d.]+)"[^>]*>(.*?)</text>', re.DOTALL)
_CELL = 12.2


def seen(app: App[int]) -> list[str]:
    """Return the lines that stand on the screen now."""
    lines: dict[float, list[tuple[float, str]]] = {}
    body = app.export_screenshot()
    assert "\x1b" not in body and "\x9b" not in body
    for x, y, text in _TEXT.findall(body):
        lines.setdefault(float(y), []).append((float(x), unescape(text).replace("\xa0", " ")))
    shown = []
    for y in sorted(lines):
        line = ""
        for x, text in sorted(lines[y]):
            line += " " * max(0, round(x / _CELL) - len(line)) + text
        shown.append(line.rstrip())
    return shown


async def until(pilot: Pilot[int], holds: Callable[[], bool], what: str) -> None:
    """Let the app go on until something holds; fails by saying what did not come."""
    for _ in range(300):
        if holds():
            return
        await pilot.pause(0.05)
    raise AssertionError(f"did not come: {what}\n" + "\n".join(seen(pilot.app)))


def says(pilot: Pilot[int], text: str) -> Callable[[], bool]:
    """Return a question: does the screen show this text?"""
    return lambda: any(text in line for line in seen(pilot.app))

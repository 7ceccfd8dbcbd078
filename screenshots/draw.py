"""Draws the pictures of the dashboard from the recording: ``python screenshots/draw.py [FOLDER]``.

The same recording gives the same bytes: the clock stands still, nothing is animated, the zone is UTC.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

os.environ["TZ"] = "UTC"
os.environ["TEXTUAL_ANIMATIONS"] = "none"
os.environ.pop("NO_COLOR", None)

from recording import FILE, Recording, Replay
from textual.pilot import Pilot

from poolboard.tui.app import PoolboardApp
from poolboard.tui.board_screen import BoardScreen
from poolboard.tui.clock import Clock
from poolboard.tui.pace import Pace
from poolboard.tui.table import Table

SIZES: Final = ((80, 24), (160, 48))
THEMES: Final = ("midnight", "paper")
#: screen -> the keys that lead there from the list of runs.
SCREENS: Final[dict[str, tuple[str, ...]]] = {"runs": (), "board": ("enter",), "child": ("enter", "enter")}
_TRIES: Final = 400


async def draw(recording: Recording, screen: str, size: tuple[int, int], theme: str) -> str:
    """Return one picture as SVG text."""
    replay = Replay(recording)
    clock = Clock(wall_ms=lambda: recording.at_ms, steady_s=lambda: replay.steady_s)
    app = PoolboardApp(theme=theme, clock=clock, pace=Pace(0.01, 0.0), ascii=False, source=replay, hints=False)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: len(app.screen.query(Table)) > 0 and full(app))
        for key in SCREENS[screen]:
            before = app.screen
            await pilot.press(key)
            await until(pilot, lambda before=before: app.screen is not before and full(app))
        await pilot.pause(0.1)
        return neat(app.export_screenshot(title=f"poolboard: {screen}"))


def full(app: PoolboardApp) -> bool:
    """Say whether everything that is to come has come."""
    if isinstance(app.screen, BoardScreen):
        replay = app.screen.session.monitor
        assert isinstance(replay, Replay)
        return app.screen.summary is replay.recording.summaries[-1] and len(
            app.screen.query_one("#children", Table).rows
        ) == len(replay.recording.children)
    return all(len(table.rows) > 0 for table in app.screen.query(Table))


async def until(pilot: Pilot[int], holds: Callable[[], bool]) -> None:
    for _ in range(_TRIES):
        if holds():
            return
        await pilot.pause(0.02)
    raise RuntimeError("the screen did not fill")


def neat(svg: str) -> str:
    """Use fonts that are there instead of loading one, and real spaces, which every viewer keeps."""
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code", "DejaVu Sans Mono, Menlo, Consolas").replace("&#160;", " ")
    svg = re.sub(r"terminal-\d+", "terminal", svg)
    svg = re.sub(r"<!-- .*? -->\s*", "", svg)
    return svg.replace("<svg ", '<svg xml:space="preserve" ', 1)


async def draw_all(folder: Path) -> None:
    recording = Recording.model_validate_json(FILE.read_text(encoding="utf-8"))
    for screen in SCREENS:
        for size in SIZES:
            for theme in THEMES:
                svg = await draw(recording, screen, size, theme)
                name = f"{screen}-{size[0]}x{size[1]}-{theme}.svg"
                (folder / name).write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    time.tzset()
    asyncio.run(draw_all(Path(sys.argv[1]) if len(sys.argv) > 1 else FILE.parent))

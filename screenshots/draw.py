"""Draws the pictures of the dashboard from the recording: ``python screenshots/draw.py [FOLDER]``.

The same recording gives the same bytes: the clock stands still, nothing is animated, the zone is UTC.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
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
from poolboard.tui.runs_screen import RunsScreen
from poolboard.tui.table import Table

SIZES: Final = ((40, 12), (80, 24), (160, 48), (300, 80))
#: The largest is drawn of the board alone: it shows the layout, and what else there is looks as at 160 x 48.
_LARGE: Final = 300
THEMES: Final = ("midnight", "paper")
#: screen -> the keys that lead there from the one before, and how many screens lie on the stack then.
SCREENS: Final[dict[str, tuple[tuple[str, ...], int]]] = {
    "runs": ((), 1),
    "board": (("enter",), 2),
    "folded": (("z",), 2),
    "failures": (("z", "z", "z", "z", "2"), 2),
    "workers": (("3",), 2),
    "slots": (("4",), 2),
    "timeline": (("5",), 2),
    "journal": (("6",), 2),
    "stage": (("1", "shift+tab", "enter"), 3),
    "help": (("escape", "tab", "question_mark"), 3),
    "child": (("escape", "enter"), 3),
    "log": (("l",), 3),
}
_TRIES: Final = 400


async def draw(recording: Recording, size: tuple[int, int], theme: str) -> AsyncIterator[tuple[str, str]]:
    """Yield every screen of one size and theme with its picture as SVG text."""
    replay = Replay(recording)
    clock = Clock(wall_ms=lambda: recording.at_ms, steady_s=lambda: replay.steady_s)
    pace = Pace(0.01, 0.0)
    app = PoolboardApp(theme=theme, clock=clock, pace=pace, ascii=False, source=replay, hints=False)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: len(app.screen.query(Table)) > 0 and full(app))
        for screen, (keys, depth) in SCREENS.items():
            for key in keys:
                await pilot.press(key)
                await pilot.pause()
            await until(pilot, lambda depth=depth: len(app.screen_stack) == depth + 1 and full(app))
            await pilot.pause(0.1)
            if size[0] < _LARGE or screen == "board":
                yield screen, neat(app.export_screenshot(title=f"poolboard: {screen}"))


def full(app: PoolboardApp) -> bool:
    """Say whether everything that is to come has come."""
    if isinstance(app.screen, BoardScreen):
        replay = app.screen.session.monitor
        assert isinstance(replay, Replay)
        rows = app.screen.query_one("#children", Table).rows
        return app.screen.summary is replay.recording.summaries[-1] and rows.total == len(replay.recording.children)
    if not isinstance(app.screen, RunsScreen):
        return True
    return all(len(table.rows) > 0 for table in app.screen.query(Table))


async def until(pilot: Pilot[int], holds: Callable[[], bool]) -> None:
    for _ in range(_TRIES):
        if holds():
            return
        await pilot.pause(0.02)
    raise RuntimeError("the screen did not fill")


def neat(svg: str) -> str:
    """Use fonts that are there instead of loading one, and no-break spaces, the only ones that every viewer keeps.

    Browsers give up on ``xml:space`` and fold the others, and then stretch what is left over the length of the line.
    """
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code", "DejaVu Sans Mono, Menlo, Consolas").replace("&#160;", "\u00a0")
    svg = re.sub(r"terminal-\d+", "terminal", svg)
    svg = re.sub(r"<!-- .*? -->\s*", "", svg)
    return svg.replace("<svg ", '<svg xml:space="preserve" ', 1)


async def draw_all(folder: Path, only: Sequence[str] = ()) -> None:
    """Draw every screen in each size and theme, or only in those that are named: ``80x24-midnight``."""
    recording = Recording.model_validate_json(FILE.read_text(encoding="utf-8"))
    for size in SIZES:
        for theme in THEMES:
            look = f"{size[0]}x{size[1]}-{theme}"
            if only and look not in only:
                continue
            async for screen, svg in draw(recording, size, theme):
                (folder / f"{screen}-{look}.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    time.tzset()
    asyncio.run(draw_all(Path(sys.argv[1]) if len(sys.argv) > 1 else FILE.parent, sys.argv[2:]))

"""One browser's screen: the process that draws it, and what goes to and fro. Knows no token."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from aiohttp import WSMsgType, web
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

_MOST_CELLS: Final = 1000
#: A screen that was asked to end and does not is ended; it writes nothing, so nothing is lost.
_LEAVING_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Command:
    """What to show: the run, or all runs of the journal; ``write`` lets the screen act."""

    journal: str | None
    run_id: str | None
    write: bool

    def words(self) -> list[str]:
        """Return the screen's command. The journal is not in it: an address of one can hold a password."""
        chosen = [] if self.run_id is None else [self.run_id]
        return [sys.executable, "-P", "-m", "poolboard.browser_screen", *(["--write"] if self.write else []), *chosen]


class BrowserSession(AppService):
    """Carries bytes between a browser and a process of its own that draws the screen."""

    def __init__(self, command: Command, socket: web.WebSocketResponse) -> None:
        super().__init__(
            "",  # a shell's line; ours is no shell's
            write_bytes=socket.send_bytes,
            write_str=socket.send_str,
            close=self._closed_by_screen,
            download_manager=DownloadManager(),
        )
        self._words: Final = command.words()
        self._journal: Final = command.journal
        self._socket: Final = socket

    async def attend(self, query: Mapping[str, str]) -> None:
        """Show the screen until the browser or the screen leaves."""
        await self.start(_cells(query.get("width"), 80), _cells(query.get("height"), 24))
        try:
            async for message in self._socket:
                if message.type == WSMsgType.TEXT:
                    await self._take(str(message.data))
        finally:
            await self._end()

    async def _closed_by_screen(self) -> None:
        await self._socket.close()

    async def _take(self, text: str) -> None:
        """Hand on what the browser sent; what is none of the messages it sends is dropped."""
        with suppress(ValueError, RecursionError):
            match json.loads(text):
                case ["stdin", str(typed)]:
                    await self.send_bytes(typed.encode(errors="replace"))
                case ["resize", {"width": int(width), "height": int(height)}]:
                    await self.set_terminal_size(_cells(width, 80), _cells(height, 24))
                case ["ping", str() | int() | float() as told]:
                    await self._socket.send_json(["pong", told])
                case ["blur", *_]:
                    await self.blur()
                case ["focus", *_]:
                    await self.focus()

    async def _end(self) -> None:
        process = self._process
        try:
            with suppress(TimeoutError, ConnectionError):
                await asyncio.wait_for(self.stop(), _LEAVING_S)
        finally:
            if process is not None and process.returncode is None:
                with suppress(TimeoutError):
                    await asyncio.wait_for(process.wait(), _LEAVING_S)
                with suppress(ProcessLookupError):
                    process.kill()

    def _build_environment(self, width: int = 80, height: int = 24) -> dict[str, str]:
        environment = super()._build_environment(width, height)
        environment["TEXTUAL_DRIVER"] = "poolboard.tui.browser_driver:BrowserDriver"
        environment["TEXTUAL_FPS"] = "30"
        environment["PYTHONUTF8"] = "1"  # whatever the locale of a server, a browser shows every character
        if self._journal is not None:
            environment["POOLBOARD_JOURNAL"] = self._journal
        return environment

    async def _open_app_process(self, width: int = 80, height: int = 24) -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        # A session of its own: ^C in the server's terminal is for the server, which lets its screens leave.
        self._process = await asyncio.create_subprocess_exec(
            *self._words,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            env=self._build_environment(width, height),
            start_new_session=True,
        )
        self._stdin = self._process.stdin
        return self._process


def _cells(asked: str | int | None, otherwise: int) -> int:
    """Return a width or height that a screen can have."""
    try:
        return min(max(int(asked or otherwise), 1), _MOST_CELLS)
    except ValueError:
        return otherwise

"""The web server of ``poolboard serve``: lets in whoever has the token, and gives each a screen of their own.

textual-serve brings the browser's terminal (its static files) and the way a screen talks; its own server listens
without any check, loads a font from elsewhere and logs addresses, so the few routes are here.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from html import escape
from pathlib import Path
from string import Template
from typing import Final

import textual_serve
from aiohttp import WSCloseCode, web

from poolboard.browser_session import BrowserSession, Command

#: Each is a process of its own.
MOST_SCREENS: Final = 8
#: What a browser sends is keys, clicks and pasted text.
_MESSAGE_LIMIT_BYTES: Final = 256 * 1024
_HEARTBEAT_S: Final = 15.0
_CLOSING_S: Final = 10.0

_STATIC: Final = Path(textual_serve.__file__).parent / "static"
_PAGE: Final = Path(__file__).with_name("browser.html")
_SCRIPT: Final = Path(__file__).with_name("browser.js")
#: The page runs textual-serve's script and talks to us, nobody else. The terminal sets styles of its own.
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'",
    "Referrer-Policy": "no-referrer",  # the address holds the token
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Door:
    """Serves the screen of one run, or of all runs, under ``/TOKEN/``; ``write`` lets it act."""

    def __init__(
        self, token: str, journal: str | None, run_id: str | None, *, write: bool, most_screens: int = MOST_SCREENS
    ) -> None:
        self.token: Final = token
        self.write: Final = write
        self._most_screens: Final = most_screens
        self._command: Final = Command(journal, run_id, write)
        self._sockets: Final[set[web.WebSocketResponse]] = set()
        self._runner: web.AppRunner | None = None

    async def open(self, host: str, port: int) -> int:
        """Begin to listen; return the port. Raises OSError if the address cannot be had."""
        app = web.Application(middlewares=[self._guard])
        app.router.add_get("/{token}/", self._page)
        app.router.add_get("/{token}/browser.js", self._script)
        app.router.add_get("/{token}/ws", self._screen)
        app.router.add_get("/{token}/static/{path:.+}", self._file)
        app.on_shutdown.append(self._send_away)
        # No access log: its lines would hold the token.
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=_CLOSING_S)
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, host, port).start()
        except OSError:
            await self.close()
            raise
        return int(self._runner.addresses[0][1])

    async def close(self) -> None:
        """Stop to listen and end every screen; their runs go on."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _send_away(self, app: web.Application) -> None:
        for socket in tuple(self._sockets):
            await socket.close(code=WSCloseCode.GOING_AWAY)

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse whoever has no token, alike for any path, so that nothing can be learnt from the answers."""
        given = request.path.removeprefix("/").partition("/")[0]
        if not secrets.compare_digest(given.encode(errors="surrogateescape"), self.token.encode()):
            return web.Response(status=403, text="403\n")
        try:
            response = await handler(request)
        except web.HTTPException as refusal:
            return web.Response(status=refusal.status, text=f"{refusal.status}\n", headers=_HEADERS)
        if not response.prepared:
            response.headers.update(_HEADERS)
        return response

    async def _page(self, request: web.Request) -> web.Response:
        scheme = "wss" if request.scheme == "https" else "ws"
        socket = f"{scheme}://{request.host}/{self.token}/ws"
        page = Template(_PAGE.read_text(encoding="utf-8")).substitute(socket=escape(socket))
        return web.Response(text=page, content_type="text/html", headers=_HEADERS)

    async def _script(self, request: web.Request) -> web.FileResponse:
        return web.FileResponse(_SCRIPT, headers=_HEADERS)

    async def _file(self, request: web.Request) -> web.StreamResponse:
        path = (_STATIC / request.match_info["path"]).resolve()
        if not path.is_relative_to(_STATIC.resolve()) or not path.is_file():
            raise web.HTTPNotFound
        return web.FileResponse(path, headers=_HEADERS)

    async def _screen(self, request: web.Request) -> web.StreamResponse:
        origin = request.headers.get("Origin")
        if origin is not None and origin.partition("://")[2] != request.host:
            raise web.HTTPForbidden  # a page of somebody else's, in the browser of a person who has the address
        if len(self._sockets) >= self._most_screens:
            raise web.HTTPServiceUnavailable
        socket = web.WebSocketResponse(heartbeat=_HEARTBEAT_S, max_msg_size=_MESSAGE_LIMIT_BYTES)
        self._sockets.add(socket)
        try:
            await socket.prepare(request)
            await BrowserSession(self._command, socket).attend(request.query)
        finally:
            self._sockets.discard(socket)
        return socket

"""``metrics --port``: the Prometheus page of a journal, over HTTP, for this machine alone."""

from __future__ import annotations

import asyncio
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from poolboard import exit_codes, prometheus, shapes
from poolboard.console import say
from poolboard.engine.errors import UserMistake
from poolboard.session import opened

LOOPBACK: Final = "127.0.0.1"
#: Runs that are told in full: those that have not ended, the newest of them.
MOST_RUNS: Final = 50
#: A page somewhere else that got its name to mean this machine must not read what is served here.
HOSTS: Final = frozenset({"127.0.0.1", "localhost"})


def serve(journal: str | None, port: int, *, as_json: bool) -> int:
    """Serve until a signal ends the process; raises UserMistake for a port that cannot be had."""
    asyncio.run(page(journal))  # a journal that cannot be read is told now, not at the first scrape
    try:
        server = ThreadingHTTPServer((LOOPBACK, port), _handler(journal))
    except OSError as error:
        raise UserMistake(f"--port {port}: {error.strerror}") from None
    url = f"http://{LOOPBACK}:{server.server_port}/metrics"
    say(shapes.line({"shape": shapes.VERSION, "url": url}) if as_json else f"serving {url}; ^C ends this")
    with server:
        server.serve_forever()
    return exit_codes.COMPLETED


async def page(journal: str | None) -> str:
    """Return the page as it is now."""
    async with opened(journal) as monitor:
        runs = await monitor.runs()
        live = [run.run_id for run in runs if run.ended_at is None][:MOST_RUNS]
        summaries = [await monitor.status(run_id) for run_id in live]
    return prometheus.page(summaries, [run.status for run in runs])


def _handler(journal: str | None) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """Answers GET /metrics."""

        timeout = 30

        def do_GET(self) -> None:
            if (self.headers.get("Host") or "").rpartition(":")[0] not in HOSTS:
                self.send_error(403)
            elif self.path.partition("?")[0] != "/metrics":
                self.send_error(404)
            else:
                self._answer()

        def _answer(self) -> None:
            try:
                body = asyncio.run(page(journal)).encode()
            except Exception as error:
                self.send_error(503, type(error).__name__)
                return
            self.send_response(200)
            self.send_header("Content-Type", prometheus.CONTENT_TYPE)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: a line for each scrape is of no use to anybody."""

    return Handler

"""A worker's heartbeat: a thread that user code cannot block, on a connection of its own."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
import time
from collections.abc import Callable

from . import strays, wire

INTERVAL_S = 1.0
#: Exit code of a worker that lost its coordinator and found no successor (EX_TEMPFAIL of sysexits.h).
EXIT_ORPHANED = 75


class HeartbeatThread(threading.Thread):
    """Tells the coordinator each second that this process runs, and ends the process when nobody has listened for
    ``patience_s``: a loop that user code blocks cannot keep an orphan alive."""

    def __init__(
        self,
        worker: str,
        socket_path: Callable[[], str | None],
        loop: asyncio.AbstractEventLoop,
        patience_s: float,
    ) -> None:
        super().__init__(name="poolboard-heartbeat", daemon=True)
        self._worker, self._socket_path, self._loop, self._patience_s = worker, socket_path, loop, patience_s
        self._connection: socket.socket | None = None

    def run(self) -> None:
        heard = time.monotonic()
        while True:
            if self._beat():
                heard = time.monotonic()
            elif time.monotonic() - heard > self._patience_s:
                strays.end([self._worker])
                os._exit(EXIT_ORPHANED)
            time.sleep(INTERVAL_S)

    def _beat(self) -> bool:
        try:
            if self._connection is None:
                path = self._socket_path()
                if path is None:
                    return False
                self._connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                self._connection.settimeout(INTERVAL_S)
                self._connection.connect(path)
                self._connection.sendall(wire.encode([wire.HeartbeatHello(worker=self._worker)]))
            self._connection.sendall(wire.encode([wire.Heartbeat(loop_lag_ms=self._loop_lag_ms())]))
        except OSError:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
            return False
        return True

    def _loop_lag_ms(self) -> float:
        answered = threading.Event()
        asked = time.monotonic()
        try:
            self._loop.call_soon_threadsafe(answered.set)
        except RuntimeError:
            return 0.0
        answered.wait(INTERVAL_S)
        return (time.monotonic() - asked) * 1000

"""The end of a process that this one started."""

from __future__ import annotations

import asyncio
import subprocess
import threading
from contextlib import suppress


def exit_of(process: subprocess.Popen[bytes]) -> asyncio.Future[int]:
    """Return a future of the process's exit status, below 0 for a signal.

    A thread of its own waits. The loop's executor has 6 of them on two cores: so many workers would take them all, and
    what is done on such a thread when one of them dies would wait until the next one did.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[int] = loop.create_future()

    def settle(status: int) -> None:
        if not future.done():
            future.set_result(status)

    def wait() -> None:
        status = process.wait()
        with suppress(RuntimeError):  # the loop has closed meanwhile
            loop.call_soon_threadsafe(settle, status)

    threading.Thread(target=wait, name=f"exit of {process.pid}", daemon=True).start()
    return future

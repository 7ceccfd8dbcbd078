"""The end of processes, waited for without keeping anybody from anything else."""

from __future__ import annotations

import asyncio
import signal
import subprocess

from poolboard.engine.process_exit import exit_of


async def test_however_many_are_waited_for_the_loops_threads_are_free() -> None:
    """With as many workers as that executor has threads, nothing could be done when one of them died."""
    processes = [subprocess.Popen(["sleep", "300"]) for _ in range(40)]  # noqa: ASYNC220 - as the fleet does
    exits = [exit_of(process) for process in processes]
    assert await asyncio.to_thread(lambda: "done") == "done"
    for process in processes:
        process.send_signal(signal.SIGKILL)
    assert set(await asyncio.gather(*exits)) == {-signal.SIGKILL}

"""SIGKILL for the screen while its run goes on: the run does not notice."""

from __future__ import annotations

import asyncio
import os
import pty
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.engine.rig import Rig

ROOT = Path(__file__).parent.parent.parent


def screen(rig: Rig) -> tuple[subprocess.Popen[bytes], int]:
    """Open the board of the rig's run in a pseudo-terminal of its own."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "poolboard", "watch", rig.run_id, "--journal", str(rig.journal)],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=ROOT,
        env={**os.environ, "TERM": "xterm-256color"},
        start_new_session=True,
    )
    os.close(slave)
    return process, master


def drawn(master: int) -> bytes:
    """Read until the board stands on the screen."""
    told = b""
    while b"in all" not in told:
        told += os.read(master, 65536)
    return told


async def test_a_killed_screen_leaves_its_run_alone_and_another_one_comes_back(rig: Rig) -> None:
    """B32, the hardest of its five ways."""
    await rig.start("squares:many", n=60, trace=str(rig.trace), delay_s=0.1)
    before = await rig.completed(2)
    for _ in range(2):
        process, master = screen(rig)
        await asyncio.to_thread(drawn, master)
        await asyncio.sleep(random.uniform(0, 0.3))
        process.send_signal(signal.SIGKILL)
        await asyncio.to_thread(process.wait)
        os.close(master)
    summary = await rig.ended()
    assert (summary.run.status, summary.run.result) == ("completed", "70210")
    assert summary.coordinator.epoch == before.coordinator.epoch == 1
    assert Counter(rig.traces()) == Counter(f"{i}:0" for i in range(60))

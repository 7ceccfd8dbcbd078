"""kill -9 while writing: what was acknowledged is there, what is there is whole, and sending it again is harmless."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from poolboard.journal import queue
from poolboard.journal.driver import connect
from poolboard.journal.model import Checkpoint, Receipt, Token
from poolboard.journal.sqlite import SqliteJournal

#: Writes checkpoints of eight children in shared commits and prints each as it is acknowledged; at the fault point's
#: n-th passing it is killed, in the middle of whatever all its threads are doing.
WRITER = """
import asyncio, os, signal, sys
from functools import partial
from pathlib import Path
from poolboard.journal import queue
from poolboard.journal.model import Checkpoint, NewRun, NewWork
from poolboard.journal.sqlite import SqliteJournal

path, point, passings = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
left = passings

def fault(passed):
    global left
    left -= passed == point
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)

async def main():
    journal = await SqliteJournal.open(path, fault=fault)
    await journal.create_run(NewRun("run-1", "n", "/", "{}"))
    lease = await journal.acquire_lease("run-1", "doomed")
    await journal.transact(lambda tx: queue.enqueue(tx, lease, None, [NewWork("root", "w", "root", "{}")]))
    root = await journal.transact(lambda tx: queue.claim(tx, lease, 0, "w0", 600_000))
    items = [NewWork(f"child {n}", "w", "child", "{}") for n in range(8)]
    await journal.transact(lambda tx: queue.enqueue(tx, lease, root.token, items))

    async def child(n):
        claimed = await journal.transact(partial(queue.claim, lease=lease, n=n, worker="w1", ttl_ms=600_000))
        for key in range(1_000):
            one = Checkpoint(str(key), "stage", '{"value": %d}' % key, 1, 1, 1.0)
            receipt = await journal.transact(partial(queue.commit, lease=lease, token=claimed.token, checkpoint=one))
            print(n, key, receipt.seq, receipt.at, flush=True)

    await asyncio.gather(*(child(n) for n in range(1, 9)))

asyncio.run(main())
"""


def killed(path: Path, point: str, passings: int) -> dict[tuple[int, int], Receipt]:
    """Run the writer until it is killed and return what it was told was recorded."""
    command = [sys.executable, "-c", WRITER, str(path), point, str(passings)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == -signal.SIGKILL, done.stderr
    lines = done.stdout.split("\n")[:-1]  # what follows the last newline is half a line, if anything
    told = [[int(word) for word in line.split()] for line in lines]
    return {(n, key): Receipt(seq, at) for n, key, seq, at in told}


@pytest.mark.parametrize("point", ["journal.begun", "journal.committed"])
@pytest.mark.parametrize("passings", [7, 40, 123])
async def test_every_acknowledged_checkpoint_survives_kill_9(path: Path, point: str, passings: int) -> None:
    acknowledged = await asyncio.to_thread(killed, path, point, passings)
    journal = await SqliteJournal.open(path)
    connection = connect(path, readonly=True)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()
    row = await journal.get_run("run-1")
    entries = [entry async for entry in journal.read("run-1")]
    assert [entry.seq for entry in entries] == list(range(1, row.last_seq + 1))
    recorded = {
        (n, int(entry.event.payload.split()[1][:-1])): Receipt(entry.seq, entry.at)
        for n in range(1, 9)
        for entry in await journal.reader.checkpoints(1, n)
    }
    assert recorded.items() >= acknowledged.items()
    assert len(recorded) - len(acknowledged) <= 8  # every child waits for its answer before the next
    assert acknowledged or passings < 40
    stages = await journal.reader.stages(1)
    assert sum(stage.done for stage in stages) == len(recorded)
    await send_again(journal, recorded)
    await journal.close()


async def send_again(journal: SqliteJournal, recorded: dict[tuple[int, int], Receipt]) -> None:
    """The worker outlived the coordinator: a successor adopts it, and it sends again what it got no answer for."""
    lease = await journal.acquire_lease("run-1", "heir", if_epoch=1)
    before = await journal.get_run("run-1")
    for (n, key), receipt in recorded.items():
        if key % 10:
            continue
        token = await journal.transact(lambda tx, n=n: queue.adopt(tx, lease, Token(n, 1, "w1", 1)))  # type: ignore[misc]
        one = Checkpoint(str(key), "stage", f'{{"value": {key}}}', 1, 1, 1.0)
        assert await journal.transact(lambda tx, one=one, token=token: queue.commit(tx, lease, token, one)) == receipt  # type: ignore[misc]
    assert (await journal.get_run("run-1")).last_seq == before.last_seq

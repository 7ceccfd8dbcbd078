"""What every measured program shares: the work itself, and how it says where it is. Knows nothing but Python's library.

It runs in every peer's environment, so nothing of Poolboard is imported here. ``BENCH_FOLDER`` names the folder of the
pass: ``data/`` in it is what the system keeps on disk, ``effects`` is one line per start and end of an item.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

CPU_ITEM_S = 0.020
SLEEP_ITEM_S = 0.050
#: An item of the kill pass lasts as long as it takes a person to believe that it was interrupted.
KILL_ITEM_S = 0.020
STEPS = 3
#: Nobody waits longer than that for one result more; the caller then tells how many it knows.
RESULT_LIMIT_S = 15.0
#: A process that ends more often than that is not going to stay.
STARTS_LIMIT = 10

_effects: int | None = None


def folder() -> Path:
    """Return the folder of this pass."""
    return Path(os.environ["BENCH_FOLDER"])


def data() -> Path:
    """Return where a system keeps what it keeps."""
    return folder() / "data"


def asked() -> tuple[str, int, int]:
    """Return what the command line asks for: the kind of work, how many items, and how many at once."""
    kind, count, width = sys.argv[1:4]
    return kind, int(count), int(width)


def work(kind: str, n: int, step: int = 0) -> int:
    """Do one item, or one step of it, note it, and return its number."""
    item = f"{n}.{step}" if kind == "steps" else str(n)
    if kind == "cpu":
        until = time.thread_time() + CPU_ITEM_S
        while time.thread_time() < until:
            pass
    elif kind in ("sleep", "kill"):
        _note("s", item)
        time.sleep(SLEEP_ITEM_S if kind == "sleep" else KILL_ITEM_S)
    _note("e", item)
    return n


def _note(phase: str, item: str) -> None:
    """Append one line; one small write to a file opened for appending is never torn."""
    global _effects
    if _effects is None:
        _effects = os.open(folder() / "effects", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(_effects, f"{phase} {item} {os.getpid()} {time.time():.6f}\n".encode())


def begun() -> None:
    """Say that the workers are ready and that the first item is handed over now."""
    _mark("begun", 0)


def ended(known: int) -> None:
    """Say that the caller knows so many results, and that all of them are recorded."""
    _mark("ended", known)


def _mark(name: str, known: int) -> None:
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(str(folder() / "marks"))
        line.sendall(f"{name} {known}".encode())
        line.recv(1)  # the clock is read and the processes are looked at: go on


def known(waits: Iterable[Callable[[float], object]]) -> int:
    """Return how many results came; each wait gets the seconds it may take, and raises when the result is lost."""
    count, limit_s = 0, RESULT_LIMIT_S
    for wait in waits:
        try:
            wait(limit_s)
            count += 1
        except Exception as error:
            print(f"lost: {type(error).__name__}: {error}", flush=True)
            # Once one did not come in all that time, the others have had it too.
            limit_s = 1.0
    return count


@contextmanager
def kept_alive(count: int, command: Callable[[int], Sequence[str]]) -> Iterator[None]:
    """Keep ``count`` processes running, as whoever looks after services does: one that is killed is started again."""
    closing = threading.Event()
    running: dict[int, subprocess.Popen[bytes]] = {}

    def keep(place: int) -> None:
        for _ in range(STARTS_LIMIT):
            running[place] = subprocess.Popen(command(place), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            running[place].wait()
            if closing.wait(0.1):
                return

    keepers = [threading.Thread(target=keep, args=(place,), daemon=True) for place in range(count)]
    for keeper in keepers:
        keeper.start()
    try:
        yield
    finally:
        closing.set()
        for process in running.values():
            process.send_signal(signal.SIGTERM)
        for keeper in keepers:
            keeper.join(timeout=10)


def main() -> None:
    """Do one item of a command line, for systems whose items are commands."""
    work(sys.argv[1], int(sys.argv[2]))


if __name__ == "__main__":
    main()

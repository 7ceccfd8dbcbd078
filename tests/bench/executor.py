"""What Python itself offers: the same no-op through ``ProcessPoolExecutor``, a future each, nothing recorded.

Run as ``python -m tests.bench.executor COUNT STAGES``, in a process of its own; prints one line of JSON.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from concurrent.futures import Future, ProcessPoolExecutor
from queue import SimpleQueue

WORKERS = 2


def nothing(n: int) -> int:
    """Return what it got."""
    return n


def measure(count: int, stages: int) -> tuple[float, float]:
    """Return items finished a second and CPU seconds per 1,000 items, start-up included.

    Each item runs its stages one after the other. Counted from the first stage that finished to the last: the executor
    takes up the second stage of an item after the first of all others, so its first item is finished near the end.
    """
    finished: SimpleQueue[float] = SimpleQueue()
    begun: list[float] = []
    before_s = _cpu_s()
    with ProcessPoolExecutor(WORKERS) as pool:

        def submit(n: int, left: int) -> None:
            pool.submit(nothing, n).add_done_callback(lambda done: step(done, left - 1))

        def step(done: Future[int], left: int) -> None:
            if not begun:
                begun.append(time.perf_counter())
            if left:
                submit(done.result(), left)
            else:
                finished.put(time.perf_counter())

        for n in range(count):
            submit(n, stages)
        times = [finished.get(timeout=120) for _ in range(count)]
    return (count - 1 / stages) / (times[-1] - begun[0]), (_cpu_s() - before_s) * 1000 / count


def _cpu_s() -> float:
    """Return the CPU seconds of this process and of its workers that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]), int(sys.argv[2]))))

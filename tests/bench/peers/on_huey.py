"""Huey with SQLite. ``BENCH_FSYNC=0`` asks it not to wait for the disk; otherwise its settings are the default ones."""

from __future__ import annotations

import os
import sys
from functools import partial
from importlib import import_module
from typing import Any

from huey import SqliteHuey

from tests.bench.peers import rig

huey = SqliteHuey(
    "bench", filename=str(rig.data() / "huey.db"), **({"fsync": False} if "BENCH_FSYNC" in os.environ else {})
)


@huey.task()
def item(kind: str, n: int) -> int:
    """One item."""
    return rig.work(kind, n)


@huey.task()
def step(n: int, number: int) -> tuple[int, int]:
    """One step of an item; its result is what the next step of the pipeline gets."""
    return rig.work("steps", n, number), number + 1


def main() -> None:
    """Start the consumer, enqueue the items, wait for their results."""
    kind, count, width = rig.asked()
    workers = "thread" if kind == "sleep" else "process"
    program = [sys.executable, "-m", "huey.bin.huey_consumer", f"{__spec__.name}.huey"]
    words = [*program, "-w", str(width), "-k", workers, "-c", "1"]
    with rig.kept_alive(1, lambda place: words):
        item("noop", -1).get(blocking=True, timeout=30)  # the workers are there
        rig.begun()
        results = [_enqueue(kind, n) for n in range(count)]
        rig.ended(rig.known(partial(_wait, result) for result in results))


def _enqueue(kind: str, n: int) -> Any:
    if kind != "steps":
        return item(kind, n)
    return list(huey.enqueue(step.s(n, 0).then(step).then(step)))[-1]


def _wait(result: Any, limit_s: float) -> None:
    result.get(blocking=True, timeout=limit_s, backoff=1.15, max_delay=0.1)


if __name__ == "__main__":
    # The consumer knows the tasks by the module's own name, not as those of a program.
    import_module(__spec__.name).main()

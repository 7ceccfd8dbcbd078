"""Ray on this machine: a task an item; sleeping items through async actors, its own way to have many at once."""

from __future__ import annotations

from functools import partial
from typing import Any

import ray

from tests.bench.peers import rig

WORKERS = 2


@ray.remote
def item(kind: str, n: int, step: int = 0) -> int:
    """One item, or one step of it."""
    return rig.work(kind, n, step)


@ray.remote
class Sleepers:
    """Items that wait, many at once in one process."""

    def item(self, kind: str, n: int) -> int:
        """One item."""
        return rig.work(kind, n)


def main() -> None:
    """Start Ray, submit the items, get their results."""
    kind, count, width = rig.asked()
    ray.init(num_cpus=WORKERS, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    ray.get([item.remote("noop", -1) for _ in range(WORKERS)])
    actors: list[Any] = []
    if kind == "sleep":
        sleepers: Any = Sleepers
        actors = [sleepers.options(max_concurrency=width // WORKERS, num_cpus=1).remote() for _ in range(WORKERS)]
        ray.get([actor.item.remote("noop", -1) for actor in actors])
    rig.begun()
    if actors:
        items = [actors[n % WORKERS].item.remote(kind, n) for n in range(count)]
    else:
        items = [_submit(kind, n) for n in range(count)]
    rig.ended(rig.known(partial(_wait, found) for found in items))
    ray.shutdown()


def _submit(kind: str, n: int) -> Any:
    found: Any = item.remote(kind, n)
    for step in range(1, rig.STEPS if kind == "steps" else 1):
        found = item.remote(kind, found, step)
    return found


def _wait(found: Any, limit_s: float) -> None:
    ray.get(found, timeout=limit_s)


if __name__ == "__main__":
    main()

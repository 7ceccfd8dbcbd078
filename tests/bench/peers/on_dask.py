"""Dask distributed on this machine: a scheduler and two workers, results in their memory."""

from __future__ import annotations

from functools import partial
from typing import Any

from distributed import Client, LocalCluster

from tests.bench.peers import rig

WORKERS = 2


def main() -> None:
    """Start the cluster, submit the items, gather their results."""
    kind, count, width = rig.asked()
    threads = max(width // WORKERS, 1)
    cluster = LocalCluster(n_workers=WORKERS, threads_per_worker=threads, dashboard_address=None)
    with cluster, Client(cluster) as client:
        client.wait_for_workers(WORKERS)
        client.gather(client.map(abs, range(WORKERS), pure=False))
        rig.begun()
        items = [_submit(client, kind, n) for n in range(count)]
        try:
            told = len(client.gather(items))  # all in one request, as people do
        except Exception:
            told = rig.known(partial(item.result) for item in items)
        rig.ended(told)


def _submit(client: Any, kind: str, n: int) -> Any:
    future = client.submit(rig.work, kind, n, pure=False)
    for step in range(1, rig.STEPS if kind == "steps" else 1):
        future = client.submit(rig.work, kind, future, step, pure=False)
    return future


if __name__ == "__main__":
    main()

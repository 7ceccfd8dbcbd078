"""DBOS Transact with SQLite: two processes that take workflows from a queue, and a client that enqueues them."""

from __future__ import annotations

import os
import sys
import threading
from functools import partial
from typing import Any

from dbos import DBOS, DBOSClient

from tests.bench.peers import rig

WORKERS = 2
QUEUE = "bench"
#: How often a worker looks for work, and the client for results; the default of both is a second.
POLL_S = 0.05
URL = f"sqlite:///{rig.data() / 'dbos.sqlite'}"


@DBOS.step()
def work(kind: str, n: int, number: int) -> int:
    """One step of an item."""
    return rig.work(kind, n, number)


@DBOS.workflow()
def item(kind: str, n: int) -> int:
    """One item."""
    for number in range(rig.STEPS if kind == "steps" else 1):
        work(kind, n, number)
    return n


def main() -> None:
    """Start the workers, enqueue the items, wait for their results."""
    kind, count, width = rig.asked()
    at_once = {"sleep": width // WORKERS, "kill": 1, "cpu": 2}.get(kind, 0)
    # The first one makes the tables, alone.
    _launch("maker", at_once)
    DBOS.destroy()
    words = [sys.executable, "-m", __spec__.name, "worker"]
    with rig.kept_alive(WORKERS, lambda place: [*words, str(place), str(at_once)]):
        client = DBOSClient(system_database_url=URL)
        for result in [_enqueue(client, "noop", -1) for _ in range(WORKERS)]:
            result.get_result(polling_interval_sec=POLL_S)
        rig.begun()
        results = [_enqueue(client, kind, n) for n in range(count)]
        rig.ended(rig.known(partial(_wait, result) for result in results))
        client.destroy()


def serve(place: str, at_once: int) -> None:
    """Take workflows from the queue until ended; a worker that starts anew goes on with what its executor had begun."""
    _launch(f"worker-{place}", at_once)
    threading.Event().wait()


def _launch(executor: str, at_once: int) -> None:
    config: Any = {
        "name": "bench",
        "system_database_url": URL,
        "executor_id": executor,
        "application_version": "1",
        "log_level": "ERROR",
        "run_admin_server": False,
        "notification_listener_polling_interval_sec": POLL_S,
    }
    DBOS(config=config)
    DBOS.launch()
    DBOS.register_queue(QUEUE, worker_concurrency=at_once or None, polling_interval_sec=POLL_S)


def _enqueue(client: DBOSClient, kind: str, n: int) -> Any:
    options: Any = {"workflow_name": item.__qualname__, "queue_name": QUEUE, "app_version": "1"}
    return client.enqueue(options, kind, n)


def _wait(result: Any, limit_s: float) -> None:
    result.get_result(polling_interval_sec=POLL_S)  # it takes no limit; the harness has one


if __name__ == "__main__":
    if sys.argv[1:2] == ["worker"]:
        os.environ["DBOS__VMID"] = f"worker-{sys.argv[2]}"
        serve(sys.argv[2], int(sys.argv[3]))
    else:
        main()

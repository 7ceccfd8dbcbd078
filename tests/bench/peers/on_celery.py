"""Celery with Redis as broker and as result backend; the server is started here, on a port of its own.

``BENCH_FSYNC=1`` has Redis fsync each command before it answers (``appendfsync always``), otherwise each second.
Tasks are acknowledged when they are done, and given to another worker if theirs is lost: what its manual says to do
for work that must not be lost.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from celery import Celery, chain

from tests.bench.peers import rig

_URL = os.environ.get("BENCH_REDIS", "redis://127.0.0.1:1/0")
app = Celery(__spec__.name, broker=_URL, backend=_URL)
app.conf.update(
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    worker_hijack_root_logger=False,
    broker_connection_retry_on_startup=True,
)


@app.task
def item(kind: str, n: int) -> int:
    """One item."""
    return rig.work(kind, n)


@app.task
def step(n: int, number: int) -> int:
    """One step of an item; the chain hands its result to the next."""
    return rig.work("steps", n, number)


def main() -> None:
    """Start Redis and the worker, call the tasks, wait for their results."""
    kind, count, width = rig.asked()
    with _redis() as url:
        os.environ["BENCH_REDIS"] = url
        app.conf.update(broker_url=url, result_backend=url)
        pool = "threads" if kind == "sleep" else "prefork"
        program = f"{sys.executable} -m celery -A {__spec__.name} worker --loglevel ERROR".split(" ")
        extra = f"--pool {pool} --concurrency {width} --without-gossip --without-mingle".split(" ")
        with rig.kept_alive(1, lambda place: [*program, *extra]):
            item.delay("noop", -1).get(timeout=60)  # the worker is there
            rig.begun()
            results = [_call(kind, n) for n in range(count)]
            rig.ended(rig.known(partial(_wait, result) for result in results))


def _call(kind: str, n: int) -> Any:
    if kind != "steps":
        return item.delay(kind, n)
    return chain(step.s(n, 0), step.s(1), step.s(2)).apply_async()


def _wait(result: Any, limit_s: float) -> None:
    result.get(timeout=limit_s)


@contextmanager
def _redis() -> Iterator[str]:
    """Run a Redis of our own on the loopback and return its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    mode = "always" if os.environ.get("BENCH_FSYNC") else "everysec"
    words = ["redis-server", "--bind", "127.0.0.1", "--port", str(port), "--dir", str(rig.data()), "--save", ""]
    server = subprocess.Popen([*words, "--appendonly", "yes", "--appendfsync", mode], stdout=subprocess.DEVNULL)
    try:
        for _ in range(200):
            with socket.socket() as line:
                if line.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()

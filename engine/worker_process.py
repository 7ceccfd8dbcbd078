"""A worker's process and nothing of its work: started, told its settings, or sent away again.

What a worker imports takes as long as what its coordinator imports. So a new run's coordinator starts the first workers
before it loads anything else: they load side by side, and wait at their stdin until the coordinator has the lease.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from . import spawn


@dataclass(frozen=True, slots=True)
class WorkerProcess:
    """A process that was started as a worker of this id; it reads its settings from stdin, up to its end."""

    worker: str
    process: subprocess.Popen[bytes]

    @classmethod
    def start(cls, place: int, logs: Path) -> WorkerProcess:
        """Start a worker for a place of the pool, leader of its own session; it prints into a file in ``logs``."""
        worker = f"{place}.{os.urandom(3).hex()}"
        log = os.open(log_path(logs, worker), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            process = subprocess.Popen(
                spawn.command("worker"),
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env={**spawn.environment(), spawn.MARK: worker},
                start_new_session=True,
            )
        finally:
            os.close(log)
        return cls(worker, process)

    def tell(self, settings: str) -> None:
        """Give it its settings; with empty ones it ends at once."""
        stdin = self.process.stdin
        assert stdin is not None
        with suppress(BrokenPipeError), stdin:
            stdin.write(settings.encode())


def log_path(logs: Path, worker: str) -> Path:
    """Return where a worker's own output goes."""
    return logs / f"{worker}.log"


def start_ahead(logs: Path, places: Iterable[int]) -> dict[int, WorkerProcess]:
    """Start workers by place that get their settings later."""
    return {place: WorkerProcess.start(place, logs) for place in places}

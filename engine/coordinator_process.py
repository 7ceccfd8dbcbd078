"""A coordinator's process as it is started: detached, told its errand on stdin, heard once.

``posix_spawn`` rather than ``subprocess``: it is to outlive this process, and nobody is to wait for it.
"""

from __future__ import annotations

import os
import select
import sys
import threading
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from poolboard.journal.select import DEFAULT

from . import spawn
from .folder import RunFolder, chosen_journal, make_private

READY_LIMIT_S = 60.0


@dataclass(frozen=True, slots=True)
class CoordinatorProcess:
    """One that was started: what it hears and says are descriptors of this process."""

    tell: int
    hear: int

    @classmethod
    def start(cls, folder: RunFolder, words: list[str]) -> CoordinatorProcess:
        """Start it; it loads, and then waits for its errand."""
        log = os.open(folder.coordinator_log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        hear, told = os.pipe()
        listen, tell = os.pipe()
        try:
            pid = os.posix_spawn(
                sys.executable,
                spawn.command("coordinate", *words),
                {name: value for name, value in spawn.environment().items() if name != spawn.MARK},
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, listen, 0),
                    (os.POSIX_SPAWN_DUP2, told, 1),
                    (os.POSIX_SPAWN_DUP2, log, 2),
                ],
                setsid=True,
            )
        finally:
            for descriptor in (log, told, listen):
                os.close(descriptor)
        # A coordinator that ends while this process lives must not stay a zombie.
        threading.Thread(target=os.waitpid, args=(pid, 0), daemon=True).start()
        return cls(tell, hear)

    def answer(self, errand: bytes) -> bytes:
        """Tell it what it is for and return the line that it says, empty if it says none. Blocks."""
        with suppress(BrokenPipeError), os.fdopen(self.tell, "wb") as stdin:
            stdin.write(errand)
        try:
            line, deadline = b"", time.monotonic() + READY_LIMIT_S
            while not line.endswith(b"\n") and (left := deadline - time.monotonic()) > 0:
                if select.select([self.hear], [], [], left)[0]:
                    data = os.read(self.hear, 65536)
                    if not data:
                        return b""
                    line += data
            return line if line.endswith(b"\n") else b""
        finally:
            os.close(self.hear)

    def dismiss(self) -> None:
        """Send it away: with no errand it ends, and has done nothing."""
        os.close(self.tell)
        os.close(self.hear)


@dataclass(frozen=True, slots=True)
class Begun:
    """A run that has an id, a folder and a process, but is not recorded yet: anything may turn out wrong."""

    run_id: str
    folder: RunFolder
    journal: Path
    process: CoordinatorProcess

    @classmethod
    def now(cls, journal: str | None, workers: int) -> Begun:
        """Start the processes of a run with so many workers, to load while the rest is looked at.

        Raises UserMistake, JournalUnusable.
        """
        chosen = chosen_journal(journal)
        path = chosen.pool_path()
        if chosen.source == DEFAULT:
            make_private(path.parent)
        run_id = uuid.uuid4().hex
        folder = RunFolder.of(run_id)
        folder.socket_path()
        folder.create()
        # One core is the coordinator's own.
        ahead = min(workers, max(1, (os.cpu_count() or 1) - 1))
        words = [str(path), run_id, str(folder.workers), str(ahead)]
        return cls(run_id, folder, path, CoordinatorProcess.start(folder, words))

    def forget(self) -> None:
        """Take back what was begun."""
        import shutil

        self.process.dismiss()
        shutil.rmtree(self.folder.path, ignore_errors=True)

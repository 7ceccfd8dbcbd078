"""What a run's processes use: CPU time and peak memory, sampled from outside until they end."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from poolboard.engine.folder import RunFolder

from .figure import Unmeasured

MIB = 1024 * 1024


@dataclass(slots=True)
class _Process:
    process: psutil.Process
    cpu_s: float = 0.0
    peak_bytes: int = 0

    def read(self) -> None:
        """Take in what is used so far; a process that ended keeps what was read last."""
        with suppress(psutil.Error, OSError):
            times = self.process.cpu_times()
            self.cpu_s = times.user + times.system
            self.peak_bytes = max(self.peak_bytes, _peak_bytes(self.process))


@dataclass(slots=True)
class Usage:
    """A coordinator and its workers, of whom ``workers`` are awaited. Asks them nothing, so it costs them nothing."""

    folder: RunFolder
    workers: int
    _coordinator: _Process | None = None
    _workers: list[_Process] = field(default_factory=list)
    _samples: list[tuple[float, float, float]] = field(default_factory=list)

    def sample(self) -> None:
        """Look once; call it a few times a second."""
        self._find()
        everybody = [*([self._coordinator] if self._coordinator else []), *self._workers]
        for one in everybody:
            one.read()
        if self._coordinator is not None:
            workers_s = sum(worker.cpu_s for worker in self._workers)
            self._samples.append((time.time(), self._coordinator.cpu_s, workers_s))

    def _find(self) -> None:
        with suppress(psutil.Error):
            if self._coordinator is None and (told := self.folder.read_coordinator()) is not None:
                self._coordinator = _Process(psutil.Process(told.identity.pid))
            if self._coordinator is not None and len(self._workers) < self.workers:
                known = {worker.process for worker in self._workers}
                found = self._coordinator.process.children()
                self._workers += [_Process(process) for process in found if process not in known]

    def cpu_s(self, moment_s: float) -> tuple[float, float]:
        """Return the CPU seconds of coordinator and workers from their start to a time of day.

        It lies on a straight line between the samples before and after.
        """
        if len(self._samples) < 2:
            raise Unmeasured("CPU seconds: the processes ended before they could be sampled twice")
        before = self._samples[0]
        for sample in self._samples[1:]:
            if sample[0] >= moment_s:
                share = max((moment_s - before[0]) / (sample[0] - before[0]), 0.0)
                return before[1] + share * (sample[1] - before[1]), before[2] + share * (sample[2] - before[2])
            before = sample
        return before[1], before[2]

    def peak_mib(self) -> tuple[float, float]:
        """Return the peak resident memory of the coordinator and of the largest worker."""
        if self._coordinator is None or len(self._workers) < self.workers:
            raise Unmeasured(f"peak memory: {len(self._workers)} of {self.workers} workers were seen")
        return self._coordinator.peak_bytes / MIB, max(worker.peak_bytes for worker in self._workers) / MIB


def _peak_bytes(process: psutil.Process) -> int:
    if sys.platform == "linux":
        # The kernel keeps the peak: nothing between two samples is missed.
        for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return int(process.memory_info().rss)

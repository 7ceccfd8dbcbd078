"""Runs one program and everything that it starts, and measures them from outside: ``python -m … FOLDER KILL_AT ARGV…``.

On Linux it is the parent that every orphan below it gets, so no process escapes and no CPU second is lost: what ended
is in its parent's account, up to our own. Elsewhere the processes are those that could be seen while they ran.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

import psutil

PR_SET_CHILD_SUBREAPER = 36
SAMPLE_S = 0.2
#: Bounds, not expectations: what takes longer is told as such. Without an effect for so long nothing goes on any more.
START_LIMIT_S, STALL_LIMIT_S, PASS_LIMIT_S = 120.0, 40.0, 240.0
#: What is left after the program's end gets so long to go by itself.
LEAVE_S = 3.0


@dataclass(slots=True)
class Told:
    """What came out: moments are seconds of the wall clock, CPU and bytes are of all processes together."""

    started_s: float
    begun_s: float = 0.0
    ended_s: float = 0.0
    known: int = -1
    cpu_begun_s: float = 0.0
    cpu_ended_s: float = 0.0
    data_bytes: int = 0
    peak_bytes: int = 0
    processes: int = 0
    killed: int = 0
    done_at_kill: int = 0
    exit_code: int | None = None
    over: str = ""


@dataclass(slots=True)
class Warden:
    """Looks after one program."""

    folder: Path
    kill_at: int
    told: Told = field(default_factory=lambda: Told(time.time()))
    _effects_read: int = 0
    _done: int = 0
    _last_pid: int = 0
    _moved_s: float = field(default_factory=time.monotonic)
    _program: int = 0

    def run(self, argv: list[str]) -> Told:
        """Run it to its end, or to the limits."""
        _become_parent_of_orphans()
        told, until = self.told, time.monotonic() + PASS_LIMIT_S
        with socket.socket(socket.AF_UNIX) as marks, (self.folder / "said").open("wb") as said:
            marks.bind(str(self.folder / "marks"))
            marks.listen(16)
            program = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
            self._program = program.pid
            while program.poll() is None and not told.ended_s:
                self._look()
                self._listen(marks)
                quiet_limit_s = STALL_LIMIT_S if told.begun_s else START_LIMIT_S
                if time.monotonic() - self._moved_s > quiet_limit_s:
                    told.over = f"nothing more happened for {quiet_limit_s:.0f} s"
                elif time.monotonic() > until:
                    told.over = f"it went on for more than {PASS_LIMIT_S:.0f} s"
                if told.over:
                    break
            told.exit_code = self._end(program)
        told.data_bytes = sum(path.lstat().st_size for path in (self.folder / "data").rglob("*") if path.is_file())
        return told

    def _look(self) -> None:
        """Take in memory and effects; kill once when it is time."""
        # Effects first: halfway is soon over, and memory takes a while to read.
        self._read_effects()
        family = _family()
        if self.kill_at and not self.told.killed and self._done >= self.kill_at:
            self._kill({process.pid for process in family})
        self.told.processes = max(self.told.processes, len(family))
        self.told.peak_bytes = max(self.told.peak_bytes, sum(map(_memory, family)))

    def _read_effects(self) -> None:
        with suppress(OSError), (self.folder / "effects").open("rb") as effects:
            effects.seek(self._effects_read)
            data = effects.read()
            whole = data[: data.rfind(b"\n") + 1]
            self._effects_read += len(whole)
            for line in whole.splitlines():
                phase, _, pid, _ = line.split()
                self._done += phase == b"e"
                self._last_pid = int(pid)
                self._moved_s = time.monotonic()

    def _kill(self, family: set[int]) -> None:
        """SIGKILL the process that was last seen to work on an item, if it is one of those below us."""
        if self._last_pid in family:
            with suppress(ProcessLookupError):
                os.kill(self._last_pid, signal.SIGKILL)
                self.told.killed, self.told.done_at_kill = self._last_pid, self._done

    def _listen(self, marks: socket.socket) -> None:
        """Wait for a mark for a while; the one who makes it waits until everything was read."""
        # While a worker is to be killed halfway, halfway must not go by between two looks.
        marks.settimeout(SAMPLE_S if not self.kill_at or self.told.killed else 0.01)
        with suppress(TimeoutError):
            line, _ = marks.accept()
            with line:
                name, known = line.recv(64).split()
                self._mark(name.decode(), int(known))
                with suppress(OSError):
                    line.sendall(b".")

    def _mark(self, name: str, known: int) -> None:
        now_s, told = time.time(), self.told
        self._moved_s = time.monotonic()
        if name == "begun" and not told.begun_s:
            told.cpu_begun_s = self._cpu_s()
            told.begun_s = time.time()
        elif name == "ended":
            told.ended_s, told.known = now_s, known
            told.cpu_ended_s = self._cpu_s()
            self._look()

    def _cpu_s(self) -> float:
        """Return the CPU seconds of everybody below us so far, those that have ended included."""
        total = 0.0
        for process in _family():
            with suppress(psutil.Error):
                times = process.cpu_times()
                total += times.user + times.system + times.children_user + times.children_system
                if process.pid != self._program and process.status() == psutil.STATUS_ZOMBIE:
                    process.wait(0)  # an orphan that ended: from now on it is in our own account
                    total -= times.user + times.system + times.children_user + times.children_system
        reaped = resource.getrusage(resource.RUSAGE_CHILDREN)
        return total + reaped.ru_utime + reaped.ru_stime

    def _end(self, program: subprocess.Popen[bytes]) -> int | None:
        """Let everybody leave, then end who did not; reap them all."""
        if not self.told.over:
            with suppress(subprocess.TimeoutExpired):
                program.wait(LEAVE_S)
        code = program.poll()
        until = time.monotonic() + (0 if self.told.over else LEAVE_S)
        while (family := _family()) and time.monotonic() < until:
            psutil.wait_procs(family, timeout=0.1)
        for process in family:
            with suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(family, timeout=5)
        return code


def _become_parent_of_orphans() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _family() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


def _memory(process: psutil.Process) -> int:
    """Return a process's share of the memory (pages that several use count once in all), where the system tells it."""
    with suppress(OSError, ValueError):
        for line in Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    with suppress(psutil.Error):
        return int(process.memory_info().rss)
    return 0


def main() -> None:
    """Measure, and print what came out as JSON."""
    folder, kill_at, argv = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    print(json.dumps(asdict(Warden(folder, kill_at).run(argv))))


if __name__ == "__main__":
    main()

"""Who a process is: pid, start time and boot, so that a pid used again is never mistaken for its old owner."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """A process for all time. ``start`` is in ticks since boot (Linux) or ms since 1970 (elsewhere)."""

    pid: int
    start: int
    boot: str

    def __str__(self) -> str:
        return f"{self.pid}:{self.start}:{self.boot}"

    @classmethod
    def parse(cls, text: str) -> ProcessIdentity | None:
        """Return the identity written by ``str``, None for anything else."""
        parts = text.split(":", 2)
        if len(parts) != 3 or not parts[0].isdigit() or not parts[1].isdigit():
            return None
        return cls(int(parts[0]), int(parts[1]), parts[2])

    @classmethod
    def of(cls, pid: int) -> ProcessIdentity | None:
        """Return the identity of a process that runs now; None if there is none, or only a zombie."""
        start = _start_of(pid)
        return None if start is None else cls(pid, start, boot_id())

    @classmethod
    def own(cls) -> ProcessIdentity:
        """Return this process's identity."""
        found = cls.of(os.getpid())
        assert found is not None
        return found

    def is_alive(self) -> bool:
        """Whether this very process still runs."""
        return self.boot == boot_id() and _start_of(self.pid) == self.start

    def signal(self, number: signal.Signals, *, group: bool = False) -> bool:
        """Signal this process (or the group that it leads) if it is still the same one; False if it is gone."""
        if not self.is_alive():
            return False
        try:
            if group:
                os.killpg(self.pid, number)
            else:
                os.kill(self.pid, number)
        except (ProcessLookupError, PermissionError):
            return False
        return True


@cache
def boot_id() -> str:
    """Return text that differs after every boot of this machine."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        import psutil  # late: Linux answers all of this itself, and a command should start in a few ms

        return str(int(psutil.boot_time()))


def _start_of(pid: int) -> int | None:
    if sys.platform == "linux":
        # psutil's create_time moves with the wall clock; field 22 of stat does not. The name may hold anything, so
        # fields are counted after its last parenthesis.
        try:
            text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        except OSError:
            return None
        fields = text[text.rindex(")") + 2 :].split()
        return None if fields[0] in "ZX" else int(fields[19])
    import psutil

    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return int(process.create_time() * 1000)
    except psutil.Error:
        return None

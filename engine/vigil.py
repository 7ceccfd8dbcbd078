"""Finds frozen workers: alive by identity, but silent and idle for a whole lease (SIGSTOP, a stuck disk).

Silence alone is no proof: a C function that holds the interpreter silences the heartbeat thread too, and works. So a
worker counts as frozen only when its process has also used no CPU time meanwhile. It is then killed, which a stopped
process cannot escape, before its work is given to another: so its late write is not only refused, it never comes.
"""

from __future__ import annotations

import logging
import time

import psutil

from .fleet import LocalFleet, Member

log = logging.getLogger("poolboard")


class Vigil:
    """Remembers how much CPU time each silent worker had used when its silence was first noticed."""

    def __init__(self, fleet: LocalFleet, lease_s: float) -> None:
        self._fleet, self._lease_s = fleet, lease_s
        self._silent: dict[str, tuple[float, float]] = {}

    def look(self) -> list[str]:
        """Kill the frozen workers and return them; call it several times a lease."""
        now = time.monotonic()
        frozen = [worker for worker, member in self._fleet.members.items() if self._is_frozen(member, now)]
        for worker in frozen:
            log.warning("worker %s is frozen: silent and idle for %.0f s; it is replaced", worker, self._lease_s)
            self._silent.pop(worker, None)
            self._fleet.kill(worker)
        return frozen

    def _is_frozen(self, member: Member, now: float) -> bool:
        if not member.joined or now - member.heard < self._lease_s / 2:
            self._silent.pop(member.worker, None)
            return False
        used_s = _cpu_s(member.identity.pid)
        since, before_s = self._silent.setdefault(member.worker, (now, used_s))
        if used_s > before_s:
            self._silent[member.worker] = (now, used_s)
            return False
        return now - since >= self._lease_s / 2


def _cpu_s(pid: int) -> float:
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)

"""Bringing back a run's coordinator when it has gone: for whoever stays with a run and wants its end."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from poolboard import words
from poolboard.engine.errors import EngineError
from poolboard.engine.restarts import Restarts
from poolboard.journal.errors import JournalError

if TYPE_CHECKING:
    from poolboard.engine.monitor import Monitor


class Mender:
    """Starts new coordinators for one run, 3 times in 60 s at most; ``say`` takes a line for each thing tried."""

    def __init__(self, monitor: Monitor, run_id: str, say: Callable[[str], None]) -> None:
        self._monitor, self._run_id, self._say = monitor, run_id, say
        self._restarts = Restarts()

    async def bring_back(self) -> bool:
        """Start a new coordinator for a run that lost its own; False when that is no use any more."""
        decision = self._restarts.decide(time.monotonic())
        if decision == "wait":
            return True
        if decision == "give up":
            self._say(f"the coordinator of run {self._run_id} keeps crashing; not restarted again")
            return False
        try:
            await self._monitor.restart_crashed(self._run_id)
        except (EngineError, JournalError) as error:
            self._restarts.refused(time.monotonic())
            self._say(f"the coordinator of run {self._run_id} is gone, restart refused: {words.shown(str(error))}")
            return True
        self._restarts.restarted(time.monotonic())
        self._say(f"the coordinator of run {self._run_id} was gone and is restarted")
        return True

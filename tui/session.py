"""What every screen shares: where the data comes from and how it is looked at."""

from __future__ import annotations

from dataclasses import dataclass

from .clock import Clock
from .pace import Pace
from .preferences import Preferences
from .source import Source


@dataclass(frozen=True, slots=True)
class Session:
    """One sitting at the dashboard. ``home`` is the run that it was opened for, None for the list of runs.

    ``person`` is who the journal will name for what is asked here; ``preferences`` are what is remembered of them.
    ``notify`` rings the terminal when a run on screen comes to rest. ``guest``: somebody at a browser,
    who gets at no file and no program of this machine.
    """

    monitor: Source
    clock: Clock
    pace: Pace
    ascii: bool
    read_only: bool
    preferences: Preferences
    person: str = "user"
    home: str | None = None
    hints: bool = True
    notify: bool = False
    guest: bool = False

"""How long the last try of each item's command took, as its checkpoint tells: without pauses between tries."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from poolboard.engine.monitor import Monitor

PAGE: Final = 2000


class Span(NamedTuple):
    """Start and end in ms since 1970."""

    started_at: int
    ended_at: int


class ItemTimes:
    """Reads a run's events as they come, and keeps the times of items that nobody has asked for yet."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._seq = 0
        self._spans: dict[int, Span] = {}

    async def read_on(self, monitor: Monitor) -> None:
        """Take in what was recorded since the last time."""
        while page := await monitor.events(self._run_id, self._seq, PAGE):
            self._seq = page[-1].seq
            for event in page:
                if event.type == "CheckpointRecorded" and event.work:
                    self._take(event.work, event.payload)

    def _take(self, number: int, payload: str) -> None:
        try:
            told = json.loads(payload)
            self._spans[number] = Span(int(told["started_at"]), int(told["completed_at"]))
        except (ValueError, KeyError, TypeError):
            return

    def taken(self, number: int) -> Span | None:
        """Return an item's times, once; None if they are not known."""
        return self._spans.pop(number, None)

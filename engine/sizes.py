"""How big a live run's pool is: workers, slots in each, runs at once. Each is a setting in the journal."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Literal

from poolboard.journal import queue
from poolboard.journal.reader import Reader

from .control import Refusal
from .dispatch import Dispatcher
from .header import RunHeader
from .payload import dumps
from .pool_events import ConcurrencySet, SlotsSet
from .wish import size_mistake

Size = Literal["workers", "slots", "concurrency"]
UNITS: dict[Size, tuple[str, str]] = {
    "workers": ("worker", "workers"),
    "slots": ("slot in each worker", "slots in each worker"),
    "concurrency": ("run at once", "runs at once"),
}


class Sizes:
    """The sizes in force; ``on_change`` is called when workers or slots become others."""

    def __init__(self, dispatcher: Dispatcher, header: RunHeader, on_change: Callable[[Size], None]) -> None:
        self._dispatcher, self._on_change = dispatcher, on_change
        self.workers, self.slots = header.workers, header.slots
        #: None is no bound but workers and slots.
        self.concurrency: int | None = None

    async def load(self, reader: Reader, run: int) -> None:
        """Take what was wished of an earlier coordinator."""
        for size in UNITS:
            wished = await reader.setting(run, size)
            if wished is not None:
                self._take(size, json.loads(wished))
        self._dispatcher.feed(ConcurrencySet(self.concurrency))

    async def set(self, size: Size, count: int, by: str, why: str | None) -> str:
        """Change a size, from now on and after a restart; return a sentence, raise Refusal. 0 lifts ``concurrency``."""
        if (mistake := size_mistake(size, count)) is not None:
            raise Refusal(mistake)
        lease, value = self._dispatcher.lease, dumps(count or None)
        await self._dispatcher.recorder.record(
            partial(queue.set_setting, lease=lease, name=size, value=value, by=by, why=why)
        )
        self._take(size, count or None)
        if size == "concurrency":
            self._dispatcher.feed(ConcurrencySet(self.concurrency))
        elif size == "slots":
            self._dispatcher.feed(SlotsSet(self.slots))
        self._on_change(size)
        if not count:
            return "as many runs at once as there are slots"
        return f"{count} {UNITS[size][count != 1]}"

    def _take(self, size: Size, count: int | None) -> None:
        if size == "concurrency":
            self.concurrency = count
        elif count is not None:
            setattr(self, size, count)

"""How the conformance suite tells its stories: a store that closes what it opened, and tests without a plugin."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any, Final

from .model import Event, JournalEntry, Lease, NewRun
from .protocol import Journal

Opener = Callable[[], Awaitable[Journal]]

#: Turns of a loop that waits for the store's clock to move on; a ms comes long before.
MOST_TURNS: Final = 100_000


class Store:
    """The store under test: opens journals and closes them all at the end."""

    def __init__(self, opener: Opener) -> None:
        self._opener = opener
        self._opened: list[Journal] = []

    async def open(self) -> Any:
        """Open the store once more. What comes has optional parts or not, hence no type."""
        journal = await self._opener()
        self._opened.append(journal)
        return journal

    async def run(self, run_id: str = "run-1") -> tuple[Any, Lease]:
        """Return the store, opened once for all runs, with a new run in it that is held."""
        journal = self._opened[0] if self._opened else await self.open()
        await journal.create_run(NewRun(run_id, "survey", "/somewhere", '{"a": 1}'))
        return journal, await journal.acquire_lease(run_id, "holder 1")

    async def close(self) -> None:
        """Close whatever was opened, newest first."""
        while self._opened:
            await self._opened.pop().close()


class Plain:
    """A journal without its optional parts."""

    OPTIONAL: Final = frozenset({"append_many", "change_token", "run_versions", "snapshot_tail", "delete_run"})

    def __init__(self, whole: Journal) -> None:
        self._whole = whole

    def __getattr__(self, name: str) -> Any:
        if name in self.OPTIONAL:
            raise AttributeError(name)
        return getattr(self._whole, name)


class Stories:
    """Turns the async stories of a subclass, ``(self, store)``, into plain tests that take the fixture ``opener``."""

    def __init_subclass__(cls) -> None:
        for name, story in list(vars(cls).items()):
            if name.startswith("test_") and iscoroutinefunction(story):
                setattr(cls, name, _plain(story))


def _plain(story: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    async def whole(self: object, opener: Opener) -> None:
        store = Store(opener)
        try:
            await story(self, store)
        finally:
            await store.close()

    @wraps(story)
    def test(self: object, opener: Opener) -> None:
        asyncio.run(whole(self, opener))

    del test.__wrapped__  # pytest would ask it for its arguments
    return test


def note(text: object = "hello") -> Event:
    """Return an event that tells how the run stands."""
    return Event("Note", json.dumps({"text": text}))


async def entries(journal: Journal, run_id: str = "run-1", from_seq: int = 1) -> list[JournalEntry]:
    """Return what ``read`` yields."""
    return [entry async for entry in journal.read(run_id, from_seq)]


async def let_the_clock_move(journal: Journal, lease: Lease) -> None:
    """Append to a run until the store's clock has moved on by a ms."""
    first = (await journal.append(lease, note())).entry.at
    for _ in range(MOST_TURNS):
        if (await journal.append(lease, note())).entry.at > first:
            return
    raise AssertionError("the store's clock stands still")

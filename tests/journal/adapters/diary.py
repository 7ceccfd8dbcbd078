"""A journal adapter as a person would write it: built on Poolboard's own, found by its path."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from poolboard.journal.sqlite import SqliteJournal

LEFT_OUT = {"append_many", "delete_run"}


class Diary:
    """Passes everything on but two optional parts."""

    def __init__(self, inner: SqliteJournal) -> None:
        self._inner = inner

    @property
    def descriptor(self) -> str:
        return f"diary at {os.environ['DIARY_PATH']}"

    async def change_token(self) -> str:
        return await self._inner.change_token()

    async def run_versions(self) -> Any:
        return await self._inner.run_versions()

    async def snapshot_tail(self, run_id: str) -> Any:
        return await self._inner.snapshot_tail(run_id)

    def __getattr__(self, name: str) -> Any:
        if name in LEFT_OUT:
            raise AttributeError(name)
        return getattr(self._inner, name)


async def open_diary() -> Diary:
    return Diary(await SqliteJournal.open(Path(os.environ["DIARY_PATH"])))

"""Where the screens' data comes from: the monitor's verbs, as the screens use them. A recording offers the same."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Protocol

from poolboard.engine.views import (
    Acknowledgement,
    ChildPage,
    ChildView,
    Cursor,
    EventView,
    MessagesView,
    RunView,
    Summary,
)
from poolboard.journal.message_model import MessageMode


class Source(Protocol):
    """``engine.monitor.Monitor``, seen from here; see there for what each verb promises and raises."""

    @property
    def journal_path(self) -> Path: ...

    async def runs(self) -> list[RunView]: ...

    async def resolve(self, prefix: str | None) -> str: ...

    def follow(self, run_id: str, *, interval_s: float = 0.1, restart: bool = False) -> AsyncIterator[Summary]: ...

    async def children(self, run_id: str, since: Cursor = ..., limit: int = ...) -> ChildPage: ...

    async def child(self, run_id: str, n: int) -> ChildView: ...

    async def read_log(self, path: str, offset: int = ..., limit: int = ...) -> bytes: ...

    async def wait_for_change(self, timeout_s: float) -> bool: ...

    async def pause(self, run_id: str, by: str = ..., why: str | None = ...) -> Acknowledgement: ...

    async def resume(
        self, run_id: str, by: str = ..., why: str | None = ..., *, accept_code: bool = False
    ) -> Acknowledgement: ...

    async def stop(
        self, run_id: str, by: str = ..., why: str | None = ..., *, now: bool = False
    ) -> Acknowledgement: ...

    async def cancel(self, run_id: str, by: str = ..., why: str | None = ...) -> Acknowledgement: ...

    async def retry(self, run_id: str, *, accept_code: bool = False) -> Acknowledgement: ...

    async def set_workers(self, run_id: str, count: int, by: str = ...) -> Acknowledgement: ...

    async def send(
        self, run_id: str, address: str, value: str, mode: MessageMode = ..., by: str = ...
    ) -> Acknowledgement: ...

    async def messages(self, run_id: str, limit: int = ..., before: int | None = ...) -> MessagesView: ...

    async def events(self, run_id: str, after_seq: int = ..., limit: int = ...) -> list[EventView]: ...

    async def last_seq(self, run_id: str) -> int: ...

    async def close(self) -> None: ...

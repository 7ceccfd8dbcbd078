"""A recording of what a monitor said beside real runs, and its replay. The pictures are drawn from it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final, NoReturn

from pydantic import BaseModel, ConfigDict

from poolboard.engine.errors import UserMistake
from poolboard.engine.views import (
    Acknowledgement,
    ChildPage,
    ChildRow,
    ChildView,
    Cursor,
    EventView,
    MessagesView,
    PromptView,
    RunView,
    StageDurations,
    Summary,
)
from poolboard.journal.message_model import MessageMode

FILE: Final = Path(__file__).with_name("recording.json")


class Recording(BaseModel):
    """One moment of one run (and the seconds before it), the other runs beside it, and one child in full."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    at_ms: int
    journal: str
    runs: list[RunView]
    summaries: list[Summary]
    children: list[ChildRow]
    child: ChildView
    logs: dict[str, str]
    events: list[EventView] = []
    durations: list[StageDurations] = []


class Replay:
    """Offers a recording as a source. ``steady_s`` goes on by a second with each summary."""

    def __init__(self, recording: Recording) -> None:
        self.recording: Final = recording
        self.steady_s = 0.0

    @property
    def journal_path(self) -> Path:
        return Path(self.recording.journal)

    async def runs(self) -> list[RunView]:
        return self.recording.runs

    async def resolve(self, prefix: str | None) -> str:
        return self.recording.summaries[-1].run.run_id

    async def follow(self, run_id: str, *, interval_s: float = 0.1, restart: bool = False) -> AsyncIterator[Summary]:
        for summary in self.recording.summaries:
            self.steady_s += 1.0
            yield summary
        await asyncio.Event().wait()

    async def children(self, run_id: str, since: Cursor = (0, -1), limit: int = 2000) -> ChildPage:
        stamp = self.recording.summaries[-1].stamp
        rows = self.recording.children if since[0] < stamp else []
        return ChildPage(rows, (stamp, 0), False)

    async def child(self, run_id: str, n: int) -> ChildView:
        if n != self.recording.child.row.n:
            raise UserMistake(f"child {n} is not in this recording")
        return self.recording.child

    async def stage(self, run_id: str, name: str) -> StageDurations:
        found = next((one for one in self.recording.durations if one.name == name), None)
        if found is None:
            raise UserMistake(f"no call of stage {name} was recorded")
        return found

    async def read_log(self, path: str, offset: int = 0, limit: int = 262_144) -> bytes:
        return self.recording.logs.get(path, "").encode()[offset : offset + limit]

    async def wait_for_change(self, timeout_s: float) -> bool:
        await asyncio.Event().wait()
        return False

    async def pause(self, run_id: str, by: str = "user", why: str | None = None) -> Acknowledgement:
        self._refuse()

    async def resume(
        self, run_id: str, by: str = "user", why: str | None = None, *, accept_code: bool = False
    ) -> Acknowledgement:
        self._refuse()

    async def stop(
        self, run_id: str, by: str = "user", why: str | None = None, *, now: bool = False
    ) -> Acknowledgement:
        self._refuse()

    async def cancel(self, run_id: str, by: str = "user", why: str | None = None) -> Acknowledgement:
        self._refuse()

    async def retry(self, run_id: str, *, accept_code: bool = False) -> Acknowledgement:
        self._refuse()

    async def set_workers(self, run_id: str, count: int, by: str = "user") -> Acknowledgement:
        self._refuse()

    async def send(
        self, run_id: str, address: str, value: str, mode: MessageMode = "steer", by: str = "user"
    ) -> Acknowledgement:
        self._refuse()

    async def messages(self, run_id: str, limit: int = 100, before: int | None = None) -> MessagesView:
        return MessagesView((), 0, 0, 0, 0, 0)

    async def set_limit(self, run_id: str, name: str, text: str, by: str = "user") -> Acknowledgement:
        self._refuse()

    async def prompts(self, run_id: str | None = None) -> list[PromptView]:
        return []

    async def answer(self, run_id: str, prompt: int, answer: str, by: str = "user") -> Acknowledgement:
        self._refuse()

    async def why(self, run_id: str, n: int) -> str:
        return ""

    async def events(self, run_id: str, after_seq: int = 0, limit: int = 500) -> list[EventView]:
        later = [event for event in self.recording.events if event.seq > after_seq]
        return later[:limit]

    async def last_seq(self, run_id: str) -> int:
        return self.recording.events[-1].seq if self.recording.events else 0

    async def close(self) -> None:
        return

    @staticmethod
    def _refuse() -> NoReturn:
        raise UserMistake("this is a recording: it cannot be changed")

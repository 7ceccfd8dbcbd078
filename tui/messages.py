"""What the feed tells the screens: messages that carry frozen values."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from poolboard.engine.views import ChildRow, ChildView, EventView, MessagesView, RunView, Summary


@dataclass
class RunsRead(Message):
    """The whole list of root runs, read again."""

    runs: list[RunView]


@dataclass
class SummaryRead(Message):
    """A newer progress summary of the run on screen."""

    summary: Summary


@dataclass
class ChildrenRead(Message):
    """Children that changed; ``more`` says that the next page is already asked for."""

    rows: list[ChildRow]
    more: bool


@dataclass
class ChildRead(Message):
    """The child on screen, read again."""

    child: ChildView
    #: Why it waits, as far as its coordinator says so.
    waits: str = ""


@dataclass
class EventsRead(Message):
    """Newer journal events; ``last_seq`` is the newest there is, whether it was read or left out."""

    events: list[EventView]
    last_seq: int


@dataclass
class MessagesRead(Message):
    """The run's newest messages, read again, with counts over all."""

    view: MessagesView


@dataclass
class FeedTrouble(Message):
    """Reading failed: the last data stays on screen. ``retry_s`` is how long until the next try."""

    reason: str
    retry_s: float


@dataclass
class FeedWell(Message):
    """Reading works again after trouble."""


@dataclass
class ThemeChosen(Message):
    """The person wants this theme, now and the next time."""

    name: str

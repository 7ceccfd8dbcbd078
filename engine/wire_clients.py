"""What screens and the command line say to a coordinator, and what it says to them."""

from __future__ import annotations

from typing import Annotated

import msgspec

from poolboard.journal.states import ControlState

from .wire_message import Message
from .wish import Verb


class ClientHello(Message, tag="client_hello"):
    """First message of a screen or of the command line."""


class Subscribe(Message, tag="subscribe"):
    """Send a summary now and then when it changed, one outstanding: the next only after ``Seen``."""

    interval_ms: Annotated[int, msgspec.Meta(ge=20, le=60_000)]


class Seen(Message, tag="seen"):
    """The last summary was taken in."""


class Scope(Message):
    """What part of the run a wish is about: one of these, or none for the whole run.

    ``children`` are ranges (first, last) of numbers, each with everything below it; ``worker`` is a place, from 1.
    """

    children: list[tuple[int, int]] = msgspec.field(default_factory=list)
    stage: str | None = None
    worker: int | None = None


class ControlRequest(Message, tag="control_request"):
    """A wish; answered by ControlAnswer. ``count``: of workers, slots or runs, 0 for no bound."""

    req: int
    verb: Verb
    by: str
    why: str | None = None
    now: bool = False
    count: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] | None = None
    scope: Scope = msgspec.field(default_factory=Scope)
    budget: dict[str, float] | None = None


class ControlAnswer(Message, tag="control_answer"):
    """What the journal holds after the wish, or why it was refused."""

    req: int
    ok: bool
    message: str
    state: ControlState
    revision: int


class SummaryNews(Message, tag="summary"):
    """A progress summary as JSON of views.Summary."""

    summary: str

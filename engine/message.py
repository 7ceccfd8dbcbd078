"""A message as a workflow and its stages see it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from poolboard.journal.message_model import MessageMode


@dataclass(frozen=True, slots=True)
class Message:
    """What somebody sent. ``value`` is what was sent, as JSON types; ``number`` is its own in the run.

    ``sender`` is the n of the run that sent it, None for a person, who is named by ``by``. ``undeliverable`` is the
    number of a message of this run's own that could not be delivered: then ``value`` says why, and nobody sent this.
    """

    number: int
    value: Any
    mode: MessageMode
    sender: int | None = None
    by: str | None = None
    stage: str | None = None
    sent_at: int = 0
    undeliverable: int | None = None


def message_of(number: int, at: int, payload: str) -> Message:
    """Return the message that an event holds; ``at`` is the store's clock in ms."""
    told = json.loads(payload)
    return Message(
        number,
        told.get("value"),
        told["mode"],
        told.get("sender"),
        told.get("by"),
        told.get("stage"),
        at,
        told.get("notice"),
    )

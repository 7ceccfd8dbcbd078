"""What is said about messages. Only runs in which somebody sends or reads one say it."""

from __future__ import annotations

from poolboard.journal.message_model import MessageMode

from .wire_message import Message


class SendMessage(Message, tag="send_message"):
    """A run sends; recorded once under ``key``, with ``payload`` as the checkpoint of the call. ``value`` is JSON."""

    req: int
    n: int
    generation: int
    key: str
    payload: str
    target: str
    stage: str | None
    direct: int | None
    mode: MessageMode
    value: str


class TakeMessages(Message, tag="take_messages"):
    """A run's program takes these from its inbox, as the checkpoint ``payload`` under ``key`` says."""

    req: int
    n: int
    generation: int
    key: str
    payload: str
    numbers: list[int]


class GotMessages(Message, tag="got_messages"):
    """These are with the run, or with the stage that they are for."""

    n: int
    generation: int
    numbers: list[int]


class HandMessages(Message, tag="hand_messages"):
    """Messages for a run: number, mode, stage. Their values are in the journal. ``more`` follow at once."""

    n: int
    generation: int
    letters: list[tuple[int, MessageMode, str | None]]
    more: bool = False


class PostMessage(Message, tag="post_message"):
    """A person sends, once under ``key``; answered by ControlAnswer. ``value`` is JSON."""

    req: int
    key: str
    address: str
    mode: MessageMode
    value: str
    by: str


AboutMessages = SendMessage | TakeMessages | GotMessages | HandMessages | PostMessage

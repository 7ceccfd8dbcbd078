"""Everything that processes say to each other, and the one codec for it.

A frame is a length (4 bytes, big endian) and a JSON array of messages, so that what queued travels together.
Messages are wishes and news; facts are in the journal. Nothing here opens a socket.
"""

from __future__ import annotations

import struct
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from poolboard.journal.states import ControlState, WorkState

from .views import Summary

#: A peer that announces a larger frame is cut off. A chunk of 1,000 children with 16 KiB of input each fits.
FRAME_LIMIT_BYTES = 64 * 1024 * 1024
_LENGTH = struct.Struct(">I")


#: What a person may wish of a live run.
Verb = Literal["pause", "resume", "stop", "cancel", "workers"]


class Message(BaseModel):
    """Base of all messages; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class WireError(Exception):
    """The peer sent what is not a frame of ours; its connection is closed."""


# --- worker to coordinator -----------------------------------------------------------------------------------------


class WorkerHello(Message):
    """First message of a worker. ``held`` lists the attempts it still runs (n, generation, epoch), after a takeover."""

    t: Literal["worker_hello"] = "worker_hello"
    worker: str
    identity: str
    digest: str
    held: list[tuple[int, int, int]] = []


class HeartbeatHello(Message):
    """First message of a worker's heartbeat connection, which a thread of its own serves."""

    t: Literal["heartbeat_hello"] = "heartbeat_hello"
    worker: str


class Heartbeat(Message):
    """The worker's process runs; ``loop_lag_ms`` is how late its event loop answers (user code that blocks it)."""

    t: Literal["heartbeat"] = "heartbeat"
    loop_lag_ms: float


class ChildItem(Message):
    """One child to enqueue; the fields are those of journal NewWork."""

    key: str
    workflow: str
    label: str
    payload: str


class EnqueueChildren(Message):
    """A chunk of the children of one ``ctx.map``/``ctx.child`` call; ``last`` closes the group."""

    t: Literal["enqueue"] = "enqueue"
    req: int
    n: int
    generation: int
    group: int
    concurrency: int
    depth: int
    items: list[ChildItem]
    last: bool


class OpenGroup(Message):
    """What a new coordinator cannot know of a call that waits for its children: ``numbers`` as ranges (first, last)."""

    t: Literal["open_group"] = "open_group"
    n: int
    generation: int
    group: int
    concurrency: int
    numbers: list[tuple[int, int]]
    closed: bool


class CommitStage(Message):
    """Record a stage's outcome."""

    t: Literal["commit"] = "commit"
    req: int
    n: int
    generation: int
    key: str
    stage: str
    payload: str
    started_at: int
    completed_at: int
    duration_ms: float
    ok: bool


class CompleteRun(Message):
    """The run returned; ``result`` is JSON."""

    t: Literal["complete"] = "complete"
    req: int
    n: int
    generation: int
    result: str


class FailRun(Message):
    """The run raised; ``line`` is one line, ``payload`` a JSON object with type, message and traceback."""

    t: Literal["fail"] = "fail"
    req: int
    n: int
    generation: int
    line: str
    payload: str


class BlockRun(Message):
    """The run cannot go on without a person (replay found another program than was recorded)."""

    t: Literal["block"] = "block"
    n: int
    generation: int
    reason: str


class GiveSlot(Message):
    """The run only waits now and needs no slot."""

    t: Literal["give_slot"] = "give_slot"
    n: int
    generation: int


class WantSlot(Message):
    """The run could go on and asks for a slot."""

    t: Literal["want_slot"] = "want_slot"
    n: int
    generation: int


class Parked(Message):
    """The run stands at a stage boundary because of a pause."""

    t: Literal["parked"] = "parked"
    n: int
    generation: int


class Dropped(Message):
    """The worker let go of an attempt because it was told to (stop); nothing of it runs any more."""

    t: Literal["dropped"] = "dropped"
    n: int
    generation: int


class ActiveSlot(Message):
    """What one held run is doing."""

    n: int
    stage: str | None
    since_ms: float
    note: str | None = None


class Activity(Message):
    """All held runs of a worker; sent at most 10 times a second, so its cost does not grow with throughput."""

    t: Literal["activity"] = "activity"
    active: list[ActiveSlot]


# --- coordinator to worker -----------------------------------------------------------------------------------------


class Welcome(Message):
    """The coordinator took the worker in."""

    t: Literal["welcome"] = "welcome"
    epoch: int
    control: ControlState


class Assign(Message):
    """Run this work item."""

    t: Literal["assign"] = "assign"
    n: int
    generation: int
    epoch: int
    workflow: str
    boundary: str
    starts: int
    depth: int
    recorded: bool


class Adopted(Message):
    """A held attempt goes on under a new epoch."""

    t: Literal["adopted"] = "adopted"
    n: int
    generation: int
    epoch: int


class Abandon(Message):
    """A held attempt is not wanted any more."""

    t: Literal["abandon"] = "abandon"
    n: int
    generation: int
    reason: str


class Recorded(Message):
    """A request is durable."""

    t: Literal["recorded"] = "recorded"
    req: int
    children: list[tuple[int, WorkState]] | None = None


class NotRecorded(Message):
    """A request was refused; ``fenced`` says that the attempt is over, else only this request is wrong."""

    t: Literal["not_recorded"] = "not_recorded"
    req: int
    fenced: bool
    reason: str


class GroupSettled(Message):
    """Every child of the group has settled; read their results from the journal."""

    t: Literal["settled"] = "settled"
    n: int
    generation: int
    group: int


class Grant(Message):
    """The run has a slot again."""

    t: Literal["grant"] = "grant"
    n: int
    generation: int


class ControlNow(Message):
    """The control state in force; runs park while it is not ``running``."""

    t: Literal["control"] = "control"
    state: ControlState


class Goodbye(Message):
    """Nothing is left to do: exit."""

    t: Literal["goodbye"] = "goodbye"


# --- screens and command line --------------------------------------------------------------------------------------


class ClientHello(Message):
    """First message of a screen or of the command line."""

    t: Literal["client_hello"] = "client_hello"


class Subscribe(Message):
    """Send a summary now and then when it changed, one outstanding: the next only after ``Seen``."""

    t: Literal["subscribe"] = "subscribe"
    interval_ms: int = Field(ge=20, le=60_000)


class Seen(Message):
    """The last summary was taken in."""

    t: Literal["seen"] = "seen"


class ControlRequest(Message):
    """A wish; answered by ControlAnswer. ``count`` is the number of workers wished for."""

    t: Literal["control_request"] = "control_request"
    req: int
    verb: Verb
    by: str
    why: str | None = None
    now: bool = False
    count: int | None = Field(default=None, ge=1, le=1024)


class ControlAnswer(Message):
    """What the journal holds after the wish, or why it was refused."""

    t: Literal["control_answer"] = "control_answer"
    req: int
    ok: bool
    message: str
    state: ControlState
    revision: int


class SummaryNews(Message):
    """A progress summary as JSON of views.Summary."""

    t: Literal["summary"] = "summary"
    summary: str


AnyMessage = Annotated[
    WorkerHello | HeartbeatHello | Heartbeat | EnqueueChildren | OpenGroup | CommitStage | CompleteRun | FailRun
    | BlockRun | GiveSlot | WantSlot | Parked | Dropped | Activity
    | Welcome | Assign | Adopted | Abandon | Recorded | NotRecorded | GroupSettled | Grant | ControlNow | Goodbye
    | ClientHello | Subscribe | Seen | ControlRequest | ControlAnswer | SummaryNews,
    Field(discriminator="t"),
]  # fmt: skip
#: The codec of what SummaryNews carries.
SUMMARY: TypeAdapter[Summary] = TypeAdapter(Summary)
_FRAME: TypeAdapter[list[AnyMessage]] = TypeAdapter(list[AnyMessage])


def encode(messages: list[Message]) -> bytes:
    """Return one frame that carries the messages."""
    body = b"[" + b",".join([message.__pydantic_serializer__.to_json(message) for message in messages]) + b"]"
    return _LENGTH.pack(len(body)) + body


class Decoder:
    """Cuts a byte stream into messages. Linear in the bytes fed, however small the pieces."""

    __slots__ = ("_buffer", "_need")

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._need = _LENGTH.size

    def feed(self, data: bytes) -> list[AnyMessage]:
        """Take in bytes and return the messages that are complete; raises WireError."""
        self._buffer += data
        found: list[AnyMessage] = []
        while len(self._buffer) >= self._need:
            (size,) = _LENGTH.unpack_from(self._buffer)
            if size > FRAME_LIMIT_BYTES:
                raise WireError(f"a frame of {size} bytes is over the limit of {FRAME_LIMIT_BYTES}")
            end = _LENGTH.size + size
            if len(self._buffer) < end:
                self._need = end
                break
            body = bytes(self._buffer[_LENGTH.size : end])
            del self._buffer[:end]
            self._need = _LENGTH.size
            try:
                found += _FRAME.validate_json(body)
            except ValidationError as error:
                raise WireError(f"not a message of ours: {error.error_count()} errors") from None
        return found

"""Everything that processes say to each other, and the one codec for it.

A frame is a length (4 bytes, big endian) and a JSON array of messages: what queued travels together. Facts are in the
journal. msgspec, not pydantic: thirty pydantic models cost each process 120 to 200 ms of CPU at its start (measured).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import msgspec

from poolboard.journal.states import ControlState, WorkState

from .views import Summary
from .wire_clients import ClientHello as ClientHello
from .wire_clients import ControlAnswer as ControlAnswer
from .wire_clients import ControlRequest as ControlRequest
from .wire_clients import Scope as Scope
from .wire_clients import Seen as Seen
from .wire_clients import Subscribe as Subscribe
from .wire_clients import SummaryNews as SummaryNews
from .wire_limits import HeldLimits, LimitMessage
from .wire_message import Message as Message
from .wire_message import WireError as WireError
from .wire_messages import AboutMessages
from .wire_prompts import PromptMessage

#: A peer that announces a larger frame is cut off. A chunk of 1,000 children with 16 KiB of input each fits.
FRAME_LIMIT_BYTES = 64 * 1024 * 1024
_LENGTH = struct.Struct(">I")


# --- worker to coordinator -----------------------------------------------------------------------------------------


class WorkerHello(Message, tag="worker_hello"):
    """First message of a worker. ``held`` lists the attempts it still runs (n, generation, epoch), after a takeover."""

    worker: str
    identity: str
    digest: str
    held: list[tuple[int, int, int]] = msgspec.field(default_factory=list)
    limits: list[HeldLimits] = msgspec.field(default_factory=list)


class HeartbeatHello(Message, tag="heartbeat_hello"):
    """First message of a worker's heartbeat connection, which a thread of its own serves."""

    worker: str


class Heartbeat(Message, tag="heartbeat"):
    """The worker's process runs; ``loop_lag_ms`` is how late its event loop answers (user code that blocks it)."""

    loop_lag_ms: float


class ChildItem(Message):
    """One child to enqueue; the fields are those of journal NewWork."""

    key: str
    workflow: str
    label: str
    payload: str


class EnqueueChildren(Message, tag="enqueue"):
    """A chunk of the children of one ``ctx.map``/``ctx.child`` call; ``last`` closes the group.

    ``budget``: what each of them may use, with all below it.
    """

    req: int
    n: int
    generation: int
    group: int
    concurrency: int
    depth: int
    items: list[ChildItem]
    last: bool
    budget: dict[str, float] | None = None


class OpenGroup(Message, tag="open_group"):
    """What a new coordinator cannot know of a call that waits for its children: ``numbers`` as ranges (first, last)."""

    n: int
    generation: int
    group: int
    concurrency: int
    numbers: list[tuple[int, int]]
    closed: bool


class CommitStage(Message, tag="commit", omit_defaults=True):
    """Record a stage's outcome; with ``taken``, also that it has read these messages."""

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
    taken: list[int] | None = None


class Charge(Message, tag="charge"):
    """Bill what the run has used, once under its key."""

    req: int
    n: int
    generation: int
    key: str
    amounts: dict[str, int | float]


class CompleteRun(Message, tag="complete"):
    """The run returned; ``result`` is JSON."""

    req: int
    n: int
    generation: int
    result: str


class FailRun(Message, tag="fail"):
    """The run raised; ``line`` is one line, ``payload`` a JSON object with type, message and traceback."""

    req: int
    n: int
    generation: int
    line: str
    payload: str


class BlockRun(Message, tag="block"):
    """The run cannot go on without a person (replay found another program than was recorded)."""

    n: int
    generation: int
    reason: str


class GiveSlot(Message, tag="give_slot"):
    """The run only waits now and needs no slot."""

    n: int
    generation: int


class WantSlot(Message, tag="want_slot"):
    """The run could go on and asks for a slot."""

    n: int
    generation: int


class Parked(Message, tag="parked"):
    """The run stands at a stage boundary, before ``stage``; it gives its slot unless another call of it is in one."""

    n: int
    generation: int
    stage: str


class Dropped(Message, tag="dropped"):
    """The worker let go of an attempt because it was told to (stop); nothing of it runs any more."""

    n: int
    generation: int


class ActiveSlot(Message):
    """What one held run is doing."""

    n: int
    stage: str | None
    since_ms: float
    note: str | None = None


class Spent(Message, tag="spent"):
    """A sync stage took too long and was given up, but its thread still runs in this worker: replace the worker."""


class Activity(Message, tag="activity"):
    """All held runs of a worker; sent at most 10 times a second, so its cost does not grow with throughput."""

    active: list[ActiveSlot]


# --- coordinator to worker -----------------------------------------------------------------------------------------


class Welcome(Message, tag="welcome"):
    """The coordinator took the worker in; ``ControlNow`` comes with it."""

    epoch: int


class Assign(Message, tag="assign"):
    """Run this work item."""

    n: int
    generation: int
    epoch: int
    workflow: str
    boundary: str
    starts: int
    depth: int
    recorded: bool


class Adopted(Message, tag="adopted"):
    """A held attempt goes on under a new epoch."""

    n: int
    generation: int
    epoch: int


class Abandon(Message, tag="abandon"):
    """A held attempt is not wanted any more; with ``stage``, only if it is in that stage."""

    n: int
    generation: int
    reason: str
    stage: str = ""


class Recorded(Message, tag="recorded"):
    """A request is durable."""

    req: int
    children: list[tuple[int, WorkState]] | None = None


class NotRecorded(Message, tag="not_recorded"):
    """A request was refused; ``fenced`` says that the attempt is over, else only this request is wrong."""

    req: int
    fenced: bool
    reason: str


class GroupSettled(Message, tag="settled"):
    """Every child of the group has settled; read their results from the journal."""

    n: int
    generation: int
    group: int


class Grant(Message, tag="grant"):
    """The run has a slot again."""

    n: int
    generation: int


class ControlNow(Message, tag="control"):
    """The control state in force; runs park while it is not ``running``, and before each of the ``stages`` named.

    ``slots`` is how many the worker has now.
    """

    state: ControlState
    stages: list[str]
    slots: int


class HoldRun(Message, tag="hold_run"):
    """This run alone is to park at its next stage boundary, or to go on."""

    n: int
    generation: int
    held: bool


class Recall(Message, tag="recall"):
    """Hand back, as dropped, the attempts that still wait for their first slot."""


class Goodbye(Message, tag="goodbye"):
    """Nothing is left to do: exit."""


AnyMessage = (
    WorkerHello | HeartbeatHello | Heartbeat | EnqueueChildren | OpenGroup | CommitStage | Charge | CompleteRun
    | FailRun | BlockRun | GiveSlot | WantSlot | Parked | Dropped | Spent | Activity | AboutMessages
    | Welcome | Assign | Adopted | Abandon | Recorded | NotRecorded | GroupSettled | Grant | ControlNow | HoldRun
    | Recall | Goodbye | ClientHello | Subscribe | Seen | ControlRequest | ControlAnswer | SummaryNews
    | LimitMessage | PromptMessage
)  # fmt: skip
_FRAME = msgspec.json.Decoder(list[AnyMessage])
_ENCODER = msgspec.json.Encoder()
_SUMMARY = msgspec.json.Decoder(Summary)


def encode(messages: Sequence[Message]) -> bytes:
    """Return one frame that carries the messages."""
    body = _ENCODER.encode(messages)
    return _LENGTH.pack(len(body)) + body


def encode_summary(summary: Summary) -> str:
    """Return what SummaryNews carries."""
    return _ENCODER.encode(summary).decode()


def decode_summary(text: str) -> Summary:
    """Return the summary that SummaryNews carries."""
    return _SUMMARY.decode(text)


class Decoder:
    """Cuts a byte stream into messages. Linear in the bytes fed, however small the pieces."""

    __slots__ = ("_buffer", "_need")

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._need = _LENGTH.size

    def feed(self, data: bytes) -> list[AnyMessage]:
        """Take in bytes and return the messages that are complete; raises WireError."""
        if not self._buffer and len(data) >= _LENGTH.size and _LENGTH.unpack_from(data)[0] == len(data) - _LENGTH.size:
            return _messages(memoryview(data)[_LENGTH.size :])  # one whole frame, as nearly always
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
            found += _messages(body)
        return found


def _messages(body: bytes | memoryview) -> list[AnyMessage]:
    try:
        return _FRAME.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WireError(f"not a message of ours: {error}") from None

"""One run as JSON lines: what a line may be. ``exporting`` writes them, ``importing`` believes none of them.

The first line is the run, the last one an end mark with count and digest, so that a cut file is told from a whole one.
A row is what its table holds, but numbers are the run's own (``seq``, ``n``), bytes are hex, and stamps are left out:
they count this file's changes.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from .message_model import MessageMode, ReceiptState
from .payload import MAX_PAYLOAD_BYTES
from .positions import OF_THE_RUN, SPAN
from .states import ControlState, HoldScope, RunStatus, WorkState

FORMAT: Final = 1
#: A payload of the largest size, every character of it escaped, and room for the rest of its row.
LONGEST_LINE_BYTES: Final = 6 * MAX_PAYLOAD_BYTES + 64 * 1024

Count = Annotated[int, Field(ge=0, lt=SPAN)]
Number = Annotated[int, Field(ge=1, lt=SPAN)]
#: Milliseconds since 1970; SQLite's integers end there.
Time = Annotated[int, Field(ge=0, lt=1 << 62)]
Text = Annotated[str, Field(max_length=MAX_PAYLOAD_BYTES)]
Hex = Annotated[str, Field(pattern=r"^([0-9a-f]{2}){1,64}$")]


class Line(BaseModel):
    """What every line is: exactly its fields, of exactly their types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class RunLine(Line):
    """A row of ``runs``, with its lease and control. Its counts by state are made anew."""

    run_id: Annotated[str, Field(min_length=1, max_length=200)]
    name: Text
    cwd: Text
    header: Text
    created_at: Time
    status: RunStatus
    started_at: Time | None
    ended_at: Time | None
    active_ms: Time
    active_since: Time | None
    last_seq: Count
    last_n: Annotated[int, Field(ge=-1, lt=SPAN)]
    result: Text | None
    error: Text | None


class LeaseLine(Line):
    """The epoch goes with the run, its holder does not."""

    epoch: Count
    renewed_at: Time


class ControlLine(Line):
    """A row of ``control``."""

    state: ControlState
    revision: Number
    who: Text | None
    why: Text | None


class EventLine(Line):
    """A row of ``events``."""

    seq: Number
    epoch: Count
    type: Text
    work: Count | None
    at: Time
    payload: Text


class OperationLine(Line):
    """A row of ``operations``."""

    work: Annotated[int, Field(ge=OF_THE_RUN, lt=SPAN)]
    key: Hex
    seq: Number
    generation: Count | None
    request: Hex | None
    child: Count | None


class WorkLine(Line):
    """A row of ``work``."""

    n: Count
    parent: Count | None
    boundary: Number
    workflow: Text
    label: Text
    depth: Count
    priority: Annotated[int, Field(gt=-SPAN, lt=SPAN)]
    state: WorkState
    generation: Count
    starts: Count
    worker: Text | None
    epoch: Count
    expires_at: Time | None
    ready_at: Time
    started_at: Time | None
    ended_at: Time | None
    stage: Text | None
    stages_done: Count
    error: Text | None


class ResultLine(Line):
    """A row of ``results``."""

    n: Count
    value: Text


class StageLine(Line):
    """A row of ``stages``."""

    name: Text
    first_seq: Number
    done: Count
    failed: Count
    total_ms: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    buckets: Text


class HoldLine(Line):
    """A row of ``holds``."""

    scope: HoldScope
    name: Text
    who: Text | None
    why: Text | None
    at: Time


class CutLine(Line):
    """A row of ``cuts``."""

    scope: HoldScope
    name: Text


class UsageLine(Line):
    """A row of ``usage``."""

    work: Count
    name: Annotated[str, Field(min_length=1, max_length=64)]
    amount: Annotated[int | float, Field(ge=0, allow_inf_nan=False)]


class MessageLine(Line):
    """A row of ``messages``."""

    number: Number
    sender: Count | None
    target: Text
    direct: Count | None
    stage: Text | None
    mode: MessageMode
    notice: Number | None
    open: Annotated[int, Field(ge=0, le=1)]
    delivered: Count
    taken: Count
    undeliverable: Count


class ReceiptLine(Line):
    """A row of ``receipts``."""

    message: Number
    work: Count
    state: ReceiptState
    at: Time


class Head(Line):
    """The first line."""

    poolboard_export: Literal[1]
    run: RunLine
    lease: LeaseLine | None
    control: ControlLine | None


class End(Line):
    """The last line's value: how many lines stand before it, and the sha256 of their bytes."""

    lines: Annotated[int, Field(ge=1)]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


#: Word that begins a line -> what its value is; the tables are written in this order.
ROWS: Final[dict[str, type[Line]]] = {
    "event": EventLine,
    "operation": OperationLine,
    "work": WorkLine,
    "result": ResultLine,
    "stage": StageLine,
    "hold": HoldLine,
    "cut": CutLine,
    "usage": UsageLine,
    "message": MessageLine,
    "receipt": ReceiptLine,
}

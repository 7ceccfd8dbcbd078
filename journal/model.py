"""The journal's values: frozen, without behaviour. Times are the store's clock, in ms since 1970 UTC."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from .states import ControlState, HoldScope, RunStatus, WorkState


@dataclass(frozen=True, slots=True)
class NewRun:
    """What ``create_run`` records. ``header`` is JSON that only the engine understands."""

    run_id: str
    name: str
    cwd: str
    header: str


@dataclass(frozen=True, slots=True)
class RunRow:
    """One root run; counts are of its children (work items but the root), kept, never recounted.

    In a list ``header`` is empty and ``result`` None: they may be large, and whoever wants them asks for that run.
    ``active_ms`` is the elapsed time without pauses up to ``active_since``; while the run is active
    ``active_since`` is the store time from which it counts on, else None. ``read_at`` is the store time of the look.
    """

    number: int
    run_id: str
    name: str
    cwd: str
    header: str
    created_at: int
    status: RunStatus
    started_at: int | None
    ended_at: int | None
    active_ms: int
    active_since: int | None
    control: ControlState
    control_revision: int
    control_by: str | None
    control_why: str | None
    ready: int
    leased: int
    waiting: int
    completed: int
    failed: int
    cancelled: int
    last_seq: int
    result: str | None  # JSON
    error: str | None  # one line
    changed: int
    lease_holder: str | None
    lease_epoch: int
    lease_age_ms: int | None
    read_at: int = field(compare=False)

    @property
    def total(self) -> int:
        """The number of child work items that exist so far."""
        return self.ready + self.leased + self.waiting + self.completed + self.failed + self.cancelled


@dataclass(frozen=True, slots=True)
class Event:
    """What is appended: a type and a JSON object as text. ``work`` is the work item it belongs to, None for the run."""

    type: str
    payload: str
    work: int | None = None


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """An event as recorded. ``seq`` is dense per run and starts at 1."""

    seq: int
    epoch: int
    at: int
    event: Event


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to write for one root run. ``number`` is the run's number inside this journal."""

    run_id: str
    number: int
    holder: str
    epoch: int


@dataclass(frozen=True, slots=True)
class LeaseState:
    """Who holds a run; ``holder`` is None once released. Epoch 0 means that nobody ever held it."""

    holder: str | None
    epoch: int
    age_ms: int | None


@dataclass(frozen=True, slots=True)
class AppendOutcome:
    """``exists`` comes with the entry that was recorded first under the key."""

    status: Literal["appended", "exists"]
    entry: JournalEntry


@dataclass(frozen=True, slots=True)
class RunVersion:
    """A run's newest event; compare both fields, for a run may be deleted and recorded again."""

    seq: int
    at: int


@dataclass(frozen=True, slots=True)
class SnapshotTail:
    """A run's end without its history: newest event, newest snapshot event, checkpoints after it."""

    version: RunVersion
    snapshot: JournalEntry
    later_checkpoints: int
    last_checkpoint_at: int | None


@dataclass(frozen=True, slots=True)
class Token:
    """One attempt: work item ``n`` of the lease's run, its generation, its worker, the epoch it is leased under."""

    n: int
    generation: int
    worker: str
    epoch: int


@dataclass(frozen=True, slots=True)
class NewWork:
    """A child to enqueue. ``key`` is its replay key under its parent (text, JSON array); ``payload`` its boundary
    event (JSON object with at least ``input``), which is where its input lives, once."""

    key: str
    workflow: str
    label: str
    payload: str
    depth: int = 1
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Enqueued:
    """A child as it stands now: new, or found under the same key from before."""

    n: int
    state: WorkState


@dataclass(frozen=True, slots=True)
class Claimed:
    """A work item just leased to a worker. ``boundary`` is the payload it was enqueued with; ``recorded`` says
    whether an earlier attempt left checkpoints or children to replay."""

    token: Token
    workflow: str
    boundary: str
    starts: int
    depth: int
    recorded: bool


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A stage's outcome to record; with an empty ``stage`` something else that is recorded once.

    ``key`` is the replay key (text, JSON array); ``payload`` the event (JSON object).
    ``duration_ms`` and ``ok`` feed the stage's kept counters. ``started_at``/``completed_at`` are wall ms of the
    worker and also stand in the payload."""

    key: str
    stage: str
    payload: str
    started_at: int
    completed_at: int
    duration_ms: float
    ok: bool = True


@dataclass(frozen=True, slots=True)
class Receipt:
    """The answer to a recorded operation, the same on every retry."""

    seq: int
    at: int


@dataclass(frozen=True, slots=True)
class WorkRow:
    """One child as lists show it. ``stage`` is the newest recorded stage; ``error`` one line. No input, no result."""

    n: int
    parent: int | None
    workflow: str
    label: str
    depth: int
    state: WorkState
    generation: int
    starts: int
    worker: str | None
    ready_at: int
    started_at: int | None
    ended_at: int | None
    stage: str | None
    stages_done: int
    error: str | None
    changed: int


@dataclass(frozen=True, slots=True)
class LiveWork:
    """What a coordinator needs at start of one unsettled work item."""

    n: int
    parent: int | None
    state: WorkState
    generation: int
    starts: int
    worker: str | None
    epoch: int
    ready_at: int
    depth: int
    priority: int


@dataclass(frozen=True, slots=True)
class StageRow:
    """A stage's kept counters. ``buckets`` counts durations: index i holds those in [2**(i/4), 2**((i+1)/4)) x 0.1 ms,
    the last index everything longer."""

    name: str
    done: int
    failed: int
    total_ms: float
    buckets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class HoldRow:
    """What is held back inside a run: ``name`` is a child's n, a stage's name or a worker's place, by ``scope``.

    ``cut``: what ran there was to be cut off.
    """

    scope: HoldScope
    name: str
    who: str | None
    why: str | None
    at: int
    cut: bool = False


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """A worker process as registered, so that a successor can tell whether it is gone: ``identity`` is opaque text."""

    worker: str
    epoch: int
    identity: str
    started_at: int

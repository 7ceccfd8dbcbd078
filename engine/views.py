"""What screens and the command line see: frozen values, no behaviour, no handles.

Times named ``…_at`` are ms since 1970 UTC by the store's clock; durations carry their unit in the name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from poolboard.journal.states import ControlState, HoldScope, RunStatus, WorkState

from .message_views import MessagesView as MessagesView
from .message_views import MessageView as MessageView
from .message_views import RecipientView as RecipientView

#: Who asks where no person does: holds in this name are the pool's own.
OWN_NAME: Final = "poolboard"

#: A run's status as shown: ``crashed`` is never stored (running, but its lease is stale).
ShownStatus = RunStatus | Literal["crashed"]


@dataclass(frozen=True, slots=True)
class Counts:
    """Children (every work item but the root) by state."""

    total: int = 0
    ready: int = 0
    leased: int = 0
    waiting: int = 0
    completed: int = 0
    failed: int = 0
    cancelled: int = 0

    @property
    def done(self) -> int:
        """How many have run to an end, good or bad; what was cancelled has not."""
        return self.completed + self.failed

    @property
    def settled(self) -> int:
        """How many will not move any more."""
        return self.completed + self.failed + self.cancelled


@dataclass(frozen=True, slots=True)
class ControlView:
    """The wish in force: its state, how often it changed, who asked last and why."""

    state: ControlState
    revision: int
    by: str | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True)
class CoordinatorView:
    """The process that owns the run; ``pid`` is None when none was ever seen."""

    pid: int | None
    epoch: int
    alive: bool


@dataclass(frozen=True, slots=True)
class RunView:
    """One root run. ``elapsed_s`` leaves out paused and dead time; ``error`` one line.

    ``result`` is JSON text, left out in a list of runs.
    """

    run_id: str
    name: str
    status: ShownStatus
    resumable: bool
    cwd: str
    created_at: int
    started_at: int | None
    ended_at: int | None
    elapsed_s: float
    children: Counts
    control: ControlView
    result: str | None
    error: str | None
    #: How many questions wait for a person.
    prompts: int = 0


@dataclass(frozen=True, slots=True)
class StageView:
    """One stage over all children. ``active`` is now; ``done``/``failed`` are kept counters; p50/p95 of durations.

    ``waiting`` runs stand parked before it; ``paused``: a person holds this stage back.
    """

    name: str
    waiting: int
    active: int
    done: int
    failed: int
    p50_ms: float | None
    p95_ms: float | None
    rate_per_s: float = 0.0
    paused: bool = False


@dataclass(frozen=True, slots=True)
class StageDurations:
    """How long the calls of one stage took. ``octaves``: (from, to, count), each twice as long as the one before."""

    name: str
    done: int
    failed: int
    mean_ms: float | None
    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None
    octaves: tuple[tuple[float, float, int], ...]


@dataclass(frozen=True, slots=True)
class WorkerView:
    """One worker process. ``restarts`` counts how often its place was filled again."""

    id: str
    pid: int
    slots: int
    active: int
    rss_bytes: int
    cpu_percent: float
    restarts: int
    heartbeat_age_s: float


@dataclass(frozen=True, slots=True)
class ActiveView:
    """What one slot is doing: the child ``n``, its current stage (None between stages), since when, how far."""

    worker: str
    n: int
    label: str
    stage: str | None
    since_s: float
    note: str | None = None


@dataclass(frozen=True, slots=True)
class HoldView:
    """What is held back inside the run: a ``stage`` by name, a ``worker`` by place, a ``child`` by number.

    ``parked`` runs stand at a stage boundary because of it, ``active`` ones have not got there yet. ``cut``: it is a
    stop, which does not wait for them longer than the grace.
    """

    scope: HoldScope
    name: str
    by: str | None
    why: str | None
    parked: int
    active: int
    cut: bool = False


@dataclass(frozen=True, slots=True)
class UsageView:
    """What the run has used of something, and its limit if there is one; ``duration_s`` and ``failures`` too."""

    name: str
    used: float
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class HolderView:
    """Who has how much of a limit; ``run_id`` is None for this run, else another of the user's runs."""

    n: int
    amount: int
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class WaiterView:
    """Who waits for a limit, for how long, and why, in one sentence."""

    n: int
    amount: int
    since_s: float
    reason: str


@dataclass(frozen=True, slots=True)
class LimitView:
    """One named limit. Of a capacity ``in_use`` of ``most`` are held; of a rate (``per_s``) ``left`` can be taken now.

    ``holders`` and ``waiters`` are the first of ``holding`` and ``waiting``. ``slow_s``: to be left alone for so long.
    """

    name: str
    text: str
    most: int
    per_s: float | None
    shared: bool
    in_use: int
    left: float | None
    holders: tuple[HolderView, ...]
    holding: int
    waiters: tuple[WaiterView, ...]
    waiting: int
    slow_s: float = 0.0


@dataclass(frozen=True, slots=True)
class PromptNote:
    """A question that waits for a person, in short."""

    id: int
    n: int
    kind: str
    message: str
    asked_at: int


@dataclass(frozen=True, slots=True)
class PromptView:
    """A question in full. ``default`` is JSON, None where there is none; ``until_at`` is when that is taken."""

    id: int
    run_id: str
    n: int
    label: str
    stage: str | None
    kind: str
    message: str
    choices: tuple[str, ...]
    default: str | None
    asked_at: int
    until_at: int | None


@dataclass(frozen=True, slots=True)
class Summary:
    """The progress summary: everything a header and a stage board need, bounded in size.

    ``stamp`` is the journal stamp that it reflects; ``eta_s`` a low and a high guess, None while unsure;
    ``alerts`` are whole sentences; ``parked`` of ``in_flight`` runs stand at a stage boundary and hold no slot.
    ``concurrency`` is how many runs may hold a slot at once, None if workers and slots alone bound that.
    """

    run: RunView
    stages: tuple[StageView, ...]
    workers: tuple[WorkerView, ...]
    active: tuple[ActiveView, ...]
    coordinator: CoordinatorView
    rate_per_s: float
    eta_s: tuple[float, float] | None
    parked: int
    in_flight: int
    alerts: tuple[str, ...]
    stamp: int
    holds: tuple[HoldView, ...] = ()
    concurrency: int | None = None
    usage: tuple[UsageView, ...] = ()
    limits: tuple[LimitView, ...] = ()
    prompts: tuple[PromptNote, ...] = ()


class ChildRow(NamedTuple):
    """One child in a list: a plain tuple, for there may be 100,000 of them."""

    n: int
    parent: int | None
    workflow: str
    label: str
    depth: int
    state: WorkState
    stage: str | None
    stages_done: int
    starts: int
    worker: str | None
    ready_at: int
    started_at: int | None
    ended_at: int | None
    error: str | None


#: Where a reader of child rows has got to: (stamp, n).
Cursor = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ChildPage:
    """Rows that changed after a cursor, oldest change first; ``more`` says that another page waits."""

    rows: list[ChildRow]
    cursor: Cursor
    more: bool


@dataclass(frozen=True, slots=True)
class StageRun:
    """One recorded stage of one child. ``result`` is JSON text, None for a failure; ``error`` has the traceback."""

    seq: int
    name: str
    attempt: int
    ok: bool
    started_at: int
    completed_at: int
    duration_ms: float
    result: str | None
    error: str | None


@dataclass(frozen=True, slots=True)
class LogFile:
    """One log file of a child: ``stage`` is ``run`` for what was printed outside stages."""

    stage: str
    attempt: int
    path: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class ChildView:
    """One child in full: ``input``/``result`` JSON text, ``error`` whole text; its recorded stages; its log files."""

    row: ChildRow
    input: str
    result: str | None
    error: str | None
    stages: tuple[StageRun, ...]
    children: Counts
    logs: tuple[LogFile, ...]


@dataclass(frozen=True, slots=True)
class EventView:
    """One journal event; ``work`` is its child, None for the run; ``payload`` is JSON text, cut when huge."""

    seq: int
    at: int
    type: str
    work: int | None
    epoch: int
    payload: str


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """The answer to a control verb: the state now in the journal, and one sentence for the person."""

    control: ControlView
    status: ShownStatus
    message: str


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a run that a verb is about: children, or a stage, or a worker; none of them is the whole run.

    ``children`` are ranges (first, last) of numbers, each child with all below it; ``worker`` is a place, from 1.
    """

    children: tuple[tuple[int, int], ...] = ()
    stage: str | None = None
    worker: int | None = None


WHOLE = Part()

"""What the pool is told (events) and what it answers (actions): frozen values, compared by equality in tests."""

from __future__ import annotations

from dataclasses import dataclass

from poolboard.journal.states import ControlState, WorkState

# --- events --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WorkerJoined:
    """A worker said hello and has this many slots."""

    worker: str
    slots: int


@dataclass(frozen=True, slots=True)
class WorkerLost:
    """A worker's process is gone; ``reason`` as for a person: ``signal 9``, ``exit code 1``.

    ``costs_start`` is False when coordinator and workers all went together: an accident of the machine, not of a child.
    """

    worker: str
    reason: str
    costs_start: bool = True


@dataclass(frozen=True, slots=True)
class WorkerRetiring:
    """The pool is to be smaller: this worker gets nothing new, and is sent home once it has nothing left."""

    worker: str


@dataclass(frozen=True, slots=True)
class WorkLoaded:
    """An unsettled work item found in the journal at start. Leased ones are retained until adopted or released."""

    n: int
    parent: int | None
    state: WorkState
    generation: int
    starts: int
    worker: str | None
    priority: int


@dataclass(frozen=True, slots=True)
class GroupGrew:
    """Children of one call of the parent's attempt are recorded; ``last`` closes the group."""

    parent: int
    generation: int
    group: int
    limit: int
    children: tuple[tuple[int, WorkState], ...]
    priority: int
    last: bool


@dataclass(frozen=True, slots=True)
class Claimed:
    """The claim asked for is recorded."""

    n: int
    generation: int
    starts: int


@dataclass(frozen=True, slots=True)
class ClaimMissed:
    """The journal did not give the item out."""

    n: int


@dataclass(frozen=True, slots=True)
class Adopted:
    """A living worker goes on with a retained item."""

    n: int
    generation: int
    starts: int
    worker: str


@dataclass(frozen=True, slots=True)
class NotHeld:
    """The worker came back without this retained item: it had let go of it."""

    n: int


@dataclass(frozen=True, slots=True)
class Requeued:
    """The item is ``ready`` again in the journal."""

    n: int


@dataclass(frozen=True, slots=True)
class SlotGiven:
    """The run only waits now."""

    n: int
    generation: int


@dataclass(frozen=True, slots=True)
class SlotWanted:
    """The run could go on."""

    n: int
    generation: int


@dataclass(frozen=True, slots=True)
class RunParked:
    """The run stands at a stage boundary, before the stage named."""

    n: int
    generation: int
    stage: str = ""


@dataclass(frozen=True, slots=True)
class Returned:
    """The run's end arrived from its worker and is on its way to the journal: its slot is free."""

    n: int
    generation: int


@dataclass(frozen=True, slots=True)
class Settled:
    """The item's end is recorded."""

    n: int
    failed: bool = False


@dataclass(frozen=True, slots=True)
class ControlSet:
    """The root's control state."""

    state: ControlState


@dataclass(frozen=True, slots=True)
class ChildrenHeld:
    """These children, and all below them, are held back from now on, or not any more."""

    children: tuple[int, ...]
    held: bool


@dataclass(frozen=True, slots=True)
class SlotsSet:
    """Every worker has so many slots from now on; what runs beyond them may end."""

    slots: int


@dataclass(frozen=True, slots=True)
class ConcurrencySet:
    """So many runs may hold a slot at once; None lifts the bound."""

    most: int | None


@dataclass(frozen=True, slots=True)
class Reopening:
    """A failed child is tried again while its parent still waits; ``Requeued`` follows, or ``Settled`` if refused."""

    n: int
    parent: int


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed while runs wait in a worker for their first slot."""


Event = (
    WorkerJoined | WorkerLost | WorkerRetiring | WorkLoaded | GroupGrew | Claimed | ClaimMissed | Adopted | NotHeld
    | Requeued
    | SlotGiven | SlotWanted | RunParked | Returned | Settled | ControlSet | ChildrenHeld | SlotsSet
    | ConcurrencySet | Reopening | Tick
)  # fmt: skip

# --- actions -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Claim:
    """Lease the item to the worker in the journal, then send it there."""

    n: int
    worker: str


@dataclass(frozen=True, slots=True)
class GrantSlot:
    """Tell the run's worker that it may go on."""

    n: int


@dataclass(frozen=True, slots=True)
class Requeue:
    """Put the item back to ``ready`` in the journal."""

    n: int
    give_start_back: bool


@dataclass(frozen=True, slots=True)
class FailLost:
    """Record that the item failed because its worker died too often."""

    n: int
    reason: str


@dataclass(frozen=True, slots=True)
class TellSettled:
    """Tell the parent's attempt that every child of the group has settled."""

    parent: int
    generation: int
    group: int


@dataclass(frozen=True, slots=True)
class CancelWork:
    """Cancel the item: its parent has ended."""

    n: int


@dataclass(frozen=True, slots=True)
class AllParked:
    """Nothing is in a stage any more: ``pausing`` may become ``paused``, ``stopping`` ``stopped``."""


@dataclass(frozen=True, slots=True)
class HoldRun:
    """Tell the run's worker to let it park at its next stage boundary, or to let it go on."""

    n: int
    held: bool


@dataclass(frozen=True, slots=True)
class Recall:
    """Tell the worker to hand back, unstarted, the runs that still wait there for their first slot."""

    worker: str


@dataclass(frozen=True, slots=True)
class SendHome:
    """The retiring worker has nothing left: tell it goodbye."""

    worker: str


Action = (
    SendHome | Recall | HoldRun | Claim | GrantSlot | Requeue | FailLost | TellSettled | CancelWork | AllParked
)  # fmt: skip

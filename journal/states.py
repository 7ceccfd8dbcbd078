"""The state machines of the journal, as tables.

Two rules. Everything that decides which move is legal lives in this file; and this file does
not know who makes the move. Illegal moves raise and change nothing.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

from .errors import Refused

WorkState = Literal["ready", "leased", "waiting", "completed", "failed", "cancelled"]
ControlState = Literal["running", "pausing", "paused", "stopping", "stopped"]
#: What can be held back inside a run: a child with all below it, a stage name, a worker's place.
HoldScope = Literal["child", "stage", "worker"]
RunStatus = Literal[
    "pending",
    "running",
    "waiting",
    "awaiting_input",
    "pausing",
    "paused",
    "stopping",
    "stopped",
    "completed",
    "failed",
    "blocked",
    "cancelled",
    "skipped",
]

WORK_STATES: Final[tuple[WorkState, ...]] = get_args(WorkState)
CONTROL_STATES: Final[tuple[ControlState, ...]] = get_args(ControlState)
RUN_STATUSES: Final[tuple[RunStatus, ...]] = get_args(RunStatus)

#: A work item in one of these never moves again by itself.
SETTLED_WORK: Final[frozenset[WorkState]] = frozenset({"completed", "failed", "cancelled"})
#: A run in one of these has ended for good; nothing may write for it any more.
TERMINAL_RUN: Final[frozenset[RunStatus]] = frozenset({"completed", "failed", "cancelled", "skipped"})

#: verb -> state before -> state after. A verb that finds no row refuses.
WORK_MOVES: Final[dict[str, dict[WorkState, WorkState]]] = {
    "claim": {"ready": "leased"},
    "wait": {"leased": "waiting"},
    "wake": {"waiting": "leased"},
    "release": {"leased": "ready", "waiting": "ready"},
    "complete": {"leased": "completed"},
    "fail": {"leased": "failed", "waiting": "failed", "ready": "failed"},
    "cancel": {"ready": "cancelled", "leased": "cancelled", "waiting": "cancelled"},
    "retry": {"failed": "ready"},
}

#: state before -> states that may follow.
CONTROL_MOVES: Final[dict[ControlState, frozenset[ControlState]]] = {
    "running": frozenset({"pausing", "paused", "stopping", "stopped"}),
    "pausing": frozenset({"paused", "running", "stopping", "stopped"}),
    "paused": frozenset({"running", "stopping", "stopped"}),
    "stopping": frozenset({"stopped"}),
    "stopped": frozenset({"running"}),
}

#: The run is under way in these: its elapsed time counts.
ACTIVE_RUN: Final[frozenset[RunStatus]] = frozenset({"running", "waiting", "awaiting_input", "pausing", "stopping"})

#: Control states in which an attempt that is already running may still record (SPEC 1.11, check 7).
ADMITS_ATTEMPT_WRITES: Final[frozenset[ControlState]] = frozenset({"running", "pausing", "paused", "stopping"})
#: Control states in which new work may be claimed.
ADMITS_CLAIMS: Final[frozenset[ControlState]] = frozenset({"running"})


class IllegalMove(Refused):
    """A state machine was asked for a move that its table does not hold."""


def move_work(verb: str, state: WorkState) -> WorkState:
    """Return the work state after ``verb``; raises IllegalMove."""
    try:
        return WORK_MOVES[verb][state]
    except KeyError:
        raise IllegalMove(f"work in state {state!r} cannot {verb}") from None


def move_control(before: ControlState, after: ControlState) -> ControlState:
    """Return ``after`` if control may go there; asking for the same state again is fine. Raises IllegalMove."""
    if after == before or after in CONTROL_MOVES[before]:
        return after
    raise IllegalMove(f"a run that is {before} cannot become {after}")

"""One run as an open transaction sees it: read once, changed in memory, written once before the commit."""

from __future__ import annotations

from .positions import SPAN
from .states import ControlState, RunStatus, WorkState

#: (state before or None for new work, state after, how many) of children.
Move = tuple[WorkState | None, WorkState, int]
#: (stage, ok, duration in ms, seq) of a recorded checkpoint.
StageHit = tuple[str, bool, float, int]

Mark = tuple[str | None, int, RunStatus, ControlState, int, int, bool, int, int]


class OpenRun:
    """Lease, status, control and the next numbers of a run, and what this transaction adds to its counters.

    Moves and stage hits are only ever appended, so that going back to a mark is cutting two lists.
    """

    __slots__ = (
        "base",
        "control",
        "dirty",
        "epoch",
        "holder",
        "last_n",
        "last_seq",
        "moves",
        "number",
        "renewed_at",
        "run_id",
        "stage_hits",
        "status",
    )

    def __init__(
        self,
        number: int,
        run_id: str,
        status: RunStatus,
        last_seq: int,
        last_n: int,
        holder: str | None,
        epoch: int,
        renewed_at: int | None,
        control: ControlState,
    ) -> None:
        self.number, self.base, self.run_id = number, number * SPAN, run_id
        self.status, self.control = status, control
        self.last_seq, self.last_n = last_seq, last_n
        self.holder, self.epoch, self.renewed_at = holder, epoch, renewed_at
        self.dirty = False
        self.moves: list[Move] = []
        self.stage_hits: list[StageHit] = []

    def mark(self) -> Mark:
        """Return everything that a member can change."""
        return (
            self.holder,
            self.epoch,
            self.status,
            self.control,
            self.last_seq,
            self.last_n,
            self.dirty,
            len(self.moves),
            len(self.stage_hits),
        )

    def restore(self, mark: Mark) -> None:
        """Go back to a mark, after the member that came behind it was rolled back."""
        (
            self.holder,
            self.epoch,
            self.status,
            self.control,
            self.last_seq,
            self.last_n,
            self.dirty,
            moves,
            hits,
        ) = mark
        del self.moves[moves:]
        del self.stage_hits[hits:]

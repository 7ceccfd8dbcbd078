"""What the pool remembers: unsettled work items, groups of siblings, and workers. Data only."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Literal

#: Starts of one child in all before it is given up (SPEC 1.26).
MAX_STARTS = 3

#: Where a group is: parent, the parent's generation, its number there.
GroupKey = tuple[int, int, int]
#: ``moving``: a journal write that decides its next state is under way. ``retained``: leased under an older epoch.
#: ``held``: ready in the journal, but a person holds it back.
ItemState = Literal["ready", "held", "claiming", "active", "waiting", "retained", "moving"]


@dataclass(slots=True)
class Item:
    """One unsettled work item."""

    n: int
    group: GroupKey
    state: ItemState
    generation: int = 0
    starts: int = 0
    worker: str | None = None
    priority: int = 0
    held_slot: bool = False
    #: One more lost worker and it fails. It may be what kills workers, so it gets its last start alone in one. Not
    #: sooner: one worker that is killed by accident must not make the long runs it had go one by one.
    suspect: bool = False
    #: When it took its slot, in ms.
    since: int = 0
    #: It lost a worker while it still waited there for a slot, and no start. That happens once: in a race nobody sees,
    #: it had begun and was what killed the worker.
    spared: bool = False


@dataclass(slots=True)
class Group:
    """Unsettled members, those of them that are ready (a heap), and how many are active.

    ``failed``: members that have failed; they can be tried again while the call waits for the others.
    ``pace_ms``: how long a member holds a slot, over the last of those ``measured``.
    """

    limit: int
    members: set[int] = field(default_factory=set)
    ready: list[int] = field(default_factory=list)
    active: int = 0
    failed: set[int] = field(default_factory=set)
    offered: bool = False
    closed: bool = False
    told: bool = False
    pace_ms: float = 0.0
    measured: int = 0


@dataclass(slots=True)
class Place:
    """One worker: its slots, which runs hold one, which want theirs back, which wait there for their first.

    ``ahead``: when each was claimed, in ms, in order. ``recalled``: those are on their way back.
    """

    slots: int
    holding: set[int] = field(default_factory=set)
    wanting: deque[int] = field(default_factory=deque)
    ahead: dict[int, int] = field(default_factory=dict)
    recalled: bool = False
    retiring: bool = False
    reserved_for: int | None = None

    @property
    def closed(self) -> bool:
        """Whether nothing new is to come here."""
        return self.retiring or self.recalled or self.reserved_for is not None

    @property
    def free(self) -> int:
        """How many slots are free."""
        if self.retiring or self.reserved_for is not None:
            return 0
        return self.slots - len(self.holding)

    @property
    def here(self) -> set[int]:
        """Every run that computes here or may: one that waits for its first slot may have begun in a lent one."""
        return self.holding | self.ahead.keys()

    @property
    def empty(self) -> bool:
        """Whether no run holds a slot here or waits for its first."""
        return not self.holding and not self.ahead

"""The children that have failed, grouped by what went wrong; kept up row by row, never counted again. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from poolboard.engine.views import ChildRow, RunView

from .fingerprint import fingerprint, group_id
from .text import visible
from .units import count, several

#: Children that a report names.
_NAMED: Final = 20


class FailureGroup(NamedTuple):
    """Children that failed in the same way; ``first`` is the one that failed before the others, ``last_at`` in ms.

    ``earliest``: no other group began to fail before this one; what comes after may follow from it.
    """

    id: str
    words: str
    failed: int
    first: ChildRow
    last_at: int
    earliest: bool = False


class Failures:
    """Groups by id. A child that is tried again leaves its group."""

    def __init__(self) -> None:
        self._group_of: dict[int, str] = {}
        self._members: dict[str, dict[int, ChildRow]] = {}
        self._kept: dict[str, FailureGroup] = {}
        self._stale: set[str] = set()

    @property
    def total(self) -> int:
        """How many children are failed."""
        return len(self._group_of)

    def __len__(self) -> int:
        return len(self._members)

    def take(self, rows: Iterable[ChildRow]) -> None:
        """Take children that changed."""
        for row in rows:
            group = group_id(row.error or "") if row.state == "failed" else None
            before = self._group_of.get(row.n)
            if before is not None and before != group:
                self._leave(row.n, before)
            if group is not None:
                self._group_of[row.n] = group
                self._members.setdefault(group, {})[row.n] = row
                self._stale.add(group)

    def groups(self) -> list[FailureGroup]:
        """Return the groups, the largest first, of equal ones the earlier."""
        for group in self._stale:
            members = self._members.get(group)
            if members:
                self._kept[group] = _told(group, members)
            else:
                self._kept.pop(group, None)
        self._stale.clear()
        groups = sorted(self._kept.values(), key=lambda one: (-one.failed, _began(one)))
        began = min(map(_began, groups), default=None)
        return [one._replace(earliest=_began(one) == began) for one in groups]

    def report(self, group: FailureGroup, run: RunView) -> str:
        """Return the group as text to hand on: what failed where, how often, and the first one in full."""
        members = sorted(self._members.get(group.id, {}))
        first = group.first
        named = ", ".join(f"#{n}" for n in members[:_NAMED])
        more = f" and {count(len(members) - _NAMED)} more" if len(members) > _NAMED else ""
        failed = several(group.failed, "child", "children")
        lines = [
            f"{failed} of run {run.run_id} ({visible(run.name)}) failed in one way:",
            f"  {visible(group.words)}",
            f"First: #{first.n} {visible(first.label)}, stage {visible(first.stage or 'none')}, "
            f"{several(first.starts, 'start')}",
            f"  {visible(first.error or '')}",
            f"Children: {named}{more}",
            f"Look closer: poolboard logs {run.run_id} {first.n}",
        ]
        return "\n".join(lines) + "\n"

    def _leave(self, n: int, group: str) -> None:
        del self._group_of[n]
        members = self._members[group]
        del members[n]
        if not members:
            del self._members[group]
        self._stale.add(group)


def _began(group: FailureGroup) -> tuple[int, int]:
    return (group.first.ended_at or 0, group.first.n)


def _told(group: str, members: Mapping[int, ChildRow]) -> FailureGroup:
    first = min(members.values(), key=lambda row: (row.ended_at or 0, row.n))
    last_at = max(row.ended_at or 0 for row in members.values())
    return FailureGroup(group, fingerprint(first.error or ""), len(members), first, last_at)

"""Which runs have moved since one last looked: for whoever keeps something that was read from any journal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .model import RunVersion
from .optional import run_versions
from .protocol import ChangeTracking, Journal


@dataclass(frozen=True, slots=True)
class Moved:
    """``changed`` are runs with other events than before, new ones too; ``gone`` were deleted."""

    changed: frozenset[str]
    gone: frozenset[str]

    def __bool__(self) -> bool:
        return bool(self.changed or self.gone)


class Follower:
    """Looks at one journal again and again. What a look found is told once."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._token: str | None = None
        self._seen: Mapping[str, RunVersion] = {}

    async def look(self) -> Moved:
        """Return what moved since the look before; at first, every run. A journal without change tracking is read.

        Sequence numbers alone tell nothing: a run may be deleted and recorded again with as many events.
        """
        token = None
        if isinstance(self._journal, ChangeTracking):
            # Before the versions: what is committed in between moves the token of the next look.
            token = await self._journal.change_token()
            if token == self._token:
                return Moved(frozenset(), frozenset())
        before, now = self._seen, await run_versions(self._journal)
        self._token, self._seen = token, dict(now)
        changed = frozenset(run_id for run_id, version in now.items() if before.get(run_id) != version)
        return Moved(changed, frozenset(before) - frozenset(now))

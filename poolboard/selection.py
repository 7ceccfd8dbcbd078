"""Which runs a command is about: ids, beginnings of ids, or what holds of the runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from poolboard.ages import age_ms, wall_ms

if TYPE_CHECKING:
    from poolboard.engine.monitor import Monitor
    from poolboard.engine.views import RunView


@dataclass(frozen=True, slots=True)
class Selection:
    """Runs by ``prefixes``, or all, narrowed by filters; ``older_than`` is an age as a person writes it."""

    prefixes: tuple[str, ...] = ()
    failed: bool = False
    older_than: str | None = None
    name: str | None = None

    @classmethod
    def of(cls, runs: list[str] | None, failed: bool, older_than: str | None, name: str | None) -> Selection:
        """Return what a command line says; raises UserMistake for an age that is none."""
        if older_than is not None:
            age_ms(older_than, "--older-than")
        return cls(tuple(runs or ()), failed, older_than, name)

    @property
    def filters(self) -> bool:
        """Whether runs are chosen by what holds of them, so that nobody has named each of them."""
        return self.failed or self.older_than is not None or self.name is not None

    @property
    def is_empty(self) -> bool:
        """Whether nothing was said."""
        return not self.prefixes and not self.filters

    def admits(self, run: RunView, now_ms: int) -> bool:
        """Whether a run passes the filters."""
        old = self.older_than is None or now_ms - run.created_at >= age_ms(self.older_than, "--older-than")
        named = self.name is None or fnmatchcase(run.name, self.name)
        return old and named and (not self.failed or run.status == "failed")


async def chosen(
    monitor: Monitor, selection: Selection, applies: Callable[[RunView], bool] = lambda run: True
) -> list[RunView]:
    """Return the runs, each once; of runs chosen by filters only those to which the verb ``applies``.

    Raises UnknownRun, AmbiguousRun.
    """
    ids = dict.fromkeys([await monitor.resolve(prefix) for prefix in selection.prefixes])
    if not selection.filters:
        return [(await monitor.status(run_id)).run for run_id in ids]
    now_ms = wall_ms()
    return [
        run
        for run in await monitor.runs()
        if (not ids or run.run_id in ids) and selection.admits(run, now_ms) and applies(run)
    ]

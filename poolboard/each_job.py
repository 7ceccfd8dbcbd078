"""What ``each`` was asked to do with every item: the input of its root run, so it is recorded and outlives everything.

No value of ``--env`` is in here: names only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from poolboard.engine.errors import UserMistake
from poolboard.templates import Template

#: The files of a run's state folder that belong to ``each``.
LIST_FILE = "items"

_HALT = re.compile(r"(soon|now),fail=(\d{1,9})(%?)")


@dataclass(frozen=True, slots=True)
class Halt:
    """When to give up: after so many failed items, or so many percent of the whole list."""

    when: Literal["soon", "now"]
    fail: int
    percent: bool = False

    @classmethod
    def parse(cls, text: str) -> Halt:
        """Return what ``soon,fail=3`` or ``now,fail=10%`` says; raises UserMistake."""
        found = _HALT.fullmatch(text)
        if found is None or int(found[2]) < 1 or (found[3] and int(found[2]) > 100):
            raise UserMistake(f"--halt {text!r}: write soon,fail=N or now,fail=N, or N% with N from 1 to 100")
        return cls("now" if found[1] == "now" else "soon", int(found[2]), bool(found[3]))

    def is_due(self, failed: int, total: int | None) -> bool:
        """Whether to give up; ``total`` is None while the list goes on, and percents of it are not known."""
        if not self.percent:
            return failed >= self.fail
        return bool(total) and failed * 100 >= self.fail * (total or 0)

    def __str__(self) -> str:
        return f"{self.when},fail={self.fail}{'%' * self.percent}"


@dataclass(frozen=True, slots=True)
class Job:
    """The command, how items become commands, and how the commands are run. ``jobs`` is how many at once."""

    template: list[str]
    jobs: int
    argv: bool = False
    columns: list[str] | None = None
    max_args: int = 1
    timeout_s: float | None = None
    retries: int = 0
    halt: Halt | None = None
    allow_failures: int = 0
    results: str | None = None
    env: list[str] | None = None
    uses_slot: bool = False
    #: Named limits; every command takes one of each.
    limits: dict[str, int | str] | None = None

    @classmethod
    def of_json(cls, told: Mapping[str, Any]) -> Job:
        """Return the job as it was recorded; raises TypeError for something else."""
        halt = told.get("halt")
        return cls(**{**told, "halt": None if halt is None else Halt(**halt)})

    def parsed(self) -> Template:
        """Return the template; raises UserMistake."""
        return Template(self.template, argv=self.argv, columns=self.columns or ())

    @property
    def needs(self) -> dict[str, int]:
        """What every command takes of named limits."""
        return {name: 1 for name in self.limits or {} if "." not in name}

    @property
    def title(self) -> str:
        """How a list of runs calls it, unless it was given a name."""
        return "each " + " ".join(self.template)


def result_folder(job: Job, number: int) -> Path | None:
    """Return where an item's output is to be copied to."""
    return None if job.results is None else Path(job.results) / str(number)


def seconds(text: str, what: str) -> float:
    """Return a duration: ``90``, ``1.5``, ``2m``, ``1h``, ``1d``; raises UserMistake."""
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)([smhd]?)", text)
    duration_s = float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}[found[2]] if found else 0.0
    if duration_s <= 0:
        raise UserMistake(f"{what} {text!r}: write seconds, or a number with s, m, h or d, more than 0")
    return duration_s


def workers_and_slots(jobs: int, most_workers: int) -> tuple[int, int]:
    """Return worker processes and slots in each, so that exactly ``jobs`` commands can run at once."""
    workers = max(count for count in range(1, min(jobs, most_workers) + 1) if jobs % count == 0)
    return workers, jobs // workers


def names_of(settings: Sequence[str]) -> list[str]:
    """Return the names in ``NAME`` and ``NAME=VALUE``; raises UserMistake, without the value."""
    names = [setting.partition("=")[0] for setting in settings]
    for name in names:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise UserMistake(f"--env {name!r}: a name has letters, digits and _ only")
    return names

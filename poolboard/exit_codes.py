"""What the command line's exit status says, in one table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from poolboard.engine.views import ShownStatus

COMPLETED: Final = 0
FAILED: Final = 1
MISTAKE: Final = 2
RESUMABLE: Final = 3
BLOCKED: Final = 4
STORAGE: Final = 5
FAULT: Final = 70
GOES_ON: Final = 124
HANGUP: Final = 129
INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141
TERMINATED: Final = 143

#: The table that ``--help`` and the README show.
MEANINGS: Final[dict[int, str]] = {
    COMPLETED: "the root run completed, also when it collected failed children",
    FAILED: "the root run failed or was cancelled",
    MISTAKE: "wrong usage, input or configuration; nothing was created",
    RESUMABLE: "the run is paused, stopped or crashed, and resumable",
    BLOCKED: "the run is blocked: it cannot go on without a person",
    STORAGE: "the journal's storage did not answer, or is damaged",
    FAULT: "a fault of Poolboard itself",
    GOES_ON: "the run still goes on (wait --timeout, status --exit-code)",
    HANGUP: "the terminal went away (SIGHUP)",
    INTERRUPTED: "interrupted (^C); a started run goes on",
    BROKEN_PIPE: "nobody read the output any more (SIGPIPE)",
    TERMINATED: "terminated (SIGTERM); a started run goes on",
}

_BY_STATUS: Final[dict[ShownStatus, int]] = {
    "completed": COMPLETED,
    "skipped": COMPLETED,
    "failed": FAILED,
    "cancelled": FAILED,
    "paused": RESUMABLE,
    "stopped": RESUMABLE,
    "crashed": RESUMABLE,
    "blocked": BLOCKED,
}

#: Of several runs the one that asks most of the reader decides how the command ends: the last of these.
GRAVITY: Final = (COMPLETED, RESUMABLE, BLOCKED, FAILED, GOES_ON)


def of_status(status: ShownStatus) -> int | None:
    """Return the exit status of a run at rest; None while it moves."""
    return _BY_STATUS.get(status)

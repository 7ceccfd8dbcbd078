"""Why an action cannot be used now: one short reason per situation, None where it can. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from poolboard.engine.views import ShownStatus

from .action import Situation

#: More than this the engine does not take.
MOST_WORKERS: Final = 1024

_PAUSABLE: Final[frozenset[ShownStatus]] = frozenset({"pending", "running", "waiting", "awaiting_input"})
_STOPPABLE: Final[frozenset[ShownStatus]] = _PAUSABLE | {"pausing", "paused", "blocked"}
#: Messages get there, or are kept in the journal until the run goes on.
_REACHED: Final[frozenset[ShownStatus]] = _STOPPABLE | {"stopping", "stopped", "crashed"}
_RESUMABLE: Final[frozenset[ShownStatus]] = frozenset({"pausing", "paused", "stopped", "crashed"})


def told(status: ShownStatus) -> str:
    """Return a status in words."""
    return status.replace("_", " ")


def needs_run(situation: Situation) -> str | None:
    """Say why there is nothing to act on."""
    if situation.read_only:
        return "read-only"
    if situation.run is not None:
        return None
    return "the run is still being read" if situation.reading else "no run is selected"


def wants_resume(situation: Situation) -> bool:
    """Say whether the pause key resumes now."""
    run = situation.run
    return run is not None and (run.status in _RESUMABLE or (run.status == "blocked" and run.resumable))


def no_pause(situation: Situation) -> str | None:
    """Say why the run can be neither paused nor resumed."""
    run = situation.run
    if run is None or situation.read_only:
        return needs_run(situation)
    if run.status in _PAUSABLE or run.status in ("pausing", "paused"):
        return None
    if wants_resume(situation):
        return None if run.resumable else f"the run is {told(run.status)} and cannot be resumed"
    return f"the run is {told(run.status)}"


def no_stop(situation: Situation) -> str | None:
    """Say why the run cannot be stopped."""
    run = situation.run
    if run is None or situation.read_only:
        return needs_run(situation)
    if run.status in _STOPPABLE:
        return None
    return f"the run is {told(run.status)}" + (": nothing is running" if run.status == "crashed" else "")


def no_cancel(situation: Situation) -> str | None:
    """Say why the run cannot be cancelled."""
    run = situation.run
    if run is None or situation.read_only:
        return needs_run(situation)
    return None if run.ended_at is None else f"the run is {told(run.status)}"


def no_send(situation: Situation) -> str | None:
    """Say why no message can be sent."""
    run = situation.run
    if run is None or situation.read_only:
        return needs_run(situation)
    if run.ended_at is None and run.status in _REACHED:
        return None
    return f"the run is {told(run.status)}"


def no_retry(situation: Situation) -> str | None:
    """Say why what failed cannot be tried again."""
    run = situation.run
    if run is None or situation.read_only:
        return needs_run(situation)
    if run.status == "cancelled":
        return "the run is cancelled, which is final"
    if run.ended_at is None and run.status != "stopped":
        return f"the run is {told(run.status)}: possible once it has ended or is stopped"
    return None if run.children.failed or run.status == "failed" else "nothing has failed"


def no_hold(situation: Situation) -> str | None:
    """Say why no part of the run can be held back, let go or cancelled."""
    run = situation.run
    if run is None or situation.read_only:
        return needs_run(situation)
    return None if run.status in _PAUSABLE or run.status in ("pausing", "paused") else f"the run is {told(run.status)}"


def no_more_workers(situation: Situation) -> str | None:
    """Say why the run cannot get another worker."""
    run = situation.run
    if run is None or situation.read_only:
        return needs_run(situation)
    if run.status in _PAUSABLE or run.status in ("pausing", "paused"):
        return None if situation.workers < MOST_WORKERS else f"{MOST_WORKERS} is the most"
    return f"the run is {told(run.status)}"


def no_fewer_workers(situation: Situation) -> str | None:
    """Say why the run cannot lose a worker."""
    why = no_more_workers(replace(situation, workers=0))
    if why is not None:
        return why
    return None if situation.workers > 1 else "one worker is the least"


def no_row(situation: Situation) -> str | None:
    """Say why there is nothing under the cursor."""
    return None if situation.has_row else "the list is empty"


def no_cell(situation: Situation) -> str | None:
    """Say why there is no row to copy of."""
    return None if situation.has_row else "the cursor is on no row"


def no_log(situation: Situation) -> str | None:
    """Say why there is no log to act on."""
    return None if situation.view == "log" else "only in the log"


def no_file(situation: Situation) -> str | None:
    """Say why the log cannot be handed to a file or a program of this machine."""
    return no_log(situation) or ("not from a browser" if situation.guest else None)


def no_shell(situation: Situation) -> str | None:
    """Say why there is no shell to go back to."""
    return "not from a browser" if situation.guest else None


def no_search(situation: Situation) -> str | None:
    """Say why there is no match to go to."""
    return no_log(situation) or (None if situation.searched else "nothing is searched for: / does")


def no_answer(situation: Situation) -> str | None:
    """Say why there is nothing to answer."""
    run = situation.run
    if run is None or situation.read_only:
        return needs_run(situation)
    if not run.prompts:
        return "nothing waits for an answer"
    return None if run.status in _PAUSABLE or run.status in ("pausing", "paused") else f"the run is {told(run.status)}"


def no_limit(situation: Situation) -> str | None:
    """Say why no limit can be changed."""
    if situation.read_only or situation.run is None:
        return needs_run(situation)
    return None if situation.view == "limits" else "only in the Limits tab"

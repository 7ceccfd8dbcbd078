"""Verbs on runs: one or several, named or chosen by filters. Each is asked of the monitor, one run after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from poolboard import exit_codes, shapes
from poolboard.confirmation import confirm
from poolboard.console import complain, say
from poolboard.engine.errors import CoordinatorGone, EngineError, UserMistake
from poolboard.engine.views import WHOLE
from poolboard.headless import MOVING
from poolboard.journal.errors import JournalError
from poolboard.parts import Chosen, chosen_failures
from poolboard.selection import Selection, chosen
from poolboard.session import opened, person
from poolboard.words import shown

if TYPE_CHECKING:
    from poolboard.engine.monitor import Monitor
    from poolboard.engine.views import Acknowledgement, Part, RunView

Deed = Callable[["Monitor", "RunView"], Awaitable["Acknowledgement"]]


@dataclass(frozen=True, slots=True)
class Wish:
    """A verb: what it does to a run, and which runs it can be done to."""

    verb: str
    deed: Deed
    applies: Callable[[RunView], bool]


def _goes_on(run: RunView) -> bool:
    return run.status in MOVING and run.status not in ("pending", "crashed")


def pause(why: str | None, part: Part) -> Wish:
    """Start nothing new in a run, or in a part of it."""
    return Wish("pause", lambda monitor, run: monitor.pause(run.run_id, person(), why, part=part), _goes_on)


def stop(why: str | None, part: Part, *, now: bool) -> Wish:
    """End what runs in a run, or in a part of it, and keep that resumable."""
    return Wish(
        "stop",
        lambda monitor, run: monitor.stop(run.run_id, person(), why, now=now, part=part),
        lambda run: _goes_on(run) or (part == WHOLE and run.status in ("paused", "crashed")),
    )


def cancel(why: str | None, part: Part) -> Wish:
    """End a run, or children of it, for good."""
    return Wish(
        "cancel",
        lambda monitor, run: monitor.cancel(run.run_id, person(), why, part=part),
        lambda run: run.ended_at is None,
    )


def resume(why: str | None, *, accept_code: bool, budget: dict[str, float], part: Part) -> Wish:
    """Let a run go on, or a paused part of a live one."""
    return Wish(
        "resume",
        lambda monitor, run: monitor.resume(
            run.run_id, person(), why, accept_code=accept_code, budget=budget, part=part
        ),
        (lambda run: run.resumable) if part == WHOLE else _goes_on,
    )


def retry(failures: Chosen, *, accept_code: bool) -> Wish:
    """Try again what failed in a run."""

    async def deed(monitor: Monitor, run: RunView) -> Acknowledgement:
        only = await chosen_failures(monitor, run.run_id, failures)
        return await monitor.retry(run.run_id, person(), failures.why, only=only, accept_code=accept_code)

    return Wish(
        "retry",
        deed,
        lambda run: run.status == "failed" or (run.status == "completed" and run.children.failed > 0),
    )


#: How a refusal by the journal ends the command, and one by a coordinator that does not answer.
_CODES: Final = ((CoordinatorGone, exit_codes.RESUMABLE), (EngineError, exit_codes.MISTAKE))


def fulfil(journal: str | None, selection: Selection, wish: Wish, *, yes: bool, as_json: bool) -> int:
    """Ask it of every run that is meant and tell the answers; return 0, or how the first refusal ends the command.

    Runs chosen by filters are confirmed first. A refusal by one run keeps no other from being asked.
    """
    if selection.is_empty:
        raise UserMistake(f"which run? write its id, or choose runs by --failed, --older-than, --name to {wish.verb}")
    return asyncio.run(_fulfil(journal, selection, wish, yes, as_json))


async def _fulfil(journal: str | None, selection: Selection, wish: Wish, yes: bool, as_json: bool) -> int:
    async with opened(journal) as monitor:
        runs = await chosen(monitor, selection, wish.applies)
        if not runs:
            complain(f"no run to {wish.verb}")
            return exit_codes.COMPLETED
        if selection.filters and not confirm(wish.verb, runs, yes=yes):
            complain("nothing was done")
            return exit_codes.COMPLETED
        code = exit_codes.COMPLETED
        for run in runs:
            try:
                told = await wish.deed(monitor, run)
            except (EngineError, JournalError) as error:
                if len(runs) == 1:
                    raise
                complain(f"poolboard: {shown(str(error))}")
                code = code or _code_of(error)
                continue
            one = shown(told.message) if len(runs) == 1 else f"{run.run_id}  {shown(told.message)}"
            say(shapes.line(shapes.of_acknowledgement(run.run_id, told)) if as_json else one)
        return code


def _code_of(error: Exception) -> int:
    return next((code for kind, code in _CODES if isinstance(error, kind)), exit_codes.STORAGE)

"""What a new coordinator does first, by what it was started for."""

from __future__ import annotations

from functools import partial

from poolboard.journal import queue
from poolboard.journal.model import RunRow
from poolboard.journal.states import TERMINAL_RUN

from .control import Controller, Refusal
from .dispatch import Dispatcher
from .errors import UserMistake
from .intent import Errand
from .ranges import numbers_in
from .spending import Spending


async def begin(
    errand: Errand, run: RunRow, dispatcher: Dispatcher, spending: Spending, controller: Controller
) -> None:
    """Retry what is to be retried, put the budget in force, and let the run go on if a person wants that.

    Raises UserMistake if there is nothing to retry, or if the budget is used up.
    """
    await spending.load()
    if errand.intent not in ("resume", "retry"):
        return
    try:
        if errand.intent == "retry":
            await _retry(errand, run, dispatcher, spending)
        await spending.change(errand.budget, errand.by, errand.why)
    except Refusal as refusal:
        raise UserMistake(f"run {run.run_id[:8]}: {refusal}") from None
    if run.status not in TERMINAL_RUN:
        await controller.resume_after_restart(errand.by, errand.why)


async def _retry(errand: Errand, run: RunRow, dispatcher: Dispatcher, spending: Spending) -> None:
    """Make ready what is to be tried again. Nothing is, unless the budget lets the run go on afterwards."""
    lease, only = dispatcher.lease, numbers_in(errand.only) or None
    failed = [n for n in await spending.failed() if n > 0 and (only is None or n in only)]
    await spending.check(errand.budget, forgiven=len(failed))
    retry = partial(queue.retry_failed, lease=lease, only=only, by=errand.by, why=errand.why)
    if not await dispatcher.recorder.record(retry):
        which = "none of these has failed" if only else "nothing has failed"
        raise UserMistake(f"{which} in run {run.run_id[:8]}: there is nothing to retry")

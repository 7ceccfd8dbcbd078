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
    if errand.intent == "retry":
        only = numbers_in(errand.only) or None
        retry = partial(queue.retry_failed, lease=dispatcher.lease, only=only, by=errand.by, why=errand.why)
        if not await dispatcher.recorder.record(retry):
            which = "none of these has failed" if only else "nothing has failed"
            raise UserMistake(f"{which} in run {run.run_id[:8]}: there is nothing to retry")
    await spending.load()
    if errand.intent not in ("resume", "retry"):
        return
    try:
        await spending.change(errand.budget, errand.by, errand.why)
    except Refusal as refusal:
        raise UserMistake(f"run {run.run_id[:8]}: {refusal}") from None
    if run.status not in TERMINAL_RUN:
        await controller.resume_after_restart(errand.by, errand.why)

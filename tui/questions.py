"""What is asked before a run is stopped, cancelled or taken up again: each names the run and how many. Pure."""

from __future__ import annotations

from poolboard.engine.views import RunView

from .confirm_screen import Question
from .units import several


def _name(run: RunView) -> str:
    return f"{run.name}  {run.run_id}"


def stop_question(run: RunView) -> Question:
    """Ask before a run is stopped, which can be undone by resuming it."""
    active = several(run.children.leased, "active child", "active children")
    return Question(
        title="Stop this run?",
        name=_name(run),
        lines=(
            f"{active}: each may end its stage within the grace time.",
            "What is recorded stays; the run can be resumed.",
        ),
        yes="stop",
        no="let it run",
    )


def cancel_question(run: RunView) -> Question:
    """Ask before a run is ended for good."""
    children = run.children
    left = several(children.total - children.settled, "child", "children")
    return Question(
        title="Cancel this run for good?",
        name=_name(run),
        lines=(
            f"{left} will not end, {several(children.leased, 'active one')} among them.",
            "What is recorded stays readable.",
        ),
        yes="cancel the run",
        no="let it be",
        danger="final: it can be neither resumed nor retried. To go on later, stop it instead.",
    )


def retry_question(run: RunView) -> Question:
    """Ask before what has failed is tried again, with the exact count."""
    failed, done = run.children.failed, run.children.completed
    first = f"{several(failed, 'failed child', 'failed children')}: exactly these are tried again."
    if not failed:
        first = "The run itself failed, none of its children: it is tried again from its recorded stages."
    return Question(
        title="Retry what failed?",
        name=_name(run),
        lines=(first, f"{several(done, 'completed child', 'completed children')} stay as they are."),
        yes=f"retry {several(failed, 'child', 'children')}" if failed else "retry the run",
        no="leave it",
    )

"""What is asked before a run is stopped, cancelled or taken up again: each names the run and how many. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from poolboard.engine.views import Part, RunView

from .confirm_screen import Question
from .units import count, several

_NAMED: Final = 4


def _names(runs: Sequence[RunView]) -> str:
    """Name the run, or the first of several."""
    named = "\n".join(f"{run.name}  {run.run_id}" for run in runs[:_NAMED])
    return named + (f"\nand {count(len(runs) - _NAMED)} more" if len(runs) > _NAMED else "")


def _these(runs: Sequence[RunView]) -> str:
    return "this run" if len(runs) == 1 else f"these {count(len(runs))} runs"


def stop_question(runs: Sequence[RunView]) -> Question:
    """Ask before runs are stopped, which can be undone by resuming them."""
    active = several(sum(run.children.leased for run in runs), "active child", "active children")
    return Question(
        title=f"Stop {_these(runs)}?",
        name=_names(runs),
        lines=(
            f"{active}: each may end its stage within the grace time.",
            "What is recorded stays; " + ("the run" if len(runs) == 1 else "each run") + " can be resumed.",
        ),
        yes="stop",
        no="let it run" if len(runs) == 1 else "let them run",
    )


def cancel_question(runs: Sequence[RunView]) -> Question:
    """Ask before runs are ended for good."""
    left = several(sum(run.children.total - run.children.settled for run in runs), "child", "children")
    leased = sum(run.children.leased for run in runs)
    return Question(
        title=f"Cancel {_these(runs)} for good?",
        name=_names(runs),
        lines=(
            f"{left} will not end, {several(leased, 'active one')} among them.",
            "What is recorded stays readable.",
        ),
        yes="cancel the run" if len(runs) == 1 else f"cancel {count(len(runs))} runs",
        no="let it be" if len(runs) == 1 else "let them be",
        danger="final: it can be neither resumed nor retried. To go on later, stop it instead.",
    )


def stop_part_question(part: Part, run: RunView, active: int) -> Question:
    """Ask before a part of a live run is stopped; ``active``: what is at work in it, as far as the screen knows."""
    at_work = several(active, "child is", "children are")
    return Question(
        title=f"Stop {_part_named(part)}?",
        name=_children_named([n for n, _ in part.children]) or f"{run.name}  {run.run_id}",
        lines=(
            f"{at_work} active there: each may end its stage within the grace time.",
            "The run goes on without it; h lets it go on again.",
        ),
        yes="stop it",
        no="let it run",
    )


def _part_named(part: Part) -> str:
    if part.stage is not None:
        return f"stage {part.stage}"
    if part.worker is not None:
        return f"worker {part.worker}"
    return several(len(part.children), "child", "children") + ", with all below"


def _children_named(numbers: Sequence[int]) -> str:
    named = ", ".join(f"#{n}" for n in numbers[:_NAMED])
    return named + (f" and {count(len(numbers) - _NAMED)} more" if len(numbers) > _NAMED else "")


def cancel_children_question(numbers: Sequence[int]) -> Question:
    """Ask before children of a live run are ended for good."""
    return Question(
        title=f"Cancel {several(len(numbers), 'child', 'children')} for good?",
        name=_children_named(numbers),
        lines=("What is below them ends too; the run goes on, and their parents are told.",),
        yes=f"cancel {several(len(numbers), 'child', 'children')}",
        no="let them be",
        danger="final for these children.",
    )


def retry_question(runs: Sequence[RunView]) -> Question:
    """Ask before what has failed is tried again, with the exact count."""
    failed, done = sum(run.children.failed for run in runs), sum(run.children.completed for run in runs)
    first = f"{several(failed, 'failed child', 'failed children')}: exactly these are tried again."
    if not failed:
        first = "The run itself failed, none of its children: it is tried again from its recorded stages."
    return Question(
        title="Retry what failed?",
        name=_names(runs),
        lines=(first, f"{several(done, 'completed child', 'completed children')} stay as they are."),
        yes=f"retry {several(failed, 'child', 'children')}" if failed else "retry the run",
        no="leave it",
    )

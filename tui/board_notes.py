"""The line under the board's header: why the run ended badly, or that what is shown is not the live truth. Pure."""

from __future__ import annotations

from poolboard.engine.views import Summary

from .line import Piece, Sides
from .units import age, count, duration, several


def banner(summary: Summary | None, trouble: str, age_s: float) -> Sides:
    """Return the warning, empty while all is well."""
    if trouble:
        shown = f"shown is what was read {age(age_s)}" if summary else "nothing was read yet"
        return Sides([Piece(f"cannot read: {trouble}", "bold $error", 9)], [Piece(shown, "$error", 5)])
    if summary is None:
        return Sides([])
    run = summary.run
    if run.status == "failed" and run.error:
        return Sides([Piece(f"failed: {run.error}", "bold $error", 9)])
    if run.status in ("stopped", "blocked") and run.resumable:
        why = f"the run is {run.status}{': ' + run.error if run.error else ''}"
        return Sides([Piece(why, "$warning", 9, elastic=True)], [Piece("p resumes it", "$warning", 8)])
    if summary.coordinator.alive:
        return _asking(summary)
    if run.status == "crashed":
        words = "the coordinator is gone: nothing moves"
        hint = "p resumes the run" if run.resumable else "the run cannot be resumed"
        return Sides(
            [Piece(words, "bold $error", 9), Piece(hint, "$error", 8)],
            [Piece(f"journal as of {age(age_s)}", "$error", 4)],
        )
    if run.status in ("running", "waiting", "awaiting_input", "pausing", "stopping"):
        return Sides([Piece("the coordinator does not answer; shown is the journal", "bold $warning", 9)])
    return Sides([])


def _asking(summary: Summary) -> Sides:
    """Return that the run waits for a person, if it does."""
    asked = summary.run.prompts
    if not asked:
        return Sides([])
    words = f"{several(asked, 'question waits', 'questions wait')} for an answer"
    return Sides([Piece(f"? {words}", "bold $state-asking", 9), Piece("a answers", "$state-asking", 8)])


def frozen_note(frozen_s: float, changes: int) -> Sides:
    """Return what a frozen display must not hide."""
    words = f"display frozen for {duration(float(int(frozen_s)))}".replace(".0s", "s")
    return Sides(
        [
            Piece(words, "bold $warning", 9),
            Piece(f"{count(changes)} changes", "$warning", 6),
            Piece("Z goes on", "$warning", 8),
        ]
    )

"""The demo's result as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from poolboard import words
from poolboard.demo import Ranked, Survey
from poolboard.tui.units import count, several

if TYPE_CHECKING:
    from poolboard.engine.views import RunView

#: How many failures are spelled out here; the run's result has more.
SHOWN_FAILURES = 20


def told(run: RunView) -> Iterator[str]:
    """Yield the survey of a completed demo, a line each; nothing for a run without a result."""
    if run.result is not None:
        yield from lines(TypeAdapter(Survey).validate_json(run.result))


def lines(survey: Survey) -> Iterator[str]:
    """Yield totals, the most complex functions, and the files that failed and why."""
    yield f"{several(survey.files, 'file')}: {count(survey.surveyed)} surveyed, {count(survey.failed)} failed"
    yield (
        f"{count(survey.size_bytes)} bytes, {several(survey.lines, 'line')}, {several(survey.functions, 'function')}, "
        f"{several(survey.classes, 'class', 'classes')}, {several(sum(survey.tokens.values()), 'token')}"
    )
    if survey.longest is not None:
        yield f"longest function: {several(survey.longest.function.lines, 'line')}, {_place(survey.longest)}"
    if survey.most_complex:
        yield "most complex functions (branch complexity):"
    for ranked in survey.most_complex:
        yield f"  {ranked.function.complexity:5}  {_place(ranked)}"
    if survey.failures:
        yield "files that failed:"
    for failure in survey.failures[:SHOWN_FAILURES]:
        yield f"  {words.shown(failure.path)}: {words.shown(failure.reason)}"
    if survey.failed > SHOWN_FAILURES:
        yield f"  … and {survey.failed - SHOWN_FAILURES} more (poolboard status RUN --json lists up to 500)"


def _place(ranked: Ranked) -> str:
    return f"{words.shown(ranked.function.name)} ({words.shown(ranked.path)}:{ranked.function.line})"

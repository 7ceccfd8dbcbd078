"""What runs ask a person: listing it, and answering."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from poolboard import exit_codes, inputs, shapes, words
from poolboard.ages import wall_ms
from poolboard.console import say, say_all
from poolboard.session import opened, person
from poolboard.tui.text import lines
from poolboard.tui.units import age

if TYPE_CHECKING:
    from poolboard.engine.views import PromptView

#: Lines of a question, and choices, that the plain list shows; ``--json`` gives them whole.
MOST_LINES, MOST_CHOICES = 6, 20


def prompts(journal: str | None, prefix: str | None, *, as_json: bool) -> int:
    """List the open questions of one run or of all; return the exit status."""
    return asyncio.run(_list(journal, prefix, as_json))


def answer(journal: str | None, prefix: str, prompt: int, text: str, *, as_json: bool) -> int:
    """Answer one question; return the exit status."""
    return asyncio.run(_answer(journal, prefix, prompt, inputs.as_text(text, "the answer"), as_json))


async def _list(journal: str | None, prefix: str | None, as_json: bool) -> int:
    async with opened(journal) as monitor:
        run_id = None if prefix is None else await monitor.resolve(prefix)
        found = await monitor.prompts(run_id)
    say_all([shapes.line([shapes.of_prompt(one) for one in found])] if as_json else listed(found, wall_ms()))
    return exit_codes.COMPLETED


async def _answer(journal: str | None, prefix: str, prompt: int, text: str, as_json: bool) -> int:
    async with opened(journal) as monitor:
        run_id = await monitor.resolve(prefix)
        given = await monitor.answer(run_id, prompt, text, person())
    say(shapes.line(shapes.of_acknowledgement(run_id, given)) if as_json else words.shown(given.message))
    return exit_codes.COMPLETED


def listed(found: Sequence[PromptView], now_ms: int) -> Iterator[str]:
    """Yield each question with its choices and how to answer it."""
    if not found:
        yield "nothing waits for an answer"
    for one in found:
        who = f"child {one.n}, {words.shown(one.label)}," if one.n else "the root"
        after = f" after stage {words.shown(one.stage)}" if one.stage else ""
        yield f"run {one.run_id[:8]}: {who} asks{after} since {age((now_ms - one.asked_at) / 1000)}"
        for line in lines(one.message, MOST_LINES):
            yield f"  {line}"
        for number, choice in enumerate(one.choices[:MOST_CHOICES], 1):
            yield f"    {number} {words.shown(choice)}"
        if len(one.choices) > MOST_CHOICES:
            yield f"    and {len(one.choices) - MOST_CHOICES} more"
        if one.default is not None:
            value = json.loads(one.default)
            told = {True: "yes", False: "no"}[value] if isinstance(value, bool) else words.shown(value)
            yield f"  default: {told}"
        how = {"confirm": "yes", "select": "1"}.get(one.kind, "TEXT")
        yield f"  to answer: poolboard answer {one.run_id[:8]} {one.id} {how}"

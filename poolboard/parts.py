"""Control of a part of a run from the command line, sizes of a live run, and which failures to try again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from poolboard import exit_codes, shapes, words
from poolboard.console import say
from poolboard.engine.errors import UserMistake
from poolboard.engine.monitor import Monitor
from poolboard.engine.ranges import numbers_in, parse
from poolboard.engine.views import Acknowledgement, ChildRow, Part
from poolboard.selection import Selection
from poolboard.session import opened, person
from poolboard.tui.fingerprint import group_id

Size = Literal["slots", "concurrency"]
Ask = Callable[[Monitor, str], Awaitable[Acknowledgement]]


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which failures to try again, all where nothing is given, and why."""

    child: str | None = None
    stage: str | None = None
    error: str | None = None
    why: str | None = None


def of(selection: Selection, child: str | None, stage: str | None = None, worker: int | None = None) -> Part:
    """Return the part of the selected runs that the options name, the whole for none; raises UserMistake."""
    if sum(given is not None for given in (child, stage, worker)) > 1:
        raise UserMistake("--child, --stage and --worker exclude each other: say the command once for each")
    if (child, worker) != (None, None) and (len(selection.prefixes) != 1 or selection.filters):
        raise UserMistake("--child and --worker count in one run: name it by its id")
    return Part(() if child is None else _children(child), stage, worker)


def _children(word: str) -> tuple[tuple[int, int], ...]:
    try:
        children = tuple(parse(word))
    except ValueError as error:
        raise UserMistake(f"--child: {error}") from None
    if any(first < 1 for first, _ in children):
        raise UserMistake("--child 0 is the run itself: leave --child out to act on the whole run")
    return children


def resize(journal: str | None, prefix: str, size: Size, count: int, *, why: str | None, as_json: bool) -> int:
    """Change a size of a live run and tell the answer."""

    async def ask(monitor: Monitor, run_id: str) -> Acknowledgement:
        change = monitor.set_slots if size == "slots" else monitor.set_concurrency
        return await change(run_id, count, person(), why)

    return asyncio.run(_told(journal, prefix, ask, as_json))


async def chosen_failures(monitor: Monitor, run_id: str, chosen: Chosen) -> list[int] | None:
    """Return the failed children that the options name, None if they name none; raises UserMistake if there is none."""
    child, stage, error = chosen.child, chosen.stage, chosen.error
    if child is None and stage is None and error is None:
        return None
    among = None if child is None else numbers_in(_children(child))
    found = [
        row.n
        for row in await _failed(monitor, run_id)
        if (among is None or row.n in among)
        and (stage is None or row.stage == stage)
        and (error is None or _is_about(row.error or "", error))
    ]
    if not found:
        raise UserMistake(f"run {run_id[:8]}: no failed child is among those that were chosen")
    return found


async def _failed(monitor: Monitor, run_id: str) -> list[ChildRow]:
    found: dict[int, ChildRow] = {}
    page = await monitor.children(run_id)
    while True:
        found.update((row.n, row) for row in page.rows)
        if not page.more:
            return sorted((row for row in found.values() if row.state == "failed"), key=lambda row: row.n)
        page = await monitor.children(run_id, page.cursor)


def _is_about(told: str, wanted: str) -> bool:
    """Say whether an error holds the words, or is of the group of that name."""
    return wanted.casefold() in told.casefold() or wanted == group_id(told)


async def _told(journal: str | None, prefix: str, ask: Ask, as_json: bool) -> int:
    async with opened(journal) as monitor:
        run_id = await monitor.resolve(prefix)
        given = await ask(monitor, run_id)
    say(shapes.line(shapes.of_acknowledgement(run_id, given)) if as_json else words.shown(given.message))
    return exit_codes.COMPLETED

"""What children share: telling of limits, and changing them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from poolboard import exit_codes, limit_words, shapes, words
from poolboard.console import say, say_all
from poolboard.session import opened, person
from poolboard.tui.units import duration

if TYPE_CHECKING:
    from poolboard.engine.views import LimitView, Summary


def limit(journal: str | None, prefix: str, changes: Sequence[str], *, as_json: bool) -> int:
    """Change limits of a run, or tell of them; return the exit status."""
    pairs = [limit_words.pair(change, "limit") for change in changes]
    return asyncio.run(_change(journal, prefix, pairs, as_json) if pairs else _tell(journal, prefix, as_json))


async def _change(journal: str | None, prefix: str, pairs: list[tuple[str, str]], as_json: bool) -> int:
    async with opened(journal) as monitor:
        run_id = await monitor.resolve(prefix)
        for name, value in pairs:
            given = await monitor.set_limit(run_id, name, value, person())
            say(shapes.line(shapes.of_acknowledgement(run_id, given)) if as_json else words.shown(given.message))
    return exit_codes.COMPLETED


async def _tell(journal: str | None, prefix: str, as_json: bool) -> int:
    async with opened(journal) as monitor:
        summary = await monitor.status(await monitor.resolve(prefix))
    if as_json:
        say(shapes.line({"run_id": summary.run.run_id, "limits": [shapes.of_limit(one) for one in summary.limits]}))
    else:
        say_all(limits(summary))
    return exit_codes.COMPLETED


def limits(summary: Summary) -> Iterator[str]:
    """Yield what each limit is doing, and why the first wait."""
    if not summary.limits:
        yield "this run has no limits" if summary.coordinator.alive else "no coordinator: nothing is shared out now"
    for one in summary.limits:
        yield f"{one.name} {_size(one)}{_waiting(one)}"
        for waiter in one.waiters:
            who = f"child {waiter.n}" if waiter.n else "the root"
            yield f"  {who} {words.shown(waiter.reason)} ({duration(waiter.since_s)} so far)"
        if one.waiting > len(one.waiters):
            yield f"  and {one.waiting - len(one.waiters)} more"


def _size(one: LimitView) -> str:
    shared = " shared by all runs" if one.shared else ""
    slow = f", to be left alone for {one.slow_s:.0f} s" if one.slow_s else ""
    if one.per_s is None:
        return f"{one.in_use} of {one.most} in use{shared}{slow}"
    left = "" if one.left is None else f", {one.left:g} of {one.most} to be had now"
    return f"{one.text}{shared}{left}{slow}"


def _waiting(one: LimitView) -> str:
    return f", {one.waiting} waiting" if one.waiting else ""

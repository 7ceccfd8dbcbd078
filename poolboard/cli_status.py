"""Questions: how runs stand, which there are; and how many workers a run is to have."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from poolboard import exit_codes, shapes
from poolboard.ages import wall_ms
from poolboard.console import can_draw, say, say_all
from poolboard.engine.errors import UserMistake
from poolboard.selection import Selection, chosen
from poolboard.session import opened, person

if TYPE_CHECKING:
    from poolboard.engine.monitor import Monitor
    from poolboard.engine.views import RunView, Summary

_HOME_AND_ERASE: Final = "\x1b[H\x1b[2J"


@dataclass(frozen=True, slots=True)
class Asking:
    """How ``status`` is to answer."""

    as_json: bool = False
    watch: bool = False
    exit_code: bool = False
    prometheus: bool = False


def status(journal: str | None, selection: Selection, asking: Asking) -> int:
    """Tell everything about the runs that are meant, or about the newest; return the exit status."""
    if asking.prometheus and (asking.watch or asking.as_json):
        raise UserMistake("--prometheus is a page of its own: no --watch or --json with it")
    return asyncio.run((_watch if asking.watch else _status)(journal, selection, asking))


def list_runs(journal: str | None, selection: Selection, *, as_json: bool) -> int:
    """Tell of root runs in the journal, all or those that the filters admit: live ones first, then newest first."""
    return asyncio.run(_list(journal, selection, as_json))


def workers(journal: str | None, prefix: str, count: int, *, as_json: bool) -> int:
    """Change how many workers a live run has."""
    return asyncio.run(_workers(journal, prefix, count, as_json))


async def _workers(journal: str | None, prefix: str, count: int, as_json: bool) -> int:
    async with opened(journal) as monitor:
        run_id = await monitor.resolve(prefix)
        given = await monitor.set_workers(run_id, count, person())
    from poolboard import words

    say(shapes.line(shapes.of_acknowledgement(run_id, given)) if as_json else words.shown(given.message))
    return exit_codes.COMPLETED


async def _status(journal: str | None, selection: Selection, asking: Asking) -> int:
    async with opened(journal) as monitor:
        summaries = [await monitor.status(run_id) for run_id in await _meant(monitor, selection)]
        statuses = [run.status for run in await monitor.runs()] if asking.prometheus else []
    if asking.prometheus:
        from poolboard import prometheus

        say(prometheus.page(summaries, statuses).removesuffix("\n"))
    for index, summary in enumerate(summaries):
        if asking.as_json:
            say(shapes.line(shapes.of_summary(summary)))
        elif not asking.prometheus:
            say_all(([""] if index else []) + _lines(summary))
    return _code(summaries) if asking.exit_code else exit_codes.COMPLETED


def _lines(summary: Summary) -> list[str]:
    from poolboard import words  # late: what is printed as JSON needs no words

    return list(words.status(summary))


async def _meant(monitor: Monitor, selection: Selection) -> list[str]:
    if selection.is_empty:
        return [await monitor.resolve(None)]
    return [run.run_id for run in await chosen(monitor, selection)]


def _code(summaries: list[Summary]) -> int:
    """Return how the runs stand as an exit status, of several that of the gravest."""
    codes = [exit_codes.of_status(summary.run.status) for summary in summaries]
    found = [exit_codes.GOES_ON if code is None else code for code in codes]
    return max(found, key=exit_codes.GRAVITY.index, default=exit_codes.COMPLETED)


async def _watch(journal: str | None, selection: Selection, asking: Asking) -> int:
    """Tell how one run stands, again whenever that changes, until it rests."""
    async with opened(journal) as monitor:
        ids = await _meant(monitor, selection)
        if len(ids) != 1:
            raise UserMistake("--watch is for one run; to see several: poolboard")
        left: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        before: Summary | None = None
        from poolboard.headless import ticks

        async with aclosing(ticks(monitor, ids[0], left)) as summaries:
            async for summary in summaries:
                if summary != before:
                    _tell_again(summary, asking, first=before is None)
                before = summary
                if exit_codes.of_status(summary.run.status) is not None:
                    return _code([summary]) if asking.exit_code else exit_codes.COMPLETED
    raise AssertionError("a run is told of until somebody leaves")


def _tell_again(summary: Summary, asking: Asking, *, first: bool) -> None:
    if asking.as_json:
        say(shapes.line(shapes.of_summary(summary)))
    elif can_draw(sys.stdout):
        say(_HOME_AND_ERASE + "\n".join(_lines(summary)))
    else:
        say_all(([] if first else [""]) + _lines(summary))


async def _list(journal: str | None, selection: Selection, as_json: bool) -> int:
    async with opened(journal) as monitor:
        found = await (monitor.runs() if selection.is_empty else chosen(monitor, selection))
    say_all(_listed(found, selection, as_json))
    return exit_codes.COMPLETED


def _listed(found: list[RunView], selection: Selection, as_json: bool) -> Iterator[str]:
    if as_json:
        yield shapes.line([shapes.of_run(run) for run in found])
    elif not found and not selection.is_empty:
        yield "no run is like that"
    else:
        from poolboard import words

        yield from words.runs(found, wall_ms())

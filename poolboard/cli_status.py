"""Questions and wishes: status, list, pause, stop."""

from __future__ import annotations

import asyncio
from typing import Literal

from poolboard import exit_codes, shapes, words
from poolboard.console import say, say_all
from poolboard.engine.monitor import Monitor
from poolboard.engine.views import Acknowledgement
from poolboard.session import opened, person

Wish = Literal["pause", "stop", "stop now", "cancel"]


def status(journal: str | None, prefix: str | None, *, as_json: bool) -> int:
    """Tell everything about one run, or about the newest."""
    return asyncio.run(_status(journal, prefix, as_json))


def list_runs(journal: str | None, *, as_json: bool) -> int:
    """Tell of every root run in the journal, newest first."""
    return asyncio.run(_list(journal, as_json))


def wish(journal: str | None, prefix: str, verb: Wish, *, why: str | None, as_json: bool) -> int:
    """Ask a run's coordinator for something and tell its answer."""
    return asyncio.run(_wish(journal, prefix, verb, why, as_json))


def workers(journal: str | None, prefix: str, count: int, *, as_json: bool) -> int:
    """Change how many workers a live run has."""
    return asyncio.run(_workers(journal, prefix, count, as_json))


async def _workers(journal: str | None, prefix: str, count: int, as_json: bool) -> int:
    async with opened(journal) as monitor:
        run_id = await monitor.resolve(prefix)
        given = await monitor.set_workers(run_id, count, person())
    say(shapes.line(shapes.of_acknowledgement(run_id, given)) if as_json else words.shown(given.message))
    return exit_codes.COMPLETED


async def _status(journal: str | None, prefix: str | None, as_json: bool) -> int:
    async with opened(journal) as monitor:
        summary = await monitor.status(await monitor.resolve(prefix))
    say_all([shapes.line(shapes.of_summary(summary))] if as_json else words.status(summary))
    return exit_codes.COMPLETED


async def _list(journal: str | None, as_json: bool) -> int:
    async with opened(journal) as monitor:
        found = await monitor.runs()
    say_all([shapes.line([shapes.of_run(run) for run in found])] if as_json else words.runs(found, words.wall_ms()))
    return exit_codes.COMPLETED


async def _wish(journal: str | None, prefix: str, verb: Wish, why: str | None, as_json: bool) -> int:
    async with opened(journal) as monitor:
        run_id = await monitor.resolve(prefix)
        given = await _acknowledged(monitor, run_id, verb, why)
    say(shapes.line(shapes.of_acknowledgement(run_id, given)) if as_json else words.shown(given.message))
    return exit_codes.COMPLETED


async def _acknowledged(monitor: Monitor, run_id: str, verb: Wish, why: str | None) -> Acknowledgement:
    if verb == "pause":
        return await monitor.pause(run_id, person(), why)
    if verb == "cancel":
        return await monitor.cancel(run_id, person(), why)
    return await monitor.stop(run_id, person(), why, now=verb == "stop now")

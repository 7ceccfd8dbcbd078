"""``poolboard wait``: until runs come to rest, and how they did."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

from poolboard import exit_codes, shapes, words
from poolboard.console import complain, say
from poolboard.engine.errors import UserMistake
from poolboard.engine.monitor import Monitor
from poolboard.headless import ticks
from poolboard.session import opened

if TYPE_CHECKING:
    from poolboard.engine.views import RunView


def wait(journal: str | None, prefixes: list[str], timeout_s: float | None, *, as_json: bool) -> int:
    """Return the exit status of the runs once all of them rest, GOES_ON if one does not in time; lines as they do."""
    if timeout_s is not None and not timeout_s >= 0:
        raise UserMistake("--timeout: write seconds, 0 or more")
    return asyncio.run(_wait(journal, prefixes, timeout_s, as_json))


async def _wait(journal: str | None, prefixes: list[str], timeout_s: float | None, as_json: bool) -> int:
    async with opened(journal) as monitor:
        ids = list(dict.fromkeys([await monitor.resolve(prefix) for prefix in prefixes]))
        codes: list[int] = []
        going: list[str] = []
        # What rests already is told at once, however short the time is.
        for run_id in ids:
            run = (await monitor.status(run_id)).run
            code = exit_codes.of_status(run.status)
            if code is None:
                going.append(run_id)
            else:
                _tell(run, as_json, several=len(ids) > 1)
                codes.append(code)
        if not going:
            return max(codes, key=exit_codes.GRAVITY.index)
        tasks = [asyncio.create_task(_rested(monitor, run_id, as_json, several=len(ids) > 1)) for run_id in going]
        done, late = await asyncio.wait(tasks, timeout=timeout_s)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
    codes += [task.result() for task in done]
    if late:
        codes.append(exit_codes.GOES_ON)
        waiting = [run_id for run_id, task in zip(going, tasks, strict=True) if task in late]
        complain(f"still going on: {', '.join(waiting)}")
    return max(codes, key=exit_codes.GRAVITY.index)


async def _rested(monitor: Monitor, run_id: str, as_json: bool, *, several: bool) -> int:
    left: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    async with aclosing(ticks(monitor, run_id, left)) as summaries:
        async for summary in summaries:
            code = exit_codes.of_status(summary.run.status)
            if code is not None:
                _tell(summary.run, as_json, several=several)
                return code
    raise AssertionError("a run is told of until somebody leaves")


def _tell(run: RunView, as_json: bool, *, several: bool) -> None:
    if as_json:
        say(shapes.line(shapes.of_end(run)))
    else:
        head = f"{run.run_id}  " if several else ""
        say(*(head + text for text in words.ended(run)))

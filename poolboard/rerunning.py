"""``run --watch``: a fresh run whenever the workflow's file is saved.

Nothing is reused from the run before. What a stage returns may hang on any line of the file and on all that it imports,
so that a completed child of the old program says nothing sure about the new one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from watchfiles import awatch

from poolboard import bar, exit_codes, words
from poolboard.console import complain
from poolboard.engine.errors import UserMistake
from poolboard.engine.launch import RunRequest, start_run, workflow_file
from poolboard.headless import Manner, follow
from poolboard.session import opened, person
from poolboard.showing import Showing

SAVED: Final = "its file was saved"
#: How a follower ends that was taken away.
LEFT: Final = (exit_codes.INTERRUPTED, exit_codes.TERMINATED, exit_codes.HANGUP)


def rerun(request: RunRequest, *, detach: bool, as_json: bool, showing: Showing) -> int:
    """Run the workflow, again after each time its file is saved, until a signal; return the exit status."""
    if detach:
        raise UserMistake("--watch and --detach exclude each other: stay, or leave the run alone")
    showing = showing.settled(screen=False)
    quiet, notify = bool(showing.quiet), bool(showing.notify)
    drawn = None if as_json or quiet else bar.for_terminal()
    return asyncio.run(_rerun(request, Manner(as_json=as_json, bar=drawn, progress=not quiet, notify=notify)))


async def _rerun(request: RunRequest, manner: Manner) -> int:
    path = workflow_file(request.target)
    saves = _saves(path)
    saved = asyncio.ensure_future(anext(saves))
    first = True
    try:
        while True:
            code = await _one_run(request, manner, saved, first)
            first = False
            if code in LEFT:
                return code
            if not saved.done():
                complain(f"waiting for {words.shown(path.name)} to be saved; ^C ends this")
            await saved
            saved = asyncio.ensure_future(anext(saves))
            complain(f"{words.shown(path.name)} was saved: a fresh run, nothing is reused")
    finally:
        saved.cancel()
        with suppress(asyncio.CancelledError, StopAsyncIteration):
            await saved


async def _one_run(request: RunRequest, manner: Manner, saved: asyncio.Future[None], first: bool) -> int:
    """Follow one run to its end, or cancel it once the file is saved."""
    try:
        run_id = await start_run(request)
    except UserMistake as mistake:
        # The first run is refused like any other; later the file may be half of a thought.
        if first:
            raise
        complain(f"poolboard: {words.shown(str(mistake))}")
        return exit_codes.MISTAKE
    following = asyncio.create_task(follow(request.journal, run_id, manner))
    either: set[asyncio.Future[Any]] = {following, saved}
    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    if not following.done():
        async with opened(request.journal) as monitor:
            # It may have ended by itself meanwhile.
            with suppress(UserMistake):
                await monitor.cancel(run_id, person(), SAVED)
    return await following


async def _saves(path: Path) -> AsyncGenerator[None]:
    """Yield whenever the file's bytes have become other ones. Editors put a new file in its place: so its folder."""
    before = _bytes_of(path)
    async for _ in awatch(path.parent, watch_filter=lambda _, changed: Path(changed) == path, recursive=False):
        now = _bytes_of(path)
        if now is not None and now != before:
            before = now
            yield


def _bytes_of(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None

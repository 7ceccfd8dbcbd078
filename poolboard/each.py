"""The workflows of ``poolboard each``: a root run that reads a list as it grows, and a child run per item.

An ordinary workflow file, loaded by its path in workers, so it imports nothing relatively. What the commands are and
what becomes of their output is decided by the command line, in ``each_run``.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from poolboard import Context, Result, StageError, spool, stage, workflow
from poolboard.each_job import LIST_FILE, Job, result_folder
from poolboard.engine import secrets
from poolboard.engine.errors import Blocked
from poolboard.halting import Halting
from poolboard.item_files import newest, output_path
from poolboard.job_slots import job_slot
from poolboard.joblog import shown
from poolboard.spool import Page
from poolboard.templates import SLOT_VARIABLE, Command

#: Commands in a page of the list; fewer where so many are open at once that their number would be large.
PAGE_ITEMS, FEWEST_ITEMS, OPEN_ITEMS = 500, 50, 20_000
#: How long a page may still grow before it is taken as it is. The first one never waits.
LINGER_S: Final = 0.25
POLL_S: Final = 0.05
#: How long to wait for a list that is not there yet: the command line makes it once the run has started.
APPEARS_S: Final = 30.0


class _Sentence(Exception):
    """An end that is told by its message: where in our own code it was raised is of no use to anybody."""

    @property
    def account(self) -> str:
        return f"{self}\n"


class ItemsFailed(_Sentence):
    """More items failed than were allowed."""


class Halted(_Sentence):
    """So many items failed that the rest was not started."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How many items there were, and how many of them failed."""

    items: int
    failed: int


@stage
def take_page(path: str, at: int, limit: int, taken: int) -> Page:
    """Return the page of the list that begins at a byte; ``taken`` commands came before it."""
    page = spool.settle(Path(path), at, limit)
    spool.note_taken(Path(path), taken + page.count)
    return page


@workflow
async def item(ctx: Context, command: str | list[str]) -> int:
    """Run one command; its output goes to a file beside its log, its complaints to the log itself."""
    job, folder = _job(ctx), _folder(ctx)
    missing = [name for name in job.env or () if name not in os.environ]
    if missing:
        raise Blocked(
            f"{missing[0]} is not in the environment, and its value is not recorded: "
            f"poolboard each --resume {ctx.run_id[:8]} --env {missing[0]}=…"
        )
    for name in job.env or ():
        secrets.remember(name, os.environ[name])
    output = output_path(folder, ctx.n, ctx.attempt)
    halting = Halting(folder) if job.halt else None
    try:
        async with _place(job, folder, halting) as environment:
            done = await ctx.command(
                "command",
                command,
                env=environment,
                stdout=output,
                timeout_s=job.timeout_s,
                retries=job.retries,
                needs=job.needs,
            )
    except StageError:
        if halting is not None and job.halt is not None:
            halting.fail(ctx.n)
            # The root will see it too, but by then the next command would have started.
            if job.halt.is_due(halting.failed(), None):
                halting.order()
        raise
    finally:
        if (results := result_folder(job, ctx.n)) is not None:
            await asyncio.to_thread(_copy, folder, ctx.n, results)
    return done.exit_code


@workflow
async def each(ctx: Context, job: Job) -> Tally:
    """Run a command for every item of the list; raises ItemsFailed, Halted."""
    return await _Root(ctx, job).run()


class _Root:
    """One attempt of the root run. Its calls come in the same order every time: a page, its map, the next page."""

    def __init__(self, ctx: Context, job: Job) -> None:
        self._ctx, self._job = ctx, job
        self._list = _folder(ctx) / LIST_FILE
        self._halting = Halting(_folder(ctx))
        # One page more than can have a long command each, so that a few long ones never hold up the others.
        self._most_open = 2 * job.jobs + 2
        self._page_items = max(FEWEST_ITEMS, min(PAGE_ITEMS, OPEN_ITEMS // self._most_open))
        self._open: set[asyncio.Task[list[Result[int]]]] = set()
        self._at = self._items = self._failed = 0
        self._whole = False
        self._grows_since: float | None = None

    async def run(self) -> Tally:
        try:
            while not self._whole or self._open:
                if not self._whole and len(self._open) < self._most_open and await self._page_is_ready():
                    await self._take_page()
                    continue
                await self._settle_some()
                await self._halt_if_due()
        finally:
            for task in self._open:
                task.cancel()
            await asyncio.gather(*self._open, return_exceptions=True)
        if self._failed > self._job.allow_failures:
            raise ItemsFailed(f"{self._failed} of {self._items} items failed")
        return Tally(self._items, self._failed)

    async def _page_is_ready(self) -> bool:
        loop = asyncio.get_running_loop()
        is_written = spool.is_written(self._list)
        page = await self._look(is_written)
        if page.last or page.count >= self._page_items:
            return True
        if not is_written:
            if page.count == 0 and not self._open:
                raise Blocked(
                    f"the list of items was cut off after {self._items}: give it again, whole: "
                    f"poolboard each --resume {self._ctx.run_id[:8]}"
                )
            return page.count > 0
        if page.count == 0:
            self._grows_since = None
            return False
        self._grows_since = self._grows_since or loop.time()
        return self._at == 0 or loop.time() - self._grows_since >= LINGER_S

    async def _look(self, is_written: bool) -> Page:
        """Return what is there of the next page; raises Blocked for a list that does not appear, or has shrunk."""
        for _ in range(int(APPEARS_S / POLL_S) if self._at == 0 and not is_written else 1):
            with suppress(FileNotFoundError):
                return spool.look(self._list, self._at, self._page_items)
            await asyncio.sleep(POLL_S)
        raise Blocked(f"there is no list of items in {self._list}")

    async def _take_page(self) -> None:
        page = await self._ctx.stage(take_page, str(self._list), self._at, self._page_items, self._items)
        try:
            commands = spool.commands(self._list, self._at, page)
        except (OSError, ValueError) as error:
            raise Blocked(str(error)) from None
        self._at, self._items, self._whole = page.end, self._items + page.count, page.last
        self._grows_since = None
        if commands:
            self._open.add(asyncio.create_task(self._map(commands)))
            # The map's place among the calls must not depend on when the loop comes to it.
            await asyncio.sleep(0)

    async def _map(self, commands: list[Command]) -> list[Result[int]]:
        return await self._ctx.map(item, commands, concurrency=self._job.jobs, label=shown, on_error="collect")

    async def _settle_some(self) -> None:
        idle_s = None if self._whole and self._job.halt is None else POLL_S
        if not self._open:
            await asyncio.sleep(POLL_S)
            return
        done, _ = await asyncio.wait(self._open, timeout=idle_s, return_when=asyncio.FIRST_COMPLETED)
        self._open -= done
        for task in done:
            self._failed += sum(not result.ok for result in task.result())

    async def _halt_if_due(self) -> None:
        halt = self._job.halt
        if halt is None:
            return
        failed = max(self._failed, self._halting.failed())
        if not halt.is_due(failed, self._items if self._whole else None):
            return
        if halt.when == "soon":
            self._halting.order()
            while not self._halting.quiet():
                await asyncio.sleep(POLL_S)
        failed = max(failed, self._halting.failed())
        self._halting.forget()
        raise Halted(f"{failed} of {self._items} items failed (--halt {halt}); the rest was not run")


@asynccontextmanager
async def _place(job: Job, folder: Path, halting: Halting | None) -> AsyncIterator[dict[str, str]]:
    """Hold what a command needs before it may run; gives what is added to its environment."""
    if halting is not None:
        async with halting.running(), _numbered(job, folder) as environment:
            yield environment
    else:
        async with _numbered(job, folder) as environment:
            yield environment


@asynccontextmanager
async def _numbered(job: Job, folder: Path) -> AsyncIterator[dict[str, str]]:
    if not job.uses_slot:
        yield {}
        return
    async with job_slot(folder / "places", job.jobs) as number:
        yield {SLOT_VARIABLE: str(number)}


def _copy(folder: Path, n: int, results: Path) -> None:
    results.mkdir(parents=True, exist_ok=True)
    for kind, name in (("stdout", "stdout"), ("command", "stderr")):
        found = newest(folder, n, kind)
        if found is not None:
            shutil.copyfile(found, results / name)


# Where a run keeps its files and what its root was given are not for workflows in general; these two are ours.


def _folder(ctx: Context) -> Path:
    return ctx.folder


def _job(ctx: Context) -> Job:
    return Job.of_json(ctx.root_inputs["job"])

"""A run of ``each`` from the command line: started, taken up again or retried, fed with its list, and told of."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from poolboard import cli_run, each_source, exit_codes, shapes, spool, words
from poolboard.console import complain, say
from poolboard.each_job import LIST_FILE, Job, workers_and_slots
from poolboard.each_source import Source
from poolboard.engine.coordinator_process import Begun
from poolboard.engine.errors import UserMistake
from poolboard.engine.folder import RunFolder
from poolboard.feeder import Feeder, same_list
from poolboard.headless import Manner, follow
from poolboard.item_teller import ItemTeller, Telling
from poolboard.joblog import Joblog, shown
from poolboard.session import opened, person
from poolboard.showing import Showing

if TYPE_CHECKING:
    from poolboard.engine.monitor import Monitor
    from poolboard.engine.views import RunView, Summary

#: Characters of a command in a run's name.
NAME_LIMIT: Final = 60
#: The job log is brought up to date at least so often behind a screen; ended items wake it sooner.
LOG_EVERY_S: Final = 0.5
Again = Literal["resume", "retry"]


@dataclass(frozen=True, slots=True)
class Manners:
    """How the command line is to behave beside the run."""

    journal: str | None = None
    workers: int | None = None
    name: str | None = None
    headless: bool = False
    detach: bool = False
    as_json: bool = False
    showing: Showing = cli_run.AS_SET
    in_order: bool = False
    joblog: Path | None = None
    cwd: str | None = None
    budget: dict[str, float] = field(default_factory=dict)
    hooks: dict[str, str] = field(default_factory=dict)

    @property
    def quiet(self) -> bool:
        """Whether nothing is to be said of progress."""
        return bool(self.showing.quiet)


def dry_run(job: Job, source: Source, manners: Manners) -> int:
    """Print the commands and run nothing."""
    batches, columns = source.opened(job.max_args)
    template = replace(job, columns=columns).parsed()
    number = 0
    for batch in batches:
        for item in batch:
            number += 1
            text = shown(template.render(item, number))
            say(shapes.line({"type": "command", "n": number, "command": text}) if manners.as_json else text)
    return exit_codes.COMPLETED


def start(job: Job, source: Source, manners: Manners) -> int:
    """Start a run and attend it; return the exit status. Without any item nothing is started."""
    batches, columns = source.opened(job.max_args)
    job = replace(job, columns=columns)
    template = job.parsed()
    job = replace(job, uses_slot=template.uses_slot)
    wanted = each_source.begun(batches, template)
    if wanted is None:
        complain("poolboard: no items, nothing to do")
        return exit_codes.COMPLETED
    log = None if manners.joblog is None else Joblog(manners.joblog, go_on=False)
    workers, slots = workers_and_slots(job.jobs, manners.workers or os.cpu_count() or 1)
    # What loads longest goes first, and beside what is loaded here.
    begun = Begun.now(manners.journal, workers)
    from poolboard import each
    from poolboard.engine.launch import RunRequest, start_run

    name = manners.name or words.shown(job.title)[:NAME_LIMIT]
    inputs = {"job": asdict(job)}
    target, limits, budget = f"{each.__file__}:each", job.limits or {}, manners.budget
    request = RunRequest(
        target,
        inputs,
        manners.journal,
        workers,
        slots,
        name,
        limits=limits,
        budget=budget,
        cwd=manners.cwd,
        hooks=manners.hooks,
    )
    run_id = asyncio.run(start_run(request, begun))
    feeder = Feeder(template, wanted, _folder(run_id) / LIST_FILE)
    feeder.start()
    return _Attendance(run_id, manners, feeder, log).attend()


def again(verb: Again, prefix: str, command: list[str], source: Source, manners: Manners) -> int:
    """Go on with a run, or try its failed items again, and attend it; return the exit status."""
    run, job = asyncio.run(_recorded(manners.journal, prefix))
    if command and command != job.template:
        raise UserMistake(f"run {run.run_id[:8]} was started with another command: {' '.join(job.template)}")
    missing = [name for name in job.env or () if name not in os.environ]
    if missing:
        raise UserMistake(f"run {run.run_id[:8]} needs {missing[0]}; its value is not recorded: --env {missing[0]}=…")
    if verb == "resume" and run.ended_at is not None:
        asyncio.run(_tell_rest(run, manners))
        complain(f"run {run.run_id} has ended: it is {run.status}")
        if run.children.failed:
            complain(f"to try what failed again: poolboard each --retry-failed {run.run_id}")
        return exit_codes.of_status(run.status) or exit_codes.COMPLETED
    feeder = _feeder_again(job, source, _folder(run.run_id) / LIST_FILE)
    log = None if manners.joblog is None else Joblog(manners.joblog, go_on=True)
    attendance = _Attendance(run.run_id, manners, feeder, log)
    asyncio.run(attendance.take_up(verb))
    return attendance.attend()


async def _tell_rest(run: RunView, manners: Manners) -> None:
    """Tell of the items of an ended run that nobody was told of."""
    log = None if manners.joblog is None else Joblog(manners.joblog, go_on=True)
    folder = _folder(run.run_id)
    telling = Telling(manners.in_order, manners.as_json)
    teller = ItemTeller(run.run_id, folder, spool.Index(folder / LIST_FILE), telling, log)
    async with opened(manners.journal) as monitor:
        await teller.take_up(monitor, failed_too=True)
    teller.rest()


def _feeder_again(job: Job, source: Source, path: Path) -> Feeder | None:
    """Return who reads the rest of a list that was cut off; None for a whole one. Raises UserMistake."""
    if spool.is_whole(path):
        if source.is_explicit and (differs := same_list(job.parsed(), source.opened(job.max_args)[0], path)):
            raise UserMistake(differs)
        return None
    batches, columns = source.opened(job.max_args)
    if columns != job.columns:
        raise UserMistake("the list has other columns than when the run started")
    return Feeder(job.parsed(), batches, path)


async def _recorded(journal: str | None, prefix: str) -> tuple[RunView, Job]:
    """Return a run and what it was asked to do; raises UserMistake for one that ``each`` did not start."""
    async with opened(journal) as monitor:
        run = (await monitor.status(await monitor.resolve(prefix))).run
        root = await monitor.child(run.run_id, 0)
    if root.row.workflow == "each":
        with suppress(ValueError, KeyError, TypeError):
            return run, Job.of_json(json.loads(root.input)["job"])
    raise UserMistake(f"run {run.run_id[:8]} ({words.shown(run.name)}) was not started by poolboard each")


def _folder(run_id: str) -> Path:
    return RunFolder.of(run_id).path


class _Attendance:
    """What the command line does while a run goes on: feed it, tell of it, or show it."""

    def __init__(self, run_id: str, manners: Manners, feeder: Feeder | None, log: Joblog | None) -> None:
        self._run_id, self._manners, self._feeder, self._log = run_id, manners, feeder, log
        self._screen = not (manners.headless or manners.as_json or manners.detach) and _terminal_for_screen()
        folder = _folder(run_id)
        telling = Telling(manners.in_order, manners.as_json, outputs=not self._screen)
        self._teller = ItemTeller(run_id, folder, spool.Index(folder / LIST_FILE), telling, log)
        self._complained = False
        self._left_screen = threading.Event()

    async def take_up(self, verb: Again) -> None:
        """Let the run go on; of what ended before, only what nobody was told of is told."""
        async with opened(self._manners.journal) as monitor:
            await self._teller.take_up(monitor, failed_too=verb == "resume")
            if self._feeder is not None:
                self._feeder.start()
            if verb == "retry":
                await monitor.retry(self._run_id)
            else:
                await monitor.resume(self._run_id, person(), None)

    def attend(self) -> int:
        """Stay until the run ends, or the person leaves; return the exit status."""
        if self._manners.detach:
            return self._detach()
        return self._show() if self._screen else self._follow()

    def _detach(self) -> int:
        say(shapes.line({"run_id": self._run_id}) if self._manners.as_json else self._run_id)
        self._read_on("")
        return exit_codes.MISTAKE if self._complained else exit_codes.COMPLETED

    def _follow(self) -> int:
        manners = self._manners
        # Progress is for a person; what the commands say is the output.
        to_person = (lambda text: None) if manners.quiet else complain
        manner = Manner(
            as_json=manners.as_json,
            progress=not manners.quiet,
            tell_result=self._hints,
            say=to_person,
            watch=self._watch,
            left=self._left,
            notify=bool(manners.showing.notify),
            resume="poolboard each --resume",
        )
        try:
            return asyncio.run(follow(manners.journal, self._run_id, manner))
        except BrokenPipeError:
            self._left(self._run_id)
            raise

    def _show(self) -> int:
        logger = threading.Thread(target=lambda: asyncio.run(self._log_on()), name="joblog", daemon=True)
        if self._log is not None:
            logger.start()
        code = cli_run.on_screen(self._manners.journal, self._run_id, showing=self._manners.showing)
        self._read_on("still reading the list; ^C cuts it off")
        self._left_screen.set()
        if self._log is not None:
            logger.join()
        return code

    async def _log_on(self) -> None:
        """Keep the job log while the screen is what the person sees."""
        async with opened(self._manners.journal) as monitor:
            last = False
            while not last:
                last = self._left_screen.is_set()
                await self._teller.take(monitor, await monitor.status(self._run_id))
                await monitor.wait_for_change(LOG_EVERY_S)

    async def _watch(self, monitor: Monitor, summary: Summary) -> None:
        self._complain_once()
        await self._teller.take(monitor, summary)

    def _read_on(self, told: str) -> None:
        if self._feeder is not None:
            if told and self._feeder.is_reading:
                complain(told)
            self._feeder.wait()
            self._complain_once()

    def _complain_once(self) -> None:
        if self._feeder is not None and self._feeder.error is not None and not self._complained:
            self._complained = True
            complain(f"poolboard: the list is cut off: {words.shown(self._feeder.error)}")

    def _left(self, run_id: str) -> None:
        if self._manners.quiet:
            return
        if self._feeder is not None and self._feeder.is_reading:
            complain(f"the list was not read to its end; to give it again, whole: poolboard each --resume {run_id}")
        complain(words.left(run_id))

    def _hints(self, run: RunView) -> Iterator[str]:
        if run.status == "failed" and run.children.failed:
            yield f"to try what failed again: poolboard each --retry-failed {run.run_id}"


def _terminal_for_screen() -> bool:
    """Whether a screen can open. The items may come through stdin: then the terminal takes its place."""
    if sys.stdout is None or not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        return False
    if sys.stdin is not None and sys.stdin.isatty():
        return True
    try:
        terminal = os.open("/dev/tty", os.O_RDWR)
    except OSError:
        return False
    os.dup2(terminal, each_source.STDIN)
    os.close(terminal)
    return sys.stdin is not None and sys.stdin.isatty()

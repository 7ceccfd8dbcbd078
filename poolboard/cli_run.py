"""Starting a run, or coming back to one: with the screen where there is a terminal, else with lines."""

from __future__ import annotations

import asyncio
import sysconfig
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from poolboard import bar, exit_codes, inputs, shapes, words
from poolboard.console import complain, has_terminal, say
from poolboard.showing import Showing

if TYPE_CHECKING:
    from poolboard.engine.launch import RunRequest
    from poolboard.engine.views import RunView
    from poolboard.headless import Manner
    from poolboard.parts import Chosen


#: As the settings say.
AS_SET: Final = Showing()


def run(request: RunRequest, *, headless: bool, detach: bool, as_json: bool, showing: Showing = AS_SET) -> int:
    """Start a run and attend it, or leave it alone with ``detach``; return the exit status."""
    from poolboard.engine.errors import UserMistake
    from poolboard.engine.launch import start_run
    from poolboard.headless import Manner

    if detach and headless:
        raise UserMistake("--detach and --headless exclude each other: leave the run alone, or follow it")
    showing = settled(showing, headless=headless or detach or as_json)
    run_id = asyncio.run(start_run(request))
    if detach:
        return _told_id(run_id, as_json)
    drawn = bar.for_terminal() if headless and not as_json and not showing.quiet else None
    return attend(request.journal, run_id, Manner(as_json=as_json, bar=drawn), headless=headless, showing=showing)


def demo(
    folder: str | None,
    *,
    workers: int | None,
    limit: int | None,
    journal: str | None,
    headless: bool,
    as_json: bool,
    showing: Showing = AS_SET,
) -> int:
    """Survey a folder of Python files (default: the standard library) and return the exit status."""
    from poolboard import demo as main_job
    from poolboard import survey_report
    from poolboard.engine.launch import RunRequest, start_run
    from poolboard.headless import Manner

    chosen = inputs.as_text(folder or sysconfig.get_path("stdlib"), "--folder")
    main_job.check_folder(chosen)
    request = RunRequest(
        target=f"{main_job.__file__}:survey",
        inputs={"folder": str(Path(chosen).resolve()), "limit": limit},
        journal=journal,
        workers=workers,
    )
    showing = settled(showing, headless=headless or as_json)
    run_id = asyncio.run(start_run(request))
    manner = Manner(every_s=2.0, as_json=as_json, tell_result=survey_report.told)
    return attend(journal, run_id, manner, headless=headless, showing=showing)


def resume(
    journal: str | None,
    prefix: str,
    *,
    why: str | None,
    accept_code: bool,
    budget: dict[str, float],
    detach: bool,
    as_json: bool,
    showing: Showing = AS_SET,
) -> int:
    """Let a paused, stopped or crashed run go on and attend it; return the exit status."""
    from poolboard.headless import Manner

    showing = settled(showing, headless=detach or as_json)
    run_id = asyncio.run(_resumed(journal, prefix, why, accept_code, budget, told=detach, as_json=as_json))
    if detach:
        return exit_codes.COMPLETED
    return attend(journal, run_id, Manner(as_json=as_json), headless=False, showing=showing)


def retry(
    journal: str | None,
    prefix: str,
    chosen: Chosen,
    *,
    accept_code: bool,
    detach: bool,
    as_json: bool,
    showing: Showing = AS_SET,
) -> int:
    """Try again what failed in a run and attend it; return the exit status."""
    from poolboard.headless import Manner

    showing = settled(showing, headless=detach or as_json)
    run_id = asyncio.run(_retried(journal, prefix, chosen, accept_code, told=detach, as_json=as_json))
    if detach:
        return exit_codes.COMPLETED
    return attend(journal, run_id, Manner(as_json=as_json), headless=False, showing=showing)


def watch(journal: str | None, prefix: str | None, *, as_json: bool, showing: Showing = AS_SET) -> int:
    """Come back to a run, or to the newest one; return the exit status."""
    from poolboard.headless import Manner

    showing = settled(showing, headless=as_json)
    run_id = asyncio.run(_resolved(journal, prefix))
    return attend(journal, run_id, Manner(as_json=as_json, restart=False), headless=False, showing=showing)


def runs_screen(journal: str | None, showing: Showing = AS_SET) -> int:
    """Open the screen of all runs, or list them where there is no terminal."""
    if not has_terminal():
        from poolboard.cli_status import list_runs
        from poolboard.selection import Selection

        return list_runs(journal, Selection(), as_json=False)
    return _screen_code(_dashboard(journal, None, settled(showing, headless=False)))


def settled(showing: Showing, *, headless: bool) -> Showing:
    """Return how a run is to be shown, before anything is started. Raises UserMistake."""
    return showing.settled(screen=not headless and has_terminal())


def attend(journal: str | None, run_id: str, manner: Manner, *, headless: bool, showing: Showing) -> int:
    """Show a run until it ends or the person leaves; return the exit status."""
    if headless or manner.as_json or not has_terminal():
        from poolboard.headless import follow

        quiet, notify = bool(showing.quiet), bool(showing.notify)
        return asyncio.run(follow(journal, run_id, replace(manner, progress=not quiet, notify=notify)))
    return on_screen(journal, run_id, manner.tell_result, showing)


def on_screen(
    journal: str | None,
    run_id: str,
    tell_result: Callable[[RunView], Iterable[str]] = lambda run: (),
    showing: Showing = AS_SET,
) -> int:
    """Show a run on the screen until the person leaves, then tell its result; return the exit status."""
    code = _dashboard(journal, run_id, showing)
    return _screen_code(code) or asyncio.run(_parted(journal, run_id, tell_result))


def _dashboard(journal: str | None, run_id: str | None, showing: Showing) -> int:
    from poolboard.tui.app import run_dashboard

    return run_dashboard(
        journal,
        run_id,
        bool(showing.read_only),
        theme=showing.theme,
        ascii=showing.ascii,
        notify=bool(showing.notify),
    )


async def _parted(journal: str | None, run_id: str, tell_result: Callable[[RunView], Iterable[str]]) -> int:
    """Say how to come back after the screen closed; a run that goes on is no failure."""
    from poolboard.session import opened

    async with opened(journal) as monitor:
        run = (await monitor.status(run_id)).run
    code = exit_codes.of_status(run.status)
    if code is None:
        complain(words.left(run_id))
        return exit_codes.COMPLETED
    for text in words.ended(run):
        complain(text)
    for text in tell_result(run):
        say(text)
    return code


async def _resumed(
    journal: str | None,
    prefix: str,
    why: str | None,
    accept_code: bool,
    budget: dict[str, float],
    *,
    told: bool,
    as_json: bool,
) -> str:
    from poolboard.session import opened, person

    async with opened(journal) as monitor:
        run_id = await monitor.resolve(prefix)
        given = await monitor.resume(run_id, person(), why, accept_code=accept_code, budget=budget)
    if told:
        say(shapes.line(shapes.of_acknowledgement(run_id, given)) if as_json else words.shown(given.message))
    return run_id


async def _retried(
    journal: str | None, prefix: str, chosen: Chosen, accept_code: bool, *, told: bool, as_json: bool
) -> str:
    from poolboard.parts import chosen_failures
    from poolboard.session import opened, person

    async with opened(journal) as monitor:
        run_id = await monitor.resolve(prefix)
        only = await chosen_failures(monitor, run_id, chosen)
        given = await monitor.retry(run_id, person(), chosen.why, only=only, accept_code=accept_code)
    if told:
        say(shapes.line(shapes.of_acknowledgement(run_id, given)) if as_json else words.shown(given.message))
    return run_id


async def _resolved(journal: str | None, prefix: str | None) -> str:
    from poolboard.session import opened

    async with opened(journal) as monitor:
        return await monitor.resolve(prefix)


def _screen_code(code: int) -> int:
    """Tell a fault of the screen, which is 1 there, from a failed run, which is 1 here."""
    return exit_codes.FAULT if code == 1 else code


def _told_id(run_id: str, as_json: bool) -> int:
    say(shapes.line(shapes.of_start(run_id)) if as_json else run_id)
    return exit_codes.COMPLETED

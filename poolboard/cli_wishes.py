"""``poolboard pause``, ``resume``, ``stop``, ``cancel``, ``retry``, ``delete``, ``workers``: words and options."""

from __future__ import annotations

from typing import Annotated

import typer

from poolboard import cli_budget
from poolboard.cli_options import (
    AcceptCode,
    Deed,
    Detach,
    Failed,
    Journal,
    Json,
    Name,
    Notify,
    OlderThan,
    Quiet,
    Run,
    Runs,
    Why,
    Yes,
)
from poolboard.cli_parts import Child, Stage, Worker


def pause(
    runs: Runs = None,
    older_than: OlderThan = None,
    name: Name = None,
    child: Child = None,
    stage: Stage = None,
    worker: Worker = None,
    why: Why = None,
    yes: Yes = False,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Start nothing new; what is active parks at its next stage boundary, without a slot. Or a part of the runs only.

    \b
    poolboard pause 3f2a --stage fetch --why 'the server is down'
    poolboard pause 3f2a --child 7,12-19
    poolboard pause --name 'train*' --yes
    """

    def act() -> int:
        from poolboard import parts, wishes
        from poolboard.selection import Selection

        selection = Selection.of(runs, False, older_than, name)
        wish = wishes.pause(why, parts.of(selection, child, stage, worker))
        return wishes.fulfil(journal, selection, wish, yes=yes, as_json=as_json)

    return act


def resume(
    runs: Runs = None,
    older_than: OlderThan = None,
    name: Name = None,
    child: Child = None,
    stage: Stage = None,
    worker: Worker = None,
    max_duration: cli_budget.MaxDuration = None,
    max_failures: cli_budget.MaxFailures = None,
    max_usage: cli_budget.MaxUsage = None,
    why: Why = None,
    accept_code: AcceptCode = False,
    yes: Yes = False,
    detach: Detach = False,
    notify: Notify = None,
    quiet: Quiet = None,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Let paused, stopped, blocked or crashed runs go on, or a paused part of live ones; one run is followed.

    A limit that is given is the run's from now on, or each --child's with all below it; 0 lifts it.

    Example: poolboard resume 3f2a --max-failures 50
    """

    def act() -> int:
        from poolboard import budget_words, cli_run, parts, wishes
        from poolboard.engine.errors import UserMistake
        from poolboard.engine.views import WHOLE
        from poolboard.selection import Selection
        from poolboard.showing import Showing

        selection = Selection.of(runs, False, older_than, name)
        part = parts.of(selection, child, stage, worker)
        budget = budget_words.table(max_duration, max_failures, max_usage or [])
        if (part != WHOLE and accept_code) or (budget and (stage is not None or worker is not None)):
            raise UserMistake("a budget is of the run or of a --child, --accept-code of the whole run")
        if part == WHOLE and len(selection.prefixes) == 1 and not selection.filters:
            return cli_run.resume(
                journal,
                selection.prefixes[0],
                why=why,
                accept_code=accept_code,
                budget=budget,
                detach=detach,
                as_json=as_json,
                showing=Showing(notify=notify, quiet=quiet),
            )
        wish = wishes.resume(why, accept_code=accept_code, budget=budget, part=part)
        return wishes.fulfil(journal, selection, wish, yes=yes, as_json=as_json)

    return act


def stop(
    runs: Runs = None,
    older_than: OlderThan = None,
    name: Name = None,
    child: Child = None,
    stage: Stage = None,
    worker: Worker = None,
    now: Annotated[bool, typer.Option("--now", help="Give running stages no time to end.")] = False,
    why: Why = None,
    yes: Yes = False,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Start no new stage, end the running ones, keep everything recorded; the run stays resumable.

    Or a part of live runs only: what runs there parks, and what still runs after the grace is cut off and done anew
    once `resume` with the same option lets it go on.
    """

    def act() -> int:
        from poolboard import parts, wishes
        from poolboard.selection import Selection

        selection = Selection.of(runs, False, older_than, name)
        wish = wishes.stop(why, parts.of(selection, child, stage, worker), now=now)
        return wishes.fulfil(journal, selection, wish, yes=yes, as_json=as_json)

    return act


def cancel(
    runs: Runs = None,
    older_than: OlderThan = None,
    name: Name = None,
    child: Child = None,
    why: Why = None,
    yes: Yes = False,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """End runs for good, also those that crashed or are stopped; what they recorded stays readable.

    With --child end only children of live runs; their parents are told.
    """

    def act() -> int:
        from poolboard import parts, wishes
        from poolboard.selection import Selection

        selection = Selection.of(runs, False, older_than, name)
        return wishes.fulfil(
            journal, selection, wishes.cancel(why, parts.of(selection, child)), yes=yes, as_json=as_json
        )

    return act


def retry(
    runs: Runs = None,
    failed: Annotated[
        bool, typer.Option("--failed", help="What failed of the runs; without a RUN, of every run that failed.")
    ] = False,
    older_than: OlderThan = None,
    name: Name = None,
    child: Annotated[
        str | None, typer.Option("--child", help="Only these of them: 7, or 3,5-9.", metavar="N,...")
    ] = None,
    stage: Annotated[str | None, typer.Option("--stage", help="Only those that failed there.", metavar="NAME")] = None,
    error: Annotated[
        str | None, typer.Option(help="Only those whose error holds this, or is of this group.", metavar="TEXT")
    ] = None,
    why: Why = None,
    accept_code: AcceptCode = False,
    yes: Yes = False,
    detach: Detach = False,
    notify: Notify = None,
    quiet: Quiet = None,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Try again exactly what failed; while a run goes on, what its parents still wait for. One run is followed.

    Example: poolboard retry 3f2a --stage fetch --error timeout
    """

    def act() -> int:
        from poolboard import cli_run, parts, wishes
        from poolboard.selection import Selection
        from poolboard.showing import Showing

        # With a run named, --failed says what of it is tried again; alone it chooses runs.
        selection = Selection.of(runs, failed and not runs, older_than, name)
        chosen = parts.Chosen(child, stage, error, why)
        if len(selection.prefixes) == 1 and not selection.filters:
            return cli_run.retry(
                journal,
                selection.prefixes[0],
                chosen,
                accept_code=accept_code,
                detach=detach,
                as_json=as_json,
                showing=Showing(notify=notify, quiet=quiet),
            )
        wish = wishes.retry(chosen, accept_code=accept_code)
        return wishes.fulfil(journal, selection, wish, yes=yes, as_json=as_json)

    return act


def delete(
    runs: Runs = None,
    failed: Failed = False,
    older_than: OlderThan = None,
    name: Name = None,
    yes: Yes = False,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Forget runs for good, with their logs, after asking; one that goes on is refused.

    Example: poolboard delete --failed --older-than 30d
    """

    def act() -> int:
        from poolboard import deletion
        from poolboard.selection import Selection

        return deletion.delete(journal, Selection.of(runs, failed, older_than, name), yes=yes, as_json=as_json)

    return act


def workers(
    run: Run,
    count: Annotated[int, typer.Argument(help="How many worker processes.", min=1, max=1024)],
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Give a live run more worker processes, or fewer; nothing that runs is cut off."""

    def act() -> int:
        from poolboard import cli_status

        return cli_status.workers(journal, run, count, as_json=as_json)

    return act

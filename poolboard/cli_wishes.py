"""``poolboard pause``, ``resume``, ``stop``, ``cancel``, ``retry``, ``delete``, ``workers``: words and options."""

from __future__ import annotations

from typing import Annotated

import typer

from poolboard.cli_budget import MaxDuration, MaxFailures, MaxUsage
from poolboard.cli_options import (
    AcceptCode,
    Deed,
    Detach,
    Failed,
    Journal,
    Json,
    Name,
    OlderThan,
    Run,
    Runs,
    Why,
    Yes,
)
from poolboard.cli_parts import Child, Stage, WorkerPlace


def pause(
    runs: Runs = None,
    child: Child = None,
    stage: Stage = None,
    worker: WorkerPlace = None,
    older_than: OlderThan = None,
    name: Name = None,
    why: Why = None,
    yes: Yes = False,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Start nothing new; what is active parks at its next stage boundary, without a slot. Or a part of one run only.

    \b
    poolboard pause --name 'train*' --yes
    poolboard pause 3f2a --stage fetch --why 'the server is down'
    poolboard pause 3f2a --child 7,12-19
    """

    def act() -> int:
        from poolboard import parts, wishes
        from poolboard.selection import Selection

        selection = Selection.of(runs, False, older_than, name)
        if part := parts.of(child, stage, worker):
            return parts.wish(journal, parts.only_run(selection), "pause", part, why=why, as_json=as_json)
        return wishes.fulfil(journal, selection, wishes.pause(why), yes=yes, as_json=as_json)

    return act


def resume(
    runs: Runs = None,
    child: Child = None,
    stage: Stage = None,
    worker: WorkerPlace = None,
    max_duration: MaxDuration = None,
    max_failures: MaxFailures = None,
    max_usage: MaxUsage = None,
    older_than: OlderThan = None,
    name: Name = None,
    why: Why = None,
    accept_code: AcceptCode = False,
    yes: Yes = False,
    detach: Detach = False,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Let paused, stopped, blocked or crashed runs go on; one run is followed, several are left alone.

    Or a paused part of a live run. A limit that is given is the run's from now on; 0 lifts it.
    Example: poolboard resume 3f2a --max-failures 50
    """

    def act() -> int:
        from poolboard import budget_words, cli_run, parts, wishes
        from poolboard.selection import Selection

        selection = Selection.of(runs, False, older_than, name)
        budget = budget_words.table(max_duration, max_failures, max_usage or [])
        if part := parts.of(child, stage, worker):
            budget_words.refuse(budget or accept_code)
            return parts.wish(journal, parts.only_run(selection), "resume", part, why=why, as_json=as_json)
        if budget or (len(selection.prefixes) == 1 and not selection.filters):
            return cli_run.resume(
                journal,
                parts.only_run(selection),
                why=why,
                accept_code=accept_code,
                budget=budget,
                detach=detach,
                as_json=as_json,
            )
        wish = wishes.resume(why, accept_code=accept_code)
        return wishes.fulfil(journal, selection, wish, yes=yes, as_json=as_json)

    return act


def stop(
    runs: Runs = None,
    older_than: OlderThan = None,
    name: Name = None,
    now: Annotated[bool, typer.Option("--now", help="Give running stages no time to end.")] = False,
    why: Why = None,
    yes: Yes = False,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Start no new stage, end the running ones, keep everything recorded; the run stays resumable."""

    def act() -> int:
        from poolboard import wishes
        from poolboard.selection import Selection

        selection = Selection.of(runs, False, older_than, name)
        return wishes.fulfil(journal, selection, wishes.stop(why, now=now), yes=yes, as_json=as_json)

    return act


def cancel(
    runs: Runs = None,
    child: Child = None,
    older_than: OlderThan = None,
    name: Name = None,
    why: Why = None,
    yes: Yes = False,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """End runs for good, also those that crashed or are stopped; what they recorded stays readable.

    With --child end only children of a live run; their parents are told.
    """

    def act() -> int:
        from poolboard import parts, wishes
        from poolboard.selection import Selection

        selection = Selection.of(runs, False, older_than, name)
        if part := parts.of(child):
            return parts.wish(journal, parts.only_run(selection), "cancel", part, why=why, as_json=as_json)
        return wishes.fulfil(journal, selection, wishes.cancel(why), yes=yes, as_json=as_json)

    return act


def retry(
    runs: Runs = None,
    failed: Annotated[
        bool, typer.Option("--failed", help="What failed of the runs; without a RUN, of every run that failed.")
    ] = False,
    child: Annotated[
        str | None, typer.Option("--child", help="Only these of one run: 7, or 3,5-9.", metavar="N,...")
    ] = None,
    stage: Annotated[str | None, typer.Option("--stage", help="Only what failed there.", metavar="NAME")] = None,
    error: Annotated[
        str | None, typer.Option(help="Only those whose error holds this, or is of this group.", metavar="TEXT")
    ] = None,
    why: Why = None,
    older_than: OlderThan = None,
    name: Name = None,
    accept_code: AcceptCode = False,
    yes: Yes = False,
    detach: Detach = False,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Try again exactly what failed; one run is followed, several are left alone.

    While a run goes on: what its parents still wait for. Example: poolboard retry 3f2a --stage fetch --error timeout
    """

    def act() -> int:
        from poolboard import cli_run, parts, wishes
        from poolboard.selection import Selection

        # With a run named, --failed says what of it is tried again; alone it chooses runs.
        selection = Selection.of(runs, failed and not runs, older_than, name)
        chosen = cli_run.Chosen(child, stage, error, why)
        if chosen.some or (len(selection.prefixes) == 1 and not selection.filters):
            run = parts.only_run(selection)
            return cli_run.retry(journal, run, chosen, accept_code=accept_code, detach=detach, as_json=as_json)
        return wishes.fulfil(journal, selection, wishes.retry(why, accept_code=accept_code), yes=yes, as_json=as_json)

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

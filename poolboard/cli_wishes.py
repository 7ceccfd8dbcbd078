"""``poolboard pause``, ``resume``, ``stop``, ``cancel``, ``retry``, ``delete``, ``workers``: words and options."""

from __future__ import annotations

from typing import Annotated

import typer

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


def pause(
    runs: Runs = None,
    older_than: OlderThan = None,
    name: Name = None,
    why: Why = None,
    yes: Yes = False,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Start nothing new; what is active parks at its next stage boundary.

    Example: poolboard pause --name 'train*' --yes
    """

    def act() -> int:
        from poolboard import wishes
        from poolboard.selection import Selection

        selection = Selection.of(runs, False, older_than, name)
        return wishes.fulfil(journal, selection, wishes.pause(why), yes=yes, as_json=as_json)

    return act


def resume(
    runs: Runs = None,
    older_than: OlderThan = None,
    name: Name = None,
    why: Why = None,
    accept_code: AcceptCode = False,
    yes: Yes = False,
    detach: Detach = False,
    notify: Notify = None,
    quiet: Quiet = None,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Let paused, stopped or crashed runs go on; one run is followed, several are left alone."""

    def act() -> int:
        from poolboard import cli_run, wishes
        from poolboard.selection import Selection
        from poolboard.showing import Showing

        selection = Selection.of(runs, False, older_than, name)
        if len(selection.prefixes) == 1 and not selection.filters:
            return cli_run.resume(
                journal,
                selection.prefixes[0],
                why=why,
                accept_code=accept_code,
                detach=detach,
                as_json=as_json,
                showing=Showing(notify=notify, quiet=quiet),
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
    older_than: OlderThan = None,
    name: Name = None,
    why: Why = None,
    yes: Yes = False,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """End runs for good, also those that crashed or are stopped; what they recorded stays readable."""

    def act() -> int:
        from poolboard import wishes
        from poolboard.selection import Selection

        selection = Selection.of(runs, False, older_than, name)
        return wishes.fulfil(journal, selection, wishes.cancel(why), yes=yes, as_json=as_json)

    return act


def retry(
    runs: Runs = None,
    failed: Annotated[
        bool, typer.Option("--failed", help="What failed of the runs; without a RUN, of every run that failed.")
    ] = False,
    older_than: OlderThan = None,
    name: Name = None,
    accept_code: AcceptCode = False,
    yes: Yes = False,
    detach: Detach = False,
    notify: Notify = None,
    quiet: Quiet = None,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Try again exactly what failed in runs that have ended or are stopped; one run is followed, several left alone."""

    def act() -> int:
        from poolboard import cli_run, wishes
        from poolboard.selection import Selection
        from poolboard.showing import Showing

        # With a run named, --failed says what of it is tried again; alone it chooses runs.
        selection = Selection.of(runs, failed and not runs, older_than, name)
        if len(selection.prefixes) == 1 and not selection.filters:
            return cli_run.retry(
                journal,
                selection.prefixes[0],
                accept_code=accept_code,
                detach=detach,
                as_json=as_json,
                showing=Showing(notify=notify, quiet=quiet),
            )
        return wishes.fulfil(journal, selection, wishes.retry(accept_code=accept_code), yes=yes, as_json=as_json)

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

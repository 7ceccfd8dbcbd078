"""``poolboard cancel``, ``retry``, ``workers``: their words and options; the work is in ``cli_status``, ``cli_run``."""

from __future__ import annotations

from typing import Annotated

import typer

from poolboard.cli_options import Deed, Journal, Json, Run, Why


def cancel(run: Run, why: Why = None, journal: Journal = None, as_json: Json = False) -> Deed:
    """End a run for good, also one that crashed or is stopped; what it recorded stays readable."""

    def act() -> int:
        from poolboard import cli_status

        return cli_status.wish(journal, run, "cancel", why=why, as_json=as_json)

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


def retry(
    run: Run,
    failed: Annotated[
        bool, typer.Option("--failed", help="The children that failed; there is no other choice yet.")
    ] = True,
    accept_code: Annotated[bool, typer.Option("--accept-code", help="Go on with the edited file.")] = False,
    detach: Annotated[bool, typer.Option("--detach", help="Return at once; the run goes on by itself.")] = False,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Try again exactly what failed in a run that has ended or is stopped, and follow it."""

    def act() -> int:
        from poolboard import cli_run

        return cli_run.retry(journal, run, accept_code=accept_code, detach=detach, as_json=as_json)

    return act

"""``poolboard cancel``, ``retry``, ``workers``: their words and options; the work is in ``cli_status``, ``cli_run``."""

from __future__ import annotations

from typing import Annotated

import typer

from poolboard.cli_options import Deed, Journal, Json, Run, Why
from poolboard.cli_parts import Child


def cancel(run: Run, child: Child = None, why: Why = None, journal: Journal = None, as_json: Json = False) -> Deed:
    """End a run for good, also one that crashed or is stopped; what it recorded stays readable.

    With --child end only children of a live run; their parents are told.
    """

    def act() -> int:
        from poolboard import cli_status, parts

        if child is not None:
            return parts.wish(journal, run, "cancel", parts.of(child), why=why, as_json=as_json)
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
    failed: Annotated[bool, typer.Option("--failed", help="All children that failed; so it is without this.")] = True,
    child: Annotated[
        str | None, typer.Option("--child", help="Only these of them: 7, or 3,5-9.", metavar="N,...")
    ] = None,
    stage: Annotated[str | None, typer.Option("--stage", help="Only those that failed there.", metavar="NAME")] = None,
    error: Annotated[
        str | None, typer.Option(help="Only those whose error holds this, or is of this group.", metavar="TEXT")
    ] = None,
    why: Why = None,
    accept_code: Annotated[bool, typer.Option("--accept-code", help="Go on with the edited file.")] = False,
    detach: Annotated[bool, typer.Option("--detach", help="Return at once; the run goes on by itself.")] = False,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Try again exactly what failed, and follow the run; while it goes on, what its parents still wait for.

    Example: poolboard retry 3f2a --stage fetch --error timeout
    """

    def act() -> int:
        from poolboard import cli_run

        chosen = cli_run.Chosen(child, stage, error, why)
        return cli_run.retry(journal, run, chosen, accept_code=accept_code, detach=detach, as_json=as_json)

    return act

"""``poolboard send`` and ``messages``: their words and options; the work is in ``messaging``."""

from __future__ import annotations

from typing import Annotated

import typer

from poolboard.cli_options import Deed, Journal, NewestRun

To = Annotated[
    str,
    typer.Argument(
        help="A run's id, or the beginning of it; behind a / a child or a pattern, and perhaps a stage.",
        metavar="RUN[/CHILD[/STAGE]]",
    ),
]


def send(
    to: To,
    text: Annotated[str, typer.Argument(help="What to send; - reads it from standard input.", metavar="TEXT")],
    as_json: Annotated[bool, typer.Option("--json", help="TEXT is JSON, and so is the answer.")] = False,
    mode: Annotated[
        str,
        typer.Option(
            help="steer: read at the next look; follow_up: after the stage that runs; interrupt: cancels that stage.",
            metavar="MODE",
        ),
    ] = "steer",
    journal: Journal = None,
) -> Deed:
    """Send a message to a run: to its root, to children, to stages; also to those that start later.

    RUN/7 is child 7, RUN/child-* every child of the root, RUN/child-*/** all below as well, RUN/** everybody;
    RUN/7/fetch a stage, RUN/7/fetch-* all whose names begin so. A stopped or crashed run gets it when it goes on.

    Example: poolboard send 3f2a/child-*/fetch 'use the mirror' --mode interrupt
    """

    def act() -> int:
        from poolboard import messaging

        return messaging.send(journal, to, text, mode=mode, as_json=as_json)

    return act


def messages(
    run: NewestRun = None,
    limit: Annotated[int, typer.Option(help="List at most so many, the newest.", min=1, max=100)] = 20,
    before: Annotated[int | None, typer.Option(help="Only messages with a smaller number.", min=1)] = None,
    journal: Journal = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on stdout and nothing else.")] = False,
) -> Deed:
    """List a run's messages, the newest first: who was reached, whose program took it, who ended without."""

    def act() -> int:
        from poolboard import messaging

        return messaging.messages(journal, run, limit=limit, before=before, as_json=as_json)

    return act

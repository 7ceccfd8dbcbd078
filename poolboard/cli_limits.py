"""``poolboard limit``: its words and options; the work is in ``sharing``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from poolboard import completion

Limits = Annotated[
    list[str] | None,
    typer.Option("--limit", help="A named limit: gpu=2 at once, or api=60/min; several times.", metavar="NAME=VALUE"),
]
SharedLimits = Annotated[
    list[str] | None,
    typer.Option("--shared-limit", help="The same, for all of your runs together.", metavar="NAME=VALUE"),
]


def limit(
    run: Annotated[
        str, typer.Argument(help="A run's id, or the beginning of it.", metavar="RUN", autocompletion=completion.runs)
    ],
    changes: Annotated[
        list[str] | None, typer.Argument(help="What a limit is to be from now on.", metavar="[NAME=VALUE]...")
    ] = None,
    journal: Annotated[
        str | None,
        typer.Option(
            help="The journal file; default: POOLBOARD_JOURNAL, else the one in the state folder.", metavar="PATH"
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on stdout and nothing else.")] = False,
) -> Callable[[], int]:
    """Tell what a live run's limits are doing and who waits for them, or change some.

    Example: poolboard limit 3f2a gpu=4 api=120/min
    """

    def act() -> int:
        from poolboard import sharing

        return sharing.limit(journal, run, changes or [], as_json=as_json)

    return act

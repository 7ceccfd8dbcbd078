"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

#: What a command returns: the line is read first and acted on later, outside click, which has its own ideas about
#: broken pipes and interrupts (exit status 1 for both).
Deed = Callable[[], int]

Journal = Annotated[
    str | None,
    typer.Option(
        help="The journal file; default: POOLBOARD_JOURNAL, else the one in the state folder.", metavar="PATH"
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on stdout and nothing else.")]
Workers = Annotated[int | None, typer.Option(help="Worker processes; default: one per core.", min=1, max=1024)]
Headless = Annotated[bool, typer.Option("--headless", help="Print progress as lines instead of opening the screen.")]
Detach = Annotated[bool, typer.Option("--detach", help="Return at once; the run goes on by itself.")]
Why = Annotated[str | None, typer.Option(help="The reason, for the journal.", metavar="TEXT")]
AcceptCode = Annotated[bool, typer.Option("--accept-code", help="Go on although the workflow's file was edited.")]

Run = Annotated[str, typer.Argument(help="A run's id, or the beginning of it.", metavar="RUN")]
NewestRun = Annotated[
    str | None, typer.Argument(help="A run's id, or the beginning of it; default: the newest.", metavar="[RUN]")
]
Runs = Annotated[list[str] | None, typer.Argument(help="Ids of runs, or the beginnings of them.", metavar="[RUN]...")]
NewestRuns = Annotated[
    list[str] | None,
    typer.Argument(help="Ids of runs, or the beginnings of them; default: the newest.", metavar="[RUN]..."),
]
Failed = Annotated[bool, typer.Option("--failed", help="Only runs that failed.")]
OlderThan = Annotated[
    str | None, typer.Option(help="Only runs that were started longer ago: 12h, 30d, 8w.", metavar="AGE")
]
Name = Annotated[str | None, typer.Option(help="Only runs whose name matches: 'train*'.", metavar="GLOB")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]

"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from poolboard import completion

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
Notify = Annotated[
    bool | None, typer.Option("--notify/--no-notify", help="Ring the terminal when the run comes to rest.")
]
Quiet = Annotated[bool | None, typer.Option("--quiet/--no-quiet", "-q", help="No lines of progress.")]
Theme = Annotated[
    str | None,
    typer.Option(
        help="The screen's theme; default: the one chosen last.", metavar="NAME", autocompletion=completion.themes
    ),
]
Ascii = Annotated[bool | None, typer.Option("--ascii/--no-ascii", help="Draw the screen with ASCII only.")]
ReadOnly = Annotated[bool | None, typer.Option("--read-only/--no-read-only", help="Look, and change nothing.")]
Grace = Annotated[
    float | None,
    typer.Option(help="Seconds that running stages have to end on stop; default: 10.", min=0, max=86_400),
]
Why = Annotated[str | None, typer.Option(help="The reason, for the journal.", metavar="TEXT")]
AcceptCode = Annotated[bool, typer.Option("--accept-code", help="Go on although the workflow's file was edited.")]

Run = Annotated[
    str, typer.Argument(help="A run's id, or the beginning of it.", metavar="RUN", autocompletion=completion.runs)
]
NewestRun = Annotated[
    str | None,
    typer.Argument(
        help="A run's id, or the beginning of it; default: the newest.",
        metavar="[RUN]",
        autocompletion=completion.runs,
    ),
]
Runs = Annotated[
    list[str] | None,
    typer.Argument(help="Ids of runs, or the beginnings of them.", metavar="[RUN]...", autocompletion=completion.runs),
]
NewestRuns = Annotated[
    list[str] | None,
    typer.Argument(
        help="Ids of runs, or the beginnings of them; default: the newest.",
        metavar="[RUN]...",
        autocompletion=completion.runs,
    ),
]
Child = Annotated[
    int,
    typer.Argument(
        help="The child's number; 0 is the root.", metavar="CHILD", min=0, autocompletion=completion.children
    ),
]
Failed = Annotated[bool, typer.Option("--failed", help="Only runs that failed.")]
OlderThan = Annotated[
    str | None, typer.Option(help="Only runs that were started longer ago: 12h, 30d, 8w.", metavar="AGE")
]
Name = Annotated[str | None, typer.Option(help="Only runs whose name matches: 'train*'.", metavar="GLOB")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]

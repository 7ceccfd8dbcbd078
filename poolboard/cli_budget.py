"""Options that say what a run may use; ``budget_words`` reads them."""

from __future__ import annotations

from typing import Annotated

import typer

MaxDuration = Annotated[
    str | None, typer.Option(help="Block the run after so long (90, 2m, 1h), pauses left out.", metavar="TIME")
]
MaxFailures = Annotated[
    int | None, typer.Option(help="Block the run once so many children have failed.", metavar="N", min=0)
]
MaxUsage = Annotated[
    list[str] | None,
    typer.Option(
        "--max-usage", help="Block the run once ctx.usage has charged so much; several times.", metavar="NAME=N"
    ),
]

"""Options that name a command to run once a run has come to its end; ``hook_words`` reads them."""

from __future__ import annotations

from typing import Annotated

import typer

OnComplete = Annotated[
    str | None, typer.Option(help="Run CMD when the run completed; it gets JSON on stdin.", metavar="CMD")
]
OnFailure = Annotated[str | None, typer.Option(help="Run CMD when the run failed.", metavar="CMD")]
OnBlocked = Annotated[str | None, typer.Option(help="Run CMD when the run is blocked.", metavar="CMD")]

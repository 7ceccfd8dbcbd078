"""Options that name a part of a run, and the commands that change a live run's size; the work is in ``parts``."""

from __future__ import annotations

from typing import Annotated

import typer

from poolboard.cli_options import Deed, Journal, Json, Run, Why

Child = Annotated[
    str | None,
    typer.Option("--child", help="Only these children, each with all below it: 7, or 3,5-9.", metavar="N,..."),
]
Stage = Annotated[str | None, typer.Option("--stage", help="Only this stage, of all children.", metavar="NAME")]
Worker = Annotated[
    int | None, typer.Option("--worker", help="Only this worker: it takes nothing new.", metavar="N", min=1)
]


def slots(
    run: Run,
    count: Annotated[int, typer.Argument(help="How many runs each worker has at once.", min=1, max=4096)],
    why: Why = None,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Give each worker of a live run more slots, or fewer; nothing that runs is cut off."""

    def act() -> int:
        from poolboard import parts

        return parts.resize(journal, run, "slots", count, why=why, as_json=as_json)

    return act


def concurrency(
    run: Run,
    count: Annotated[int, typer.Argument(help="How many runs hold a slot at once; 0 is no bound.", min=0)],
    why: Why = None,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Bound how much of a live run is active at once, whatever workers and slots there are."""

    def act() -> int:
        from poolboard import parts

        return parts.resize(journal, run, "concurrency", count, why=why, as_json=as_json)

    return act

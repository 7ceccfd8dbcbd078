"""``poolboard demo`` and ``watch``: their words and options; the work is in ``cli_run``."""

from __future__ import annotations

from typing import Annotated

import typer

from poolboard.cli_options import (
    Ascii,
    Deed,
    Headless,
    Journal,
    Json,
    NewestRun,
    Notify,
    Quiet,
    ReadOnly,
    Theme,
    Workers,
)


def demo(
    folder: Annotated[
        str | None,
        typer.Option(help="A folder of Python files; default: the standard library.", metavar="DIR"),
    ] = None,
    workers: Workers = None,
    limit: Annotated[int | None, typer.Option(help="Take at most so many files.", min=1)] = None,
    journal: Journal = None,
    headless: Headless = False,
    notify: Notify = None,
    quiet: Quiet = None,
    as_json: Json = False,
) -> Deed:
    """Survey a folder of Python files: one child run per file.

    Example: poolboard demo --folder ~/src --workers 4
    """

    def act() -> int:
        from poolboard import cli_run
        from poolboard.showing import Showing

        return cli_run.demo(
            folder,
            workers=workers,
            limit=limit,
            journal=journal,
            headless=headless,
            as_json=as_json,
            showing=Showing(notify=notify, quiet=quiet),
        )

    return act


def watch(
    run: NewestRun = None,
    theme: Theme = None,
    ascii: Ascii = None,
    read_only: ReadOnly = None,
    notify: Notify = None,
    quiet: Quiet = None,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Come back to a run: the screen, or lines where there is no terminal."""

    def act() -> int:
        from poolboard import cli_run
        from poolboard.showing import Showing

        return cli_run.watch(journal, run, as_json=as_json, showing=Showing(theme, ascii, read_only, notify, quiet))

    return act

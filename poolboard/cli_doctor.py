"""``poolboard doctor``: its word and options. What it does is in ``doctor``, imported when asked for."""

from __future__ import annotations

from typing import Annotated

import typer

from poolboard.cli_options import Deed, Journal, Json


def doctor(
    fix: Annotated[
        bool,
        typer.Option("--fix", help="Mend what is safe: modes of folders, sockets and announcements of dead processes."),
    ] = False,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Look at everything that runs depend on, with one line of advice each.

    Ends with 0, or with 2 if something must be done.
    """

    def act() -> int:
        from poolboard import doctor as looking

        return looking.doctor(journal, fix=fix, as_json=as_json)

    return act

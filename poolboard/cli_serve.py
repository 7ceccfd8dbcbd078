"""``poolboard serve``: its words and options; the work is in ``serving``."""

from __future__ import annotations

from typing import Annotated

import typer

from poolboard import completion
from poolboard.cli_options import Deed, Journal, Json


def serve(
    run: Annotated[
        str | None,
        typer.Argument(
            help="A run's id, or the beginning of it; default: the screen of all runs.",
            metavar="[RUN]",
            autocompletion=completion.runs,
        ),
    ] = None,
    port: Annotated[int, typer.Option(help="The port; 0: a free one.", min=0, max=65535)] = 0,
    host: Annotated[
        str, typer.Option(help="The address to listen on; any other than this machine's own is warned about.")
    ] = "127.0.0.1",
    write: Annotated[bool, typer.Option("--write", help="Whoever has the address may pause, stop and cancel.")] = False,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Show the same screen in a browser, until ^C. Whoever has the address that it prints can look.

    \b
    poolboard serve
    poolboard serve 3f2a --port 8300
    """

    def act() -> int:
        from poolboard import serving

        return serving.serve(journal, run, host=host, port=port, write=write, as_json=as_json)

    return act

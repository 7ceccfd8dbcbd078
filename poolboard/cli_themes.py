"""``poolboard themes …``: words and options. What they do is in ``theme_files``, imported when asked for."""

from __future__ import annotations

from typing import Annotated

import typer

from poolboard import completion
from poolboard.cli_options import Deed, Journal, Json

app = typer.Typer(help="The screen's themes: look at them, and make one of your own.", add_completion=False)

Name = Annotated[str, typer.Argument(help="A theme's name.", metavar="NAME", autocompletion=completion.themes)]


@app.command("list")
def list_themes(journal: Journal = None, as_json: Json = False) -> Deed:
    """List every theme, yours and ours, and which one is in force.

    Example: poolboard themes list
    """

    def act() -> int:
        from poolboard import theme_files

        return theme_files.list_themes(as_json=as_json)

    return act


@app.command()
def show(name: Name, journal: Journal = None, as_json: Json = False) -> Deed:
    """Show a theme: its colours on a terminal, its file elsewhere.

    Example: poolboard themes show paper > mine.toml
    """

    def act() -> int:
        from poolboard import theme_files

        return theme_files.show(name, as_json=as_json)

    return act


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="What to call it: letters, digits and dashes.", metavar="NAME")],
    start: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="The theme to begin with; default: midnight.",
            metavar="NAME",
            autocompletion=completion.themes,
        ),
    ] = None,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Write a theme of your own to change: open screens show it as it is saved.

    Example: poolboard themes new dusk --from midnight
    """

    def act() -> int:
        from poolboard import theme_files

        return theme_files.new(name, start, as_json=as_json)

    return act

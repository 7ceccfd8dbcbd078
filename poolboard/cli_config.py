"""``poolboard config …``: words and options. What they do is in ``configuration``, imported when asked for."""

from __future__ import annotations

from typing import Annotated

import typer

from poolboard import completion
from poolboard.cli_options import Deed, Journal, Json

app = typer.Typer(help="The settings: what they are and who says so, and changing them.", add_completion=False)


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def show(context: typer.Context, journal: Journal = None, as_json: Json = False) -> Deed:
    """Show every setting, its value, and where that comes from: a flag, a variable, file:line, or the default.

    Flags of other commands may be given to see what they change.

    Example: poolboard config show --workers 4
    """

    def act() -> int:
        from poolboard import configuration

        return configuration.show(journal, context.args, as_json=as_json)

    return act


@app.command()
def get(
    name: Annotated[str, typer.Argument(help="A setting's name.", metavar="NAME", autocompletion=completion.settings)],
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Print the value of one setting; nothing for one that is not set.

    Example: poolboard config get workers
    """

    def act() -> int:
        from poolboard import configuration

        return configuration.get(journal, name, as_json=as_json)

    return act


@app.command()
def path(journal: Journal = None, as_json: Json = False) -> Deed:
    """Tell which files are read: your own, and the project's.

    Example: poolboard config path
    """

    def act() -> int:
        from poolboard import configuration

        return configuration.path(as_json=as_json)

    return act


@app.command()
def edit(
    project: Annotated[
        bool, typer.Option("--project", help="The project's file; the nearest, else poolboard.toml here.")
    ] = False,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Open your settings in $VISUAL or $EDITOR, then look whether they are right.

    A file that is not there yet begins with every setting as a comment.

    Example: poolboard config edit --project
    """

    def act() -> int:
        from poolboard import configuration

        return configuration.edit(project=project, as_json=as_json)

    return act


@app.command()
def validate(
    file: Annotated[
        str | None, typer.Argument(help="A file of settings; default: all that are in force here.", metavar="[FILE]")
    ] = None,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Look whether settings are right; a line for each that is not, and 2.

    Example: poolboard config validate poolboard.toml
    """

    def act() -> int:
        from poolboard import configuration

        return configuration.validate(file, as_json=as_json)

    return act

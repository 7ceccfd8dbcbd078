"""The command line: words and options. What they do is in ``cli_run`` and ``cli_status``, imported when asked for."""

from __future__ import annotations

from typing import Annotated

import typer

from poolboard import (
    __version__,
    cli_doctor,
    cli_each,
    cli_journal,
    cli_limits,
    cli_metrics,
    cli_parts,
    cli_questions,
    cli_start,
    cli_wishes,
)
from poolboard.cli_options import Deed, Headless, Journal, Json, NewestRun, Workers
from poolboard.exit_codes import MEANINGS

EXIT_TABLE = "\n".join(f"{code:>4}  {meaning}" for code, meaning in MEANINGS.items())

app = typer.Typer(
    name="poolboard",
    help="Run a Python workflow as thousands of durable child runs on a pool of worker processes, live on one screen.",
    # \b keeps the table's lines apart.
    epilog=f"\b\nExit status:\n{EXIT_TABLE}",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"poolboard {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def front(
    context: typer.Context,
    journal: Journal = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error (anywhere on the line).")
    ] = False,
) -> Deed:
    """Without a command: the screen of all runs."""
    if context.invoked_subcommand is not None:
        if journal is not None:
            raise typer.BadParameter("--journal goes after the command")
        return lambda: 0

    def act() -> int:
        from poolboard import cli_run

        return cli_run.runs_screen(journal)

    return act


@app.command()
def demo(
    folder: Annotated[
        str | None,
        typer.Option(help="A folder of Python files; default: the standard library.", metavar="DIR"),
    ] = None,
    workers: Workers = None,
    limit: Annotated[int | None, typer.Option(help="Take at most so many files.", min=1)] = None,
    journal: Journal = None,
    headless: Headless = False,
    as_json: Json = False,
) -> Deed:
    """Survey a folder of Python files: one child run per file.

    Example: poolboard demo --folder ~/src --workers 4
    """

    def act() -> int:
        from poolboard import cli_run

        return cli_run.demo(folder, workers=workers, limit=limit, journal=journal, headless=headless, as_json=as_json)

    return act


app.command()(cli_start.run)
app.command("each", cls=cli_each.EachCommand, context_settings={"allow_interspersed_args": False})(cli_each.each)


@app.command()
def watch(run: NewestRun = None, journal: Journal = None, as_json: Json = False) -> Deed:
    """Come back to a run: the screen, or lines where there is no terminal."""

    def act() -> int:
        from poolboard import cli_run

        return cli_run.watch(journal, run, as_json=as_json)

    return act


app.command()(cli_questions.status)
app.command("list")(cli_questions.list_runs)
app.command()(cli_questions.wait)
app.command()(cli_questions.events)
app.command()(cli_questions.logs)
app.command()(cli_questions.export)
app.command()(cli_wishes.pause)
app.command()(cli_wishes.resume)
app.command()(cli_wishes.stop)
app.command()(cli_wishes.cancel)
app.command()(cli_wishes.retry)
app.command()(cli_wishes.delete)
app.command()(cli_wishes.workers)
app.command()(cli_parts.slots)
app.command()(cli_parts.concurrency)
app.command()(cli_limits.limit)
app.command()(cli_metrics.metrics)
app.command()(cli_doctor.doctor)
app.add_typer(cli_journal.app, name="journal")

"""The command line: words and options. What they do is in ``cli_run`` and ``cli_status``, imported when asked for."""

from __future__ import annotations

from typing import Annotated

import typer

from poolboard import (
    __version__,
    cli_config,
    cli_doctor,
    cli_each,
    cli_help,
    cli_journal,
    cli_limits,
    cli_messages,
    cli_metrics,
    cli_parts,
    cli_prompts,
    cli_questions,
    cli_serve,
    cli_start,
    cli_themes,
    cli_wishes,
    examples,
)
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
from poolboard.exit_codes import MEANINGS

EXIT_TABLE = "\n".join(f"{code:>4}  {meaning}" for code, meaning in MEANINGS.items())

app = typer.Typer(
    name="poolboard",
    help="Run a Python workflow as thousands of durable child runs on a pool of worker processes, live on one screen.",
    # \b keeps the table's lines apart.
    epilog=f"\b\nExit status:\n{EXIT_TABLE}",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
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
    theme: Theme = None,
    ascii: Ascii = None,
    read_only: ReadOnly = None,
    notify: Notify = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error (anywhere on the line).")
    ] = False,
) -> Deed:
    """Without a command: the screen of all runs."""
    if context.invoked_subcommand is not None:
        _refuse_before_command(
            {"--journal": journal, "--theme": theme, "--ascii": ascii, "--read-only": read_only, "--notify": notify}
        )
        return lambda: 0

    def act() -> int:
        from poolboard import cli_run
        from poolboard.showing import Showing

        return cli_run.runs_screen(journal, Showing(theme, ascii, read_only, notify))

    return act


def _refuse_before_command(given: dict[str, object]) -> None:
    for flag, value in given.items():
        if value is not None:
            raise typer.BadParameter(f"{flag} goes after the command")


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


app.command()(cli_start.run)
app.command("each", cls=cli_each.EachCommand, context_settings={"allow_interspersed_args": False})(cli_each.each)


@app.command()
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
app.command()(cli_prompts.prompts)
app.command()(cli_prompts.answer)
app.command()(cli_messages.send)
app.command()(cli_messages.messages)
app.command()(cli_serve.serve)
app.command()(cli_metrics.metrics)
app.command()(cli_doctor.doctor)
app.add_typer(cli_journal.app, name="journal")
app.add_typer(cli_config.app, name="config")
app.add_typer(cli_themes.app, name="themes")
app.command("help")(cli_help.show_help)
app.command("man")(cli_help.show_manual)


def _give_examples(typer_app: typer.Typer, before: str = "") -> None:
    """Put each command's examples below its options."""
    for command in typer_app.registered_commands:
        name = command.name or getattr(command.callback, "__name__", "").replace("_", "-")
        command.epilog = examples.epilog(f"{before}{name}")
    for group in typer_app.registered_groups:
        if group.typer_instance is not None:
            _give_examples(group.typer_instance, f"{before}{group.name} ")


_give_examples(app)

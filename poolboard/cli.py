"""The command line: words and options. What they do is in ``cli_run`` and ``cli_status``, imported when asked for."""

from __future__ import annotations

from typing import Annotated

import typer

from poolboard import __version__, cli_doctor, cli_each, cli_journal, cli_limits, cli_messages, cli_start, cli_wishes
from poolboard.cli_options import Deed, Detach, Headless, Journal, Json, NewestRun, Run, Why, Workers
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


@app.command()
def status(run: NewestRun = None, journal: Journal = None, as_json: Json = False) -> Deed:
    """Tell how a run stands: progress, stages, workers, result or error."""

    def act() -> int:
        from poolboard import cli_status

        return cli_status.status(journal, run, as_json=as_json)

    return act


@app.command()
def logs(
    run: Run,
    child: Annotated[int, typer.Argument(help="The child's number; 0 is the root.", metavar="CHILD", min=0)],
    stage: Annotated[str | None, typer.Argument(help="Only this stage.", metavar="[STAGE]")] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the child has ended.")] = False,
    merge: Annotated[bool, typer.Option("--merge", help="All attempts, each line with stage and attempt.")] = False,
    raw: Annotated[bool, typer.Option("--raw", help="The bytes as they are, also what drives a terminal.")] = False,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Print what a child wrote: for each stage, the newest attempt.

    Example: poolboard logs 3f2a 17 -f
    """

    def act() -> int:
        from poolboard import cli_logs

        return cli_logs.logs(journal, run, child, stage, follow=follow, form=cli_logs.Form(merge, raw, as_json))

    return act


@app.command("list")
def list_runs(journal: Journal = None, as_json: Json = False) -> Deed:
    """List every run of the journal, newest first."""

    def act() -> int:
        from poolboard import cli_status

        return cli_status.list_runs(journal, as_json=as_json)

    return act


@app.command()
def pause(run: Run, why: Why = None, journal: Journal = None, as_json: Json = False) -> Deed:
    """Start nothing new; what is active parks at its next stage boundary."""

    def act() -> int:
        from poolboard import cli_status

        return cli_status.wish(journal, run, "pause", why=why, as_json=as_json)

    return act


@app.command()
def resume(
    run: Run,
    why: Why = None,
    accept_code: Annotated[
        bool, typer.Option("--accept-code", help="Go on although the workflow's file was edited.")
    ] = False,
    journal: Journal = None,
    detach: Detach = False,
    as_json: Json = False,
) -> Deed:
    """Let a paused, stopped or crashed run go on, and follow it."""

    def act() -> int:
        from poolboard import cli_run

        return cli_run.resume(journal, run, why=why, accept_code=accept_code, detach=detach, as_json=as_json)

    return act


@app.command()
def stop(
    run: Run,
    now: Annotated[bool, typer.Option("--now", help="Give running stages no time to end.")] = False,
    why: Why = None,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Start no new stage, end the running ones, keep everything recorded; the run stays resumable."""

    def act() -> int:
        from poolboard import cli_status

        return cli_status.wish(journal, run, "stop now" if now else "stop", why=why, as_json=as_json)

    return act


app.command()(cli_wishes.cancel)
app.command()(cli_wishes.retry)
app.command()(cli_wishes.workers)
app.command()(cli_limits.limit)
app.command()(cli_messages.send)
app.command()(cli_messages.messages)
app.command()(cli_doctor.doctor)
app.add_typer(cli_journal.app, name="journal")

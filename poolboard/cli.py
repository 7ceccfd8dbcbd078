"""The command line: which commands there are, and where each is declared.

To declare a command costs two milliseconds, and there are more than forty: only those that a line asks for are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Annotated, Final

import typer

from poolboard import __version__, examples
from poolboard.cli_options import Ascii, Deed, Journal, Notify, ReadOnly, Theme
from poolboard.exit_codes import MEANINGS

EXIT_TABLE: Final = "\n".join(f"{code:>4}  {meaning}" for code, meaning in MEANINGS.items())

#: Where each command's function lies, in the order of ``--help``.
COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "demo": ("cli_screens", "demo"),
    "run": ("cli_start", "run"),
    "each": ("cli_each", "each"),
    "watch": ("cli_screens", "watch"),
    "status": ("cli_questions", "status"),
    "list": ("cli_questions", "list_runs"),
    "wait": ("cli_questions", "wait"),
    "events": ("cli_questions", "events"),
    "logs": ("cli_questions", "logs"),
    "export": ("cli_questions", "export"),
    "pause": ("cli_wishes", "pause"),
    "resume": ("cli_wishes", "resume"),
    "stop": ("cli_wishes", "stop"),
    "cancel": ("cli_wishes", "cancel"),
    "retry": ("cli_wishes", "retry"),
    "delete": ("cli_wishes", "delete"),
    "workers": ("cli_wishes", "workers"),
    "slots": ("cli_parts", "slots"),
    "concurrency": ("cli_parts", "concurrency"),
    "limit": ("cli_limits", "limit"),
    "prompts": ("cli_prompts", "prompts"),
    "answer": ("cli_prompts", "answer"),
    "send": ("cli_messages", "send"),
    "messages": ("cli_messages", "messages"),
    "serve": ("cli_serve", "serve"),
    "metrics": ("cli_metrics", "metrics"),
    "doctor": ("cli_doctor", "doctor"),
    "help": ("cli_help", "show_help"),
    "man": ("cli_help", "show_manual"),
}
#: Words that have commands of their own behind them.
GROUPS: Final = {"journal": "cli_journal", "config": "cli_config", "themes": "cli_themes"}
#: Commands that speak of all the others.
OF_ALL: Final = frozenset({"help", "man"})


def command_line(words: Sequence[str] | None = None) -> typer.Typer:
    """Return the command line with the commands that these words can mean; with all of them for None."""
    app = typer.Typer(
        name="poolboard",
        help="Run a Python workflow as thousands of durable child runs on a pool of worker processes, "
        "live on one screen.",
        # \b keeps the table's lines apart.
        epilog=f"\b\nExit status:\n{EXIT_TABLE}",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(front)
    for name in _meant(words):
        if name in GROUPS:
            group: typer.Typer = import_module(f"poolboard.{GROUPS[name]}").app
            app.add_typer(group, name=name)
        else:
            home, function = COMMANDS[name]
            module = import_module(f"poolboard.{home}")
            # A command that reads its line in a way of its own says there what typer is to be told.
            app.command(name, **getattr(module, "SETTINGS", {}))(getattr(module, function))
    _give_examples(app)
    return app


def _meant(words: Sequence[str] | None) -> Iterable[str]:
    # An option first, a misspelt word, nothing at all: all are there, to be listed and compared.
    asked = words[0] if words else ""
    return (asked,) if (asked in COMMANDS and asked not in OF_ALL) or asked in GROUPS else (*COMMANDS, *GROUPS)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"poolboard {__version__}")
        raise typer.Exit


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


def _give_examples(typer_app: typer.Typer, before: str = "") -> None:
    """Put each command's examples below its options."""
    for command in typer_app.registered_commands:
        name = command.name or getattr(command.callback, "__name__", "").replace("_", "-")
        command.epilog = examples.epilog(f"{before}{name}")
    for group in typer_app.registered_groups:
        if group.typer_instance is not None:
            _give_examples(group.typer_instance, f"{before}{group.name} ")

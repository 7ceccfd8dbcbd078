"""``poolboard help`` and ``poolboard man``: the same texts in two forms."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

Deed = Callable[[], int]


def show_help(
    context: typer.Context,
    words: Annotated[list[str] | None, typer.Argument(help="A command's words.", metavar="[COMMAND]...")] = None,
) -> Deed:
    """Show how a command is used: the same as its --help.

    Example: poolboard help journal prune
    """
    group = context.find_root().command

    def act() -> int:
        from poolboard.console import say

        command, parent = _found(group, words or [])
        say(command.get_help(command.make_context(parent, [], resilient_parsing=True)).rstrip())
        return 0

    return act


def _found(group: Any, words: list[str]) -> tuple[Any, str]:
    from poolboard.engine.config_loading import nearest
    from poolboard.engine.errors import UserMistake

    command, name = group, "poolboard"
    for word in words:
        known = getattr(command, "commands", {})
        if word not in known:
            raise UserMistake(f"there is no command {name} {word}{nearest(word, sorted(known))}")
        command, name = known[word], f"{name} {word}"
    return command, name


def show_manual(context: typer.Context) -> Deed:
    """Show the manual; into a pipe or a file it is the page itself, for man.

    Example: poolboard man > ~/.local/share/man/man1/poolboard.1
    """
    group = context.find_root().command

    def act() -> int:
        from poolboard import manual
        from poolboard.console import say

        page = manual.page(group)
        reader = shutil.which("man")
        if sys.stdout is None or not sys.stdout.isatty() or reader is None:
            say(page.rstrip("\n"))
            return 0
        return subprocess.run([reader, "-l", "-"], input=page, text=True, check=False).returncode

    return act

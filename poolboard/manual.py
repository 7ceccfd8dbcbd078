"""The manual page, made from the very texts that ``--help`` shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from poolboard import __version__
from poolboard.engine.config import NAMES, told, variable
from poolboard.exit_codes import MEANINGS

FILES: Final = {
    "$XDG_STATE_HOME/poolboard/journal.sqlite": "the journal, unless another is chosen",
    "$XDG_STATE_HOME/poolboard/runs/RUN/": "logs, hooks' output and socket of a run",
    "$XDG_CONFIG_HOME/poolboard/config.toml": "your settings",
    "$XDG_CONFIG_HOME/poolboard/themes/": "your themes",
    "poolboard.toml": "a project's settings; or [tool.poolboard] in pyproject.toml",
}


def commands(group: Any, words: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every command with its words, those of groups by two: ``journal check``."""
    for name, command in group.commands.items():
        if getattr(command, "commands", None) is not None:
            yield from commands(command, f"{words}{name} ")
        elif not command.hidden:
            yield f"{words}{name}", command


def page(group: Any) -> str:
    """Return the manual page as roff, for ``man -l -``."""
    return "\n".join(_lines(group)) + "\n"


def _lines(group: Any) -> Iterator[str]:
    yield f'.TH POOLBOARD 1 "" "poolboard {__version__}" "User Commands"'
    yield from (".SH NAME", rf"poolboard \- {_text(group.help)}", ".SH SYNOPSIS", r".B poolboard")
    yield r"[\fIOPTIONS\fR] [\fICOMMAND\fR [\fIARGS\fR]...]"
    yield ".SH OPTIONS"
    yield from _options(group, "poolboard")
    yield ".SH COMMANDS"
    for words, command in commands(group):
        yield from _command(words, command)
    yield ".SH EXIT STATUS"
    yield from _entries((str(code), meaning) for code, meaning in MEANINGS.items())
    yield ".SH ENVIRONMENT"
    yield from _entries((variable(name), f"{told(name).about}: {told(name).allowed}") for name in NAMES)
    yield from _entries([("POOLBOARD_CONFIG", "the file of a project's settings, instead of looking for one")])
    yield from _entries([("NO_COLOR", "no colours in what is printed")])
    yield ".SH FILES"
    yield from _entries(FILES.items())


def _command(words: str, command: Any) -> Iterator[str]:
    context = command.make_context(f"poolboard {words}", [], resilient_parsing=True)
    usage = " ".join(command.collect_usage_pieces(context))
    yield f".SS {_text(f'poolboard {words} {usage}')}"
    for block in (command.help or "", command.epilog or ""):
        for paragraph in re.split(r"\n\s*\n", block.strip()):
            if paragraph.startswith("\b"):
                yield from (".PP", ".nf", *map(_text, paragraph.splitlines()[1:]), ".fi")
            elif paragraph:
                yield from (".PP", _text(" ".join(paragraph.split())))
    yield from _options(command, f"poolboard {words}")


def _options(command: Any, words: str) -> Iterator[str]:
    context = command.make_context(words, [], resilient_parsing=True)
    records = [parameter.get_help_record(context) for parameter in command.get_params(context)]
    yield from _entries(record for record in records if record is not None)


def _entries(entries: Any) -> Iterator[str]:
    for head, text in entries:
        yield from (".TP", rf"\fB{_text(head)}\fR", _text(text) or r"\&")


def _text(text: str) -> str:
    """Return text for roff: nothing in it is taken for a request or an escape."""
    safe = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{safe}" if safe.startswith((".", "'")) else safe

"""The arguments of a workflow on the command line. What a value means is decided by the parameter's type, later."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from poolboard.engine.errors import UserMistake
from poolboard.engine.secrets import INPUT_PREFIX

#: A run's input is recorded, and no recorded value is longer than half of this.
MOST_BYTES: Final = 2 * 1024 * 1024


def gathered(words: Sequence[str], text: str | None, file: str | None) -> dict[str, object]:
    """Return the inputs by parameter name, from all three ways; raises UserMistake, also for a name given twice."""
    found: dict[str, object] = {}
    parts = [("--input", parse(words))]
    if text is not None:
        parts.append(("--input-json", _object(text, "--input-json")))
    if file is not None:
        parts.append(("--input-file", _object(_read(file), f"--input-file {file}")))
    for option, inputs in parts:
        for name, value in inputs.items():
            if name in found:
                raise UserMistake(f"{option}: {name} is given twice")
            found[name] = value
    return found


def parse(words: Sequence[str]) -> dict[str, object]:
    """Return the inputs by parameter name; raises UserMistake for a word that is not ``name=value``.

    A name alone takes its value from the environment: ``token`` from ``POOLBOARD_INPUT_token``.
    """
    inputs: dict[str, object] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals and name.isidentifier() and (given := os.environ.pop(INPUT_PREFIX + name, None)) is not None:
            equals, value = "=", given
        if not equals or not name.isidentifier():
            raise UserMistake(f"--input {word!r}: write name=value, with a parameter's name")
        if name in inputs:
            raise UserMistake(f"--input {name}: given twice")
        inputs[name] = as_text(value, f"--input {name}")
    return inputs


def hide(words: Sequence[str], target: str) -> None:
    """Take the values off the command line if the workflow's file speaks of secrets; then this program begins anew.

    All of them, for which are secret is known only once the file is loaded, and by then everybody could have read them.
    """
    from poolboard.hiding import begin_anew_without

    file = Path(target if target.endswith(".py") else target.rpartition(":")[0])
    speaks = False
    with suppress(OSError, ValueError):
        speaks = b"Secret" in file.read_bytes()
    if speaks and any("=" in word for word in words):
        for name, value in ((name, value) for name, equals, value in (word.partition("=") for word in words) if equals):
            if name.isidentifier() and "\0" not in value:
                os.environ[INPUT_PREFIX + name] = value
        begin_anew_without("--input", words)


def as_text(word: str, what: str) -> str:
    """Return a word of the command line; raises UserMistake if its bytes are not UTF-8."""
    try:
        word.encode()
    except UnicodeEncodeError:
        raise UserMistake(f"{what}: {word!r} is not UTF-8 text") from None
    return word


def _object(text: str, what: str) -> dict[str, object]:
    try:
        found = json.loads(as_text(text, what), parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise UserMistake(f"{what}: line {error.lineno}, column {error.colno}: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise UserMistake(f"{what}: {error}") from None
    if not isinstance(found, dict):
        raise UserMistake(f'{what}: write an object with the parameters\' names: {{"name": value}}')
    return found


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is not JSON")


def _read(file: str) -> str:
    """Return a file's text, or what comes through standard input."""
    what = f"--input-file {file}"
    try:
        if file == "-":
            if sys.stdin is None or sys.stdin.isatty():
                raise UserMistake(f"{what}: nothing comes through standard input")
            data = sys.stdin.buffer.read(MOST_BYTES + 1)
        else:
            with Path(file).open("rb") as opened:
                data = opened.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise UserMistake(f"{what}: longer than {MOST_BYTES} bytes; give the paths of files instead")
        return data.decode()
    except OSError as error:
        raise UserMistake(f"{what}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserMistake(f"{what}: not UTF-8 text") from None

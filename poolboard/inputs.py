"""``--input name=value`` words. What a value means is decided by the parameter's type, later."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from poolboard.engine.errors import UserMistake
from poolboard.engine.secrets import INPUT_PREFIX


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

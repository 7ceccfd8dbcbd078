"""``--input name=value`` words. What a value means is decided by the parameter's type, later."""

from __future__ import annotations

from collections.abc import Sequence

from poolboard.engine.errors import UserMistake


def parse(words: Sequence[str]) -> dict[str, object]:
    """Return the inputs by parameter name; raises UserMistake for a word that is not ``name=value``."""
    inputs: dict[str, object] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.isidentifier():
            raise UserMistake(f"--input {word!r}: write name=value, with a parameter's name")
        if name in inputs:
            raise UserMistake(f"--input {name}: given twice")
        inputs[name] = as_text(value, f"--input {name}")
    return inputs


def as_text(word: str, what: str) -> str:
    """Return a word of the command line; raises UserMistake if its bytes are not UTF-8."""
    try:
        word.encode()
    except UnicodeEncodeError:
        raise UserMistake(f"{what}: {word!r} is not UTF-8 text") from None
    return word

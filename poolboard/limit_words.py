"""``--limit gpu=2`` and ``--shared-limit api=60/min``: what they say, as the table that a configuration has."""

from __future__ import annotations

from collections.abc import Sequence

from poolboard.engine.errors import UserMistake

HOW = "write NAME=VALUE, such as gpu=2 or api=60/min"


def pair(word: str, what: str) -> tuple[str, str]:
    """Return name and value of ``gpu=2``; raises UserMistake. What a value may be is decided by the engine."""
    name, equals, value = word.partition("=")
    if not equals or not name or not value:
        raise UserMistake(f"{what} {word!r}: {HOW}")
    return name, value


def table(own: Sequence[str], shared: Sequence[str]) -> dict[str, int | str]:
    """Return the limits of a command line; raises UserMistake for a word that is none, or a name given twice."""
    found: dict[str, int | str] = {}
    for what, words in (("--limit", own), ("--shared-limit", shared)):
        for word in words:
            name, value = pair(word, what)
            if name in found:
                raise UserMistake(f"{what} {name}: given twice")
            found[name] = value
            if words is shared:
                found[f"{name.partition('.')[0]}.shared"] = "true"
    return found

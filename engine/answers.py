"""Whether what a person wrote answers a question, and what it says. Pure; never picks a default by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, get_args

Kind = Literal["confirm", "select", "text"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
#: Longer answers are refused.
MOST_CHARACTERS: Final = 64 * 1024
YES: Final = frozenset({"yes", "y", "true", "1", "ok", "approve", "approved", "on"})
NO: Final = frozenset({"no", "n", "false", "0", "reject", "rejected", "deny", "off"})
#: Choices that a refusal lists.
LISTED: Final = 10


class WrongShape(Exception):
    """The answer does not fit; the message says what does."""


def fit(kind: str, choices: Sequence[str], text: str) -> bool | str:
    """Return what the text says; raises WrongShape."""
    if len(text) > MOST_CHARACTERS:
        raise WrongShape(f"an answer has at most {MOST_CHARACTERS:,} characters, not {len(text):,}")
    if kind == "confirm":
        return _yes_or_no(text)
    if kind == "select":
        return _choice(choices, text)
    return text


def _yes_or_no(text: str) -> bool:
    word = text.strip().lower()
    if word in YES:
        return True
    if word in NO:
        return False
    raise WrongShape(f"{text[:40]!r} is neither yes nor no: answer yes or no (also y/n, true/false, approve/reject)")


def _choice(choices: Sequence[str], text: str) -> str:
    """Return the choice that is written so, else the only one but for its case, else the one of that number."""
    word = text.strip()
    if text in choices:
        return text
    if word in choices:
        return word
    alike = [choice for choice in choices if choice.strip().lower() == word.lower()]
    if len(alike) == 1:
        return alike[0]
    if word.isascii() and word.isdigit() and 1 <= int(word[:9]) <= len(choices):
        return choices[int(word[:9]) - 1]
    listed = ", ".join(f"{number} {choice}" for number, choice in enumerate(choices[:LISTED], 1))
    more = f", … ({len(choices)} in all)" if len(choices) > LISTED else ""
    raise WrongShape(f"{text[:40]!r} is none of the choices: answer one of them or its number: {listed}{more}")

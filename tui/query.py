"""The filter bar's language: words and ``field:value`` terms, all of which must match; ``!`` turns one around.

``parse state:failed took>5s !worker:3 "two words"``. A term whose field is unknown is plain text (a label may hold
``http://…``); a term that cannot be understood is reported and left out, so that typing never empties the screen.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

FieldValue = str | float | None
Sign = Literal[":", ">", "<"]

_WORD: Final = re.compile(r'!?"[^"]*"?|\S+')
_TERM: Final = re.compile(r"(?P<field>[a-z]+)(?P<sign>[:<>])(?P<value>.*)", re.DOTALL)
_DURATION: Final = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<unit>ms|s|m|h|d)?")
_UNIT_S: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, None: 1.0}
_MAX_TERMS: Final = 32


@dataclass(frozen=True, slots=True)
class Term:
    """One condition; ``field`` None looks in the row's text. ``number`` is seconds, or a plain number."""

    field: str | None
    sign: Sign
    value: str
    number: float = 0.0
    inverse: bool = False

    def holds(self, text: str, value: FieldValue) -> bool:
        """Say whether the condition holds for a row with this (lower case) text or field value."""
        return self._plain(text, value) != self.inverse

    def _plain(self, text: str, value: FieldValue) -> bool:
        if self.field is None:
            return self.value in text
        if value is None:
            return False
        if self.sign == ":":
            return self._same(value)
        if isinstance(value, str):
            return False
        return value > self.number if self.sign == ">" else value < self.number

    def _same(self, value: str | float) -> bool:
        if isinstance(value, str):
            return self.value in value.lower()
        return value == self.number


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed filter: its terms, and one sentence for every part that was not understood."""

    terms: tuple[Term, ...] = ()
    problems: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.terms)


def parse(text: str, fields: Mapping[str, str]) -> Query:
    """Parse the filter bar's text. ``fields`` maps a field to its kind: ``text``, ``number`` or ``duration``."""
    terms: list[Term] = []
    problems: list[str] = []
    for word in _WORD.findall(text.lower())[:_MAX_TERMS]:
        try:
            term = _term(word, fields)
        except ValueError as problem:
            problems.append(str(problem))
            continue
        if term is not None:
            terms.append(term)
    return Query(tuple(terms), tuple(problems))


def _term(word: str, fields: Mapping[str, str]) -> Term | None:
    inverse = len(word) > 1 and word.startswith("!")
    body = word[1:] if inverse else word
    if body.startswith('"'):
        body = body.strip('"')
        return Term(None, ":", body, inverse=inverse) if body else None
    match = _TERM.fullmatch(body)
    if match is None or match["field"] not in fields:
        return Term(None, ":", body, inverse=inverse)
    if not match["value"]:
        return None  # still being typed
    kind, value = fields[match["field"]], match["value"]
    sign: Sign = ":" if match["sign"] == ":" else ">" if match["sign"] == ">" else "<"
    if kind == "text" and sign != ":":
        raise ValueError(f"{body}: {match['field']} is text, use {match['field']}:…")
    number = 0.0 if kind == "text" else _number(body, value, kind)
    return Term(match["field"], sign, value, number, inverse)


def _number(word: str, value: str, kind: str) -> float:
    match = _DURATION.fullmatch(value)
    if match is None or (kind == "number" and match["unit"]):
        raise ValueError(f"{word}: not a {kind}" + (" (like 5s, 2m, 1h)" if kind == "duration" else ""))
    return float(match["number"]) * (_UNIT_S[match["unit"]] if kind == "duration" else 1.0)

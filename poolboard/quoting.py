"""Where in a shell command a text is put, and how it must be quoted there to stay one literal text. Pure.

An item is data: whatever it holds, the shell must never read a part of it as code. That depends on the place: between
plain words, within '…', within "…", within $(…) in "…". Places that this cannot tell for sure are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from poolboard.engine.errors import UserMistake

Place = Literal["plain", "single", "double"]

_SAFE: Final = re.compile(r"[A-Za-z0-9@%+:,./_-]+")
_NOT_UTF8: Final = re.compile("[\udc80-\udcff]+")
_SIMPLE_EXPANSION: Final = re.compile(r"\$\{[^}{'\"`$\\]*\}")
_WORD_BEFORE: Final = frozenset(" \t\n;&|(<>")


def quote(text: str) -> str:
    """Return shell text that expands to exactly ``text``, for a plain place.

    Bytes that are not UTF-8 (lone surrogates here) go through printf: what is recorded of a command is always text.
    """
    if _SAFE.fullmatch(text):
        return text
    pieces, start = [], 0
    for odd in _NOT_UTF8.finditer(text):
        octal = "".join(f"\\{ord(byte) - 0xDC00:03o}" for byte in odd.group())
        pieces += [_single(text[start : odd.start()]), f"\"$(printf '{octal}')\""]
        start = odd.end()
    pieces.append(_single(text[start:]))
    return "".join(pieces) or "''"


def quote_at(text: str, place: Place) -> str:
    """Return shell text that stands for ``text`` at a place of the command."""
    if place == "plain" or _SAFE.fullmatch(text):
        return quote(text)
    # Out of the quotes that are open here, in with the text, and into them again.
    mark = "'" if place == "single" else '"'
    return f"{mark}{quote(text)}{mark}"


def variable_at(name: str, place: Place) -> str:
    """Return shell text that expands to an environment variable at a place of the command."""
    return {"plain": f'"${{{name}}}"', "double": f"${{{name}}}", "single": f"'\"${{{name}}}\"'"}[place]


def _single(text: str) -> str:
    return "'" + text.replace("'", "'\"'\"'") + "'" if text else ""


@dataclass(frozen=True, slots=True)
class Found:
    """A replacement string of a command: from ``start`` to ``end``, at a place."""

    start: int
    end: int
    place: Place


def find(command: str, wanted: re.Pattern[str]) -> Iterator[Found]:
    """Yield the replacement strings of a shell command in order; raises UserMistake for one at an unsure place."""
    scan = _Scan(command)
    while scan.at < len(command):
        found = wanted.match(command, scan.at)
        if found is None:
            scan.step()
            continue
        if scan.unsure:
            raise UserMistake(
                f"{found.group()} after {scan.unsure} in {command!r}: it cannot be quoted for sure there; "
                "put the command in a script, or use --argv"
            )
        yield Found(found.start(), found.end(), scan.place)
        scan.at = found.end()


class _Scan:
    """A walk over a command that knows which quotes are open."""

    def __init__(self, command: str) -> None:
        self.command = command
        self.at = 0
        #: What is open, innermost last: ' " ( or nothing.
        self.open: list[str] = []
        #: What makes every later place doubtful.
        self.unsure = ""

    @property
    def place(self) -> Place:
        innermost = self.open[-1] if self.open else "("
        return {"'": "single", '"': "double", "(": "plain"}[innermost]  # type: ignore[return-value]

    def step(self) -> None:
        """Go on by one token that is no replacement string."""
        character, place = self.command[self.at], self.place
        if place == "single":
            self._single(character)
        elif character == "\\":
            if self.command.startswith("\n#", self.at + 1):
                self._doubt("a # on a continued line")
            self.at += 2
        elif character == "`":
            self._doubt("a backquote")
        elif character == "$":
            self._dollar()
        elif character == '"':
            self._toggle('"')
        elif place == "plain":
            self._plain(character)
        else:
            self.at += 1

    def _single(self, character: str) -> None:
        if character == "'":
            self.open.pop()
        self.at += 1

    def _toggle(self, mark: str) -> None:
        if self.open and self.open[-1] == mark:
            self.open.pop()
        else:
            self.open.append(mark)
        self.at += 1

    def _dollar(self) -> None:
        follows = self.command[self.at + 1 : self.at + 2]
        if follows == "(":
            self.open.append("(")
            self.at += 2
        elif follows == "{":
            simple = _SIMPLE_EXPANSION.match(self.command, self.at)
            if simple is None:
                self._doubt("a ${…} with quotes in it")
            else:
                self.at = simple.end()
        elif follows == "'" and self.place == "plain":
            self._doubt("$'…'")
        else:
            self.at += 1

    def _plain(self, character: str) -> None:
        word = self.at == 0 or self.command[self.at - 1] in _WORD_BEFORE
        if character == "'":
            self._toggle("'")
        elif character == "(":
            self.open.append("(")
            self.at += 1
        elif character == ")":
            self._close()
        elif character == "#" and word:
            end = self.command.find("\n", self.at)
            self.at = len(self.command) if end < 0 else end
        elif self.command.startswith("<<", self.at):
            self._doubt("<<")
        elif word and self.open and self.command.startswith("case", self.at):
            self._doubt("a case within parentheses")
        else:
            self.at += 1

    def _close(self) -> None:
        if self.open:
            self.open.pop()
        self.at += 1
        if self.command.startswith("#", self.at) and self.place == "plain":
            self._doubt(")#")

    def _doubt(self, what: str) -> None:
        self.unsure = self.unsure or what
        self.at += 1

"""Commands with replacement strings: ``gzip -k {}`` and an item become ``gzip -k 'a b'``. Pure text.

Texts of items may hold bytes that are not UTF-8, as lone surrogates (``os.fsdecode``).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from poolboard import quoting
from poolboard.engine.errors import UserMistake
from poolboard.quoting import Place

#: A command for the shell, or the words of one that needs none.
Command = str | list[str]

#: The environment variable that tells a command which of the ``-j`` places it has.
SLOT_VARIABLE: Final = "POOLBOARD_SLOT"
#: Linux takes no longer single argument (MAX_ARG_STRLEN), and the shell gets the command as one.
MAX_COMMAND_BYTES: Final = 128 * 1024 - 1024


def _name(text: str) -> str:
    return text.rpartition("/")[2]


def _folder(text: str) -> str:
    head, slash, _ = text.rstrip("/").rpartition("/")
    return head or slash or ("/" if text.startswith("/") else ".")


def _without_extension(text: str) -> str:
    """Cut the last extension off the name; ``.bashrc`` has none (GNU parallel leaves nothing of it)."""
    name = _name(text).lstrip(".")
    dot = name.rfind(".")
    return text[: dot - len(name)] if dot > 0 else text


_TAKEN: Final[dict[str, Callable[[str], str]]] = {
    "{}": lambda text: text,
    "{.}": _without_extension,
    "{/}": _name,
    "{//}": _folder,
    "{/.}": lambda text: _without_extension(_name(text)),
}
_NUMBER, _SLOT = "{#}", "{%}"
_COLUMN_LIKE: Final = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a word: literal text, or a replacement string at a place of the command."""

    text: str
    replaced: bool = False
    place: Place = "plain"


class Template:
    """A parsed command, for the shell (one text) or without one (``argv``: words)."""

    def __init__(self, words: Sequence[str], *, argv: bool = False, columns: Sequence[str] = ()) -> None:
        """Parse; raises UserMistake for a place that cannot be quoted and for what is nearly a column's name."""
        if not words:
            raise UserMistake("no command; write it before the items: poolboard each 'gzip -k {}' ::: *.log")
        self._argv, self._columns = argv, {f"{{{name}}}": place for place, name in enumerate(columns)}
        self._wanted = re.compile("|".join(map(re.escape, [*_TAKEN, _NUMBER, _SLOT, *self._columns])))
        texts = list(words) if argv else [" ".join(words)]
        parsed = [self._parse(text) for text in texts]
        if not any(part.replaced and self._takes(part.text) for parts in parsed for part in parts):
            if columns:
                raise UserMistake(f"the command names no column; there are {', '.join(self._columns)}")
            parsed = [self._parse(text) for text in ([*texts, "{}"] if argv else [texts[0] + " {}"])]
        self._check_columns(texts)
        self._parsed = parsed
        self.uses_slot = any(part.replaced and part.text == _SLOT for parts in parsed for part in parts)

    def render(self, values: Sequence[str], number: int) -> Command:
        """Return the command for one item, or for several taken together; raises UserMistake if it is too long."""
        command = self._words(values, number) if self._argv else self._line(self._parsed[0], values, number)
        size_bytes = len("".join(command).encode("utf-8", "surrogateescape"))
        if size_bytes > MAX_COMMAND_BYTES:
            raise UserMistake(f"item {number} makes a command of {size_bytes} bytes; {MAX_COMMAND_BYTES} are possible")
        return command

    def _parse(self, text: str) -> list[Part]:
        if self._argv:
            found = [quoting.Found(m.start(), m.end(), "plain") for m in self._wanted.finditer(text)]
        else:
            found = list(quoting.find(text, self._wanted))
        parts, start = [], 0
        for hit in found:
            parts += [Part(text[start : hit.start]), Part(text[hit.start : hit.end], True, hit.place)]
            start = hit.end
        return [part for part in (*parts, Part(text[start:])) if part.text]

    def _takes(self, text: str) -> bool:
        return text in _TAKEN or text in self._columns

    def _check_columns(self, texts: Sequence[str]) -> None:
        names = [column[1:-1] for column in self._columns]
        for name in names and _COLUMN_LIKE.findall(" ".join(texts)):
            near = [] if name in names else difflib.get_close_matches(name, names, 1, 0.75)
            if near:
                raise UserMistake(f"{{{name}}} is no column; did you mean {{{near[0]}}}?")

    def _texts(self, part: Part, values: Sequence[str], number: int) -> list[str]:
        """Return what a replacement string stands for: a text per value, one for a column or the number."""
        if part.text in self._columns:
            return [values[self._columns[part.text]]]
        return [str(number)] if part.text == _NUMBER else [_TAKEN[part.text](value) for value in values]

    def _line(self, parts: Sequence[Part], values: Sequence[str], number: int) -> str:
        pieces = []
        for part in parts:
            if not part.replaced:
                pieces.append(part.text)
            elif part.text == _SLOT:
                pieces.append(quoting.variable_at(SLOT_VARIABLE, part.place))
            else:
                texts = self._texts(part, values, number)
                pieces.append(" ".join(quoting.quote_at(text, part.place) for text in texts))
        return "".join(pieces)

    def _words(self, values: Sequence[str], number: int) -> Command:
        words: list[str] = []
        for parts in self._parsed:
            if len(parts) == 1 and parts[0].text in _TAKEN:
                words += self._texts(parts[0], values, number)
            else:
                words.append("".join(self._literal(part, values, number) for part in parts))
        if not self.uses_slot and all(_is_text(word) for word in words):
            return words
        # Bytes that are not UTF-8 cannot be recorded as they are, nor a place that is known only when it runs: then a
        # shell puts in exactly those, and becomes the program.
        return "exec " + " ".join(quoting.quote(word).replace(_UNKNOWN_SLOT, _SLOT_IN_WORD) for word in words)

    def _literal(self, part: Part, values: Sequence[str], number: int) -> str:
        if not part.replaced:
            return part.text
        if part.text == _SLOT:
            return _UNKNOWN_SLOT
        return " ".join(self._texts(part, values, number))


#: Stands in a word for the place until the word is quoted. No item holds a NUL byte.
_UNKNOWN_SLOT: Final = "\0"
_SLOT_IN_WORD: Final = f"'\"${{{SLOT_VARIABLE}}}\"'"


def _is_text(word: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in word)

"""Whom a message is for: a path of runs, or a pattern of such paths, and perhaps stages of them. Pure.

``child-3`` or ``3`` is child 3, wherever it is; ``child-3/child-9`` too, but only below child 3; ``child-3/fetch`` its
stage ``fetch``, ``child-3/fetch-*`` its stages whose names begin so. ``child-*`` is every child of the root,
``child-*/**`` those and everything below them, ``**`` the root as well. The empty path is the root run. A lone star is
always a run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

#: Deeper than runs can nest.
SEGMENTS_LIMIT: Final = 16
STAGE_CHARACTERS: Final = 200
_CHILD: Final = re.compile(r"child-([0-9*]{1,24})")
_NUMBER: Final = re.compile(r"[0-9]{1,12}")


class BadAddress(ValueError):
    """The address cannot be understood; the message says what would be."""


@dataclass(frozen=True, slots=True)
class Address:
    """``segments`` are ``child-3``, ``child-*``, ``*`` or ``**``.

    ``direct`` is set if only one run, or one stage of it, can be meant; everything else is a pattern, which stays until
    the root ends.
    """

    segments: tuple[str, ...]
    direct: int | None
    stage: str | None = None

    @property
    def target(self) -> str:
        """The run's part as text, as it is recorded."""
        return "/".join(self.segments)

    @property
    def shown(self) -> str:
        """The whole as text."""
        return "/".join((*(self.segments or ("root",)), *([self.stage] if self.stage else [])))


def parse(text: str) -> Address:
    """Return the address that the text means; raises BadAddress."""
    words = text.strip("/").split("/") if text.strip("/") else []
    if words[:1] == ["root"]:
        words = words[1:]
    if len(words) > SEGMENTS_LIMIT or "" in words:
        raise BadAddress(f"{text[:80]!r} is no path of runs: write child-3, child-*/** or child-3/STAGE")
    stage = None
    if words and _segment(words[-1]) is None:
        stage = words.pop()
        if len(stage) > STAGE_CHARACTERS:
            raise BadAddress(f"{stage[:80]!r}: a stage's name has {STAGE_CHARACTERS} characters at most")
    segments: list[str] = []
    for word in words:
        segment = _segment(word)
        if segment is None:
            raise BadAddress(f"{word[:80]!r} in {text[:80]!r} is no run: write child-3, child-*, * or **")
        if segment != "**" or segments[-1:] != ["**"]:
            segments.append(segment)
    plain = not any("*" in word for word in (*segments, stage or ""))
    return Address(tuple(segments), number_of(segments[-1]) if plain and segments else 0 if plain else None, stage)


def is_pattern(stage: str | None) -> bool:
    """Say whether the stage's part of an address can mean several stages."""
    return stage is not None and "*" in stage


def path_of(numbers: tuple[int, ...]) -> tuple[str, ...]:
    """Return a run's path from the numbers of the runs that lead to it, without the root."""
    return tuple(f"child-{n}" for n in numbers)


def number_of(segment: str) -> int:
    """Return the n of ``child-n``."""
    return int(segment.removeprefix("child-"))


def _segment(word: str) -> str | None:
    if word in ("*", "**"):
        return word
    if _NUMBER.fullmatch(word):
        return f"child-{int(word)}"
    if (found := _CHILD.fullmatch(word)) is None:
        return None
    return word if "*" in found[1] else f"child-{int(found[1])}"

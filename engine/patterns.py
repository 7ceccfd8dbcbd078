"""Patterns of paths, indexed: which of thousands mean a path, without a look at the others. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

Path = tuple[str, ...]


@dataclass(slots=True)
class _Node:
    """Where patterns with a common beginning meet. Globs stand under what they begin with before their first star."""

    literal: dict[str, _Node] = field(default_factory=dict)
    globs: dict[str, dict[str, _Node]] = field(default_factory=dict)
    deep: _Node | None = None
    here: dict[int, None] = field(default_factory=dict)


class Patterns:
    """Message numbers by the pattern they are for. ``checks`` counts the patterns' parts that were compared."""

    __slots__ = ("_root", "_size", "checks")

    def __init__(self) -> None:
        self._root = _Node()
        self._size = 0
        self.checks = 0

    def __len__(self) -> int:
        return self._size

    def add(self, number: int, pattern: Path) -> None:
        """Put a number under its pattern."""
        node = self._root
        for segment in pattern:
            node = _child(node, segment)
        self._size += number not in node.here
        node.here[number] = None

    def matching(self, path: Path) -> list[int]:
        """Return the numbers whose patterns mean this path, in order."""
        found: dict[int, None] = {}
        self._walk(self._root, path, 0, found)
        return sorted(found)

    def _walk(self, node: _Node, path: Path, at: int, found: dict[int, None]) -> None:
        if node.deep is not None:
            self.checks += 1
            for rest in range(at, len(path) + 1):
                self._walk(node.deep, path, rest, found)
        if at == len(path):
            found.update(node.here)
            return
        segment = path[at]
        if (child := node.literal.get(segment)) is not None:
            self.checks += 1
            self._walk(child, path, at + 1, found)
        if node.globs:
            for length in range(len(segment) + 1):
                for glob, child in node.globs.get(segment[:length], {}).items():
                    self.checks += 1
                    if _glob(glob).fullmatch(segment):
                        self._walk(child, path, at + 1, found)


def means(pattern: Path, path: Path) -> bool:
    """Say whether one pattern means one path, without an index."""
    if not pattern:
        return not path
    if pattern[0] == "**":
        return any(means(pattern[1:], path[at:]) for at in range(len(path) + 1))
    return bool(path) and _glob(pattern[0]).fullmatch(path[0]) is not None and means(pattern[1:], path[1:])


def _child(node: _Node, segment: str) -> _Node:
    if segment == "**":
        node.deep = node.deep or _Node()
        return node.deep
    if "*" not in segment:
        return node.literal.setdefault(segment, _Node())
    return node.globs.setdefault(segment.partition("*")[0], {}).setdefault(segment, _Node())


@lru_cache(maxsize=4096)
def _glob(segment: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, segment.split("*"))))

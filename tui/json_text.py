"""JSON text laid out for reading. Tokens stay as they were recorded: nothing is parsed, so nothing can change."""

from __future__ import annotations

import re
from typing import Final

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+|"')
#: Longer texts stay on one (wrapped) line.
_LIMIT: Final = 262_144


def indent(text: str) -> str:
    """Return ``text`` with a line per item and two spaces per level; empty brackets stay together."""
    if len(text) > _LIMIT or not text.lstrip().startswith(("{", "[")):
        return text
    tokens = _TOKEN.findall(text)
    out: list[str] = []
    depth = 0
    for index, token in enumerate(tokens):
        following = tokens[index + 1] if index + 1 < len(tokens) else ""
        if token in "{[":
            if following in ("}", "]"):
                out.append(token)
                continue
            depth += 1
            out.append(token + "\n" + "  " * depth)
        elif token in "}]":
            if index and tokens[index - 1] in ("{", "["):
                out.append(token)
                continue
            depth = max(0, depth - 1)
            out.append("\n" + "  " * depth + token)
        elif token == ",":
            out.append(",\n" + "  " * depth)
        else:
            out.append(": " if token == ":" else token)
    return "".join(out)

"""What makes two errors the same: the type and the words of the message, without what differs from child to child.

Pure. ``ValueError: no 'id' in /data/7.json (line 12)`` reads ``ValueError: no '…' in … (line #)``.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from typing import Final

#: Of an error only this much is looked at: what differs behind it does not part a group.
LIMIT: Final = 400
_ID_LETTERS: Final = 6

#: In this order: a quoted part may hold a path, a path a number. No pattern can go over the same text twice.
_RULES: Final = (
    (re.compile(r"'[^'\n]{0,200}'(?!\w)"), "'…'"),
    (re.compile(r'"[^"\n]{0,200}"'), '"…"'),
    (re.compile(r"`[^`\n]{0,200}`"), "`…`"),
    (re.compile(r"\b[a-z][a-z0-9+.-]{1,15}://\S+", re.IGNORECASE), "…"),
    (re.compile(r"(?<![\w…])(?:[A-Za-z]:\\|\.{0,2}/|~/)[^\s:,;()'\"]+"), "…"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE), "#"),
    (re.compile(r"\b0x[0-9a-f]+\b", re.IGNORECASE), "#"),
    (re.compile(r"\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{12,}\b", re.IGNORECASE), "#"),
    (re.compile(r"\d+(?:[.,:]\d+)*"), "#"),
)
_SPACE: Final = re.compile(r"\s+")


@lru_cache(maxsize=4096)
def fingerprint(error: str) -> str:
    """Return the error's first line with numbers, paths, addresses and quoted parts replaced."""
    head = error[: LIMIT * 2].strip()
    text = head.split("\n", 1)[0][:LIMIT]
    for pattern, instead in _RULES:
        text = pattern.sub(instead, text)
    return _SPACE.sub(" ", text).strip() or "no message"


@lru_cache(maxsize=4096)
def group_id(error: str) -> str:
    """Return the short name of the error's group, as the filter takes it: ``group:3f2a91``."""
    return hashlib.sha256(fingerprint(error).encode("utf-8", "replace")).hexdigest()[:_ID_LETTERS]

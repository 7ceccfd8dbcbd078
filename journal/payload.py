"""What may be recorded, and when two recorded values are the same.

Payloads are JSON text; this file knows their size, their identity and nothing of their meaning.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Final

from .errors import BadPayload

MAX_PAYLOAD_BYTES: Final = 1024 * 1024
#: Half a sha256: 16 bytes in an index instead of 32, and still no accident in the age of the universe.
DIGEST_BYTES: Final = 16
#: Members of a checkpoint that say when it was recorded, not what.
RECORD_TIMES: Final = ("started_at", "completed_at")


def object_bytes(text: str, what: str) -> bytes:
    """Return the UTF-8 of what looks like a JSON object; raises BadPayload naming the limit.

    What stands between the braces is left to SQLite's json_valid, which looks at it 10 times faster.
    """
    data = value_bytes(text, what)
    if data[:1] != b"{" or data[-1:] != b"}":
        raise BadPayload(f"{what} is not a JSON object: {text[:60]!r}")
    return data


def value_bytes(text: str, what: str) -> bytes:
    """Return the UTF-8 of a JSON value; raises BadPayload if it is empty, too large or not Unicode."""
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise not_unicode(error, text, what) from None
    if not data or b"\0" in data:
        raise not_json(text, what)
    if len(data) > MAX_PAYLOAD_BYTES:
        raise BadPayload(
            f"{what} has {len(data):,} bytes; the limit is {MAX_PAYLOAD_BYTES:,}: "
            "write it to a file and record the file's path"
        )
    return data


def text_bytes(text: str, what: str) -> bytes:
    """Return the UTF-8 of any text; raises BadPayload for a lone surrogate, as in a file name that is not UTF-8."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise not_unicode(error, text, what) from None


def not_unicode(error: UnicodeEncodeError, text: str, what: str) -> BadPayload:
    """Return the error for a text that UTF-8 cannot hold."""
    return BadPayload(f"{what} is not valid Unicode at character {error.start}: {text[:60]!r}")


def not_json(text: str, what: str) -> BadPayload:
    """Return the error for a text that is not JSON (NaN, infinities and nesting over 1,000 levels are not)."""
    return BadPayload(f"{what} is not JSON: {text[:60]!r}")


def digest(*parts: bytes) -> bytes:
    """Return the identity of some parts in order. A NUL divides them, which JSON text never holds."""
    return sha256(b"\0".join(parts)).digest()[:DIGEST_BYTES]


def key_digest(key: str) -> bytes:
    """Return a replay key's identity; raises BadPayload if the key is not Unicode."""
    return sha256(text_bytes(key, "key")).digest()[:DIGEST_BYTES]


def same_recorded_value(recorded: str, again: str) -> bool:
    """Tell whether two checkpoints differ at most in when they were recorded.

    A time may differ only where both have a number: one that is missing on one side is a difference.
    """
    if recorded == again:
        return True
    try:
        first, second = json.loads(recorded), json.loads(again)
    except (ValueError, RecursionError):
        return False
    if not isinstance(first, dict) or not isinstance(second, dict):
        return False
    for name in RECORD_TIMES:
        if _is_number(first.get(name)) and _is_number(second.get(name)):
            second[name] = first[name]
    return _canonical(first) == _canonical(second)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def as_text(text: str | None) -> str | None:
    """Return what a person said as the journal can keep it: never a lone surrogate."""
    return None if text is None else text.encode("utf-8", "replace").decode()

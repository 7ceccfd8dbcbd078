"""Takes secrets out of bytes that come in pieces: one that was cut over two writes is found too."""

from __future__ import annotations

import re
from collections.abc import Iterable

from . import secrets


class Masking:
    """One stream. What could be the beginning of a secret is kept back until more is known; ``rest`` gives it out."""

    __slots__ = ("_held", "_longest", "_pattern", "_values")

    def __init__(self, values: Iterable[bytes]) -> None:
        # Longest first: of two secrets that begin alike the whole of the longer one goes.
        self._values = sorted(set(values), key=len, reverse=True)
        self._pattern = re.compile(b"|".join(map(re.escape, self._values)))
        self._longest = len(self._values[0])
        self._held = b""

    def take(self, data: bytes) -> bytes:
        """Return what can be shown by now."""
        text, at = self._held + data, 0
        shown = bytearray()
        open_at = self._open_at(text, at)
        while (found := self._pattern.search(text, at)) is not None and found.start() < open_at:
            shown += text[at : found.start()] + secrets.MASK.encode()
            at = found.end()
            if at > open_at:
                open_at = self._open_at(text, at)
        self._held = text[open_at:]
        return bytes(shown + text[at:open_at])

    def rest(self) -> bytes:
        """Return what was kept back, at the end of the stream."""
        held, self._held = self._held, b""
        return self._pattern.sub(secrets.MASK.encode(), held)

    def _open_at(self, text: bytes, at: int) -> int:
        """Return where a secret may have begun that is not all there yet; the text's end for nowhere."""
        for start in range(max(at, len(text) - self._longest + 1), len(text)):
            tail = text[start:]
            if any(len(value) > len(tail) and value.startswith(tail) for value in self._values):
                return start
        return len(text)


def masking() -> Masking | None:
    """Return a masking of what this process knows; None where it knows of no secret."""
    values = secrets.known()
    return Masking(values) if values else None

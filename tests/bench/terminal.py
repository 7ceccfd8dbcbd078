"""A terminal that a dashboard believes in: a real pty, read frame by frame, and the text of each frame.

It says that it knows synchronized output (mode 2026), so the dashboard marks where each frame begins and ends.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from dataclasses import dataclass

from .figure import Unmeasured
from .scene import Scene

COLUMNS, LINES = 160, 48
READ_BYTES = 65_536
#: More than any frame; a frame that never ends must not fill the memory.
FRAME_LIMIT_BYTES = 16 * 1024 * 1024

_ASKED, _ANSWER = b"\x1b[?2026$p", b"\x1b[?2026;2$y"
_FRAME_BEGINS, _FRAME_ENDS = b"\x1b[?2026h", b"\x1b[?2026l"
_MOVES = re.compile(r"\x1b\[\d+;\d+H")
_CODES = re.compile(r"\x1b\[[0-9;:?<>=]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


@dataclass(frozen=True, slots=True)
class Frame:
    """What one frame painted, without its colours, and when its last byte was read (``time.perf_counter``)."""

    text: str
    at_s: float


class Terminal:
    """A command in a pty of 160 x 48 cells."""

    def __init__(self, here: Scene, *words: str) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        self.started_s = time.perf_counter()
        self._process = subprocess.Popen(
            here.words(*words), stdin=slave, stdout=slave, stderr=slave, env=here.environment, start_new_session=True
        )
        os.close(slave)
        here.own(self._process)
        self._unread = b""
        self._asked = False

    @property
    def pid(self) -> int:
        """The process in it."""
        return self._process.pid

    def press(self, key: str) -> float:
        """Send a key and return when."""
        at_s = time.perf_counter()
        os.write(self._master, key.encode())
        return at_s

    def frame(self, limit_s: float) -> Frame | None:
        """Return the next whole frame, None if none comes within the limit; raises Unmeasured if the command ended."""
        until = time.perf_counter() + limit_s
        while _FRAME_ENDS not in self._unread:
            left_s = until - time.perf_counter()
            if left_s <= 0 or not select.select([self._master], [], [], left_s)[0]:
                return None
            self._take_in()
        at_s = time.perf_counter()
        whole, _, self._unread = self._unread.partition(_FRAME_ENDS)
        return Frame(plain(whole.rpartition(_FRAME_BEGINS)[2]), at_s)

    def first_frames(self, *words: str, limit_s: float) -> list[Frame]:
        """Return the first frame that holds each of the words, in whatever order they come.

        Raises Unmeasured if one does not come within the limit.
        """
        found: dict[str, Frame] = {}
        until = time.perf_counter() + limit_s
        while len(found) < len(words):
            frame = self.frame(until - time.perf_counter())
            if frame is None:
                missing = " and ".join(repr(word) for word in words if word not in found)
                raise Unmeasured(f"no frame with {missing} within {limit_s:.0f} s")
            for word in words:
                if word in frame.text:
                    found.setdefault(word, frame)
        return [found[word] for word in words]

    def _take_in(self) -> None:
        try:
            data = os.read(self._master, READ_BYTES)
        except OSError:  # Linux says EIO when the last one on the other side has gone
            data = b""
        if not data:
            raise Unmeasured(f"the dashboard ended: {plain(self._unread).strip()[-200:] or 'it said nothing'}")
        self._unread += data
        if len(self._unread) > FRAME_LIMIT_BYTES:
            raise Unmeasured(f"a frame of more than {FRAME_LIMIT_BYTES} bytes")
        if not self._asked and _ASKED in self._unread:
            self._asked = True
            os.write(self._master, _ANSWER)

    def close(self) -> None:
        """Leave the dashboard (the run goes on) and hang up."""
        if self._process.poll() is None:
            self._process.terminate()
        os.close(self._master)
        self._process.wait(timeout=30)


def plain(painted: bytes) -> str:
    """Return the text of terminal output; where the cursor was sent somewhere a line begins."""
    return _CODES.sub("", _MOVES.sub("\n", painted.decode("utf-8", "replace")))

"""How long a key takes to be seen while a real run goes on: from the key's byte to the frame that shows it.

What is timed: a ``j`` or ``k`` is written to the dashboard's terminal, a real pty, and the clock stops at the last byte
of the first frame in which *another child* is under the cursor than before. The cursor belongs to a child, not to a
line, so frames that only bring news do not count. That holds everything but the terminal's own drawing: the kernel's
pty, decoding the key, the event loop behind whatever it was doing, painting, encoding, writing. The next key is sent
only when the last was seen, after a random pause (20 a second on average).
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from random import Random

from poolboard.engine.monitor import Monitor

from .figure import Figure, Section, Unmeasured, percentile
from .scene import scene
from .terminal import Terminal

#: How the dashboard marks the row under the cursor; the child's number follows its glyph.
CURSOR = "\u258c "
_UNDER_CURSOR = re.compile(CURSOR + r"\S +([\d,]+) ")
WORKERS = 2
KEYS_PER_S = 20.0
START_LIMIT_S = 60.0
#: A key that moved nothing in this time was pressed at an end of the list, or was lost.
ANSWER_LIMIT_S = 2.0
CTRL_D = "\x04"
#: Keys between two looks at whether the run still goes on.
_STRETCH = 20


@dataclass(slots=True)
class Typist:
    """Presses keys at a terminal and keeps how long each took to be seen."""

    terminal: Terminal
    random: Random
    answered_ms: list[float] = field(default_factory=list)
    unanswered: int = 0
    _child: str = ""
    _key: str = "j"

    def begin(self) -> None:
        """Wait until the list of children is there, and go into its middle: at its top the cursor follows the top."""
        self._child = under_cursor(self.terminal.frame_with(CURSOR, START_LIMIT_S).text) or ""
        self.terminal.press(CTRL_D)
        if self._seen(START_LIMIT_S) is None:
            raise Unmeasured("key to frame: the list of children did not move")

    def press(self, count: int) -> None:
        """Press so many keys, each at a random time after the last was seen."""
        for _ in range(count):
            self._rest(self.random.expovariate(KEYS_PER_S))
            pressed_s = self.terminal.press(self._key)
            seen_s = self._seen(ANSWER_LIMIT_S)
            if seen_s is None:
                self.unanswered += 1
                self._key = "k" if self._key == "j" else "j"
                continue
            self.answered_ms.append(1000 * (seen_s - pressed_s))
            self._key = self.random.choice("jk")

    def _rest(self, pause_s: float) -> None:
        """Read what the dashboard paints of itself meanwhile, as a terminal does."""
        until = time.perf_counter() + pause_s
        while (left_s := until - time.perf_counter()) > 0:
            self._note(self.terminal.frame(left_s))

    def _seen(self, limit_s: float) -> float | None:
        """Return when another child was under the cursor, None if none was within the limit."""
        before, until = self._child, time.perf_counter() + limit_s
        while (left_s := until - time.perf_counter()) > 0:
            at_s = self._note(self.terminal.frame(left_s))
            if at_s is not None and self._child != before:
                return at_s
        return None

    def _note(self, frame: object) -> float | None:
        return None


async def measure(presses: int = 300, idle_presses: int = 100) -> Section:
    """Return the figures of so many keys while the demo runs, and of some after it."""
    raise NotImplementedError

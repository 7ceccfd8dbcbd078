"""How long a key takes to be seen while a real run goes on: from the key's byte to the frame that shows it.

What is timed: a ``j`` or ``k`` is written to the dashboard's terminal, a real pty, and the clock stops at the last byte
of the first frame in which *another child* is under the cursor than before. The cursor belongs to a child, not to a
line, so frames that only bring news do not count. That holds everything but the terminal's own drawing: the kernel's
pty, decoding the key, the event loop behind whatever it was doing, painting, encoding, writing. The next key is sent
only when the last was seen, after a random pause (20 a second on average).
"""

from __future__ import annotations

import asyncio
import re
import time
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

from poolboard.engine.errors import EngineError
from poolboard.engine.monitor import Monitor

from .figure import Figure, Section, Unmeasured, percentile
from .scene import POLL_S, run_of, scene
from .terminal import COLUMNS, LINES, Frame, Terminal

#: How the dashboard marks the row under the cursor; the child's number follows its glyph.
CURSOR = "\u258c "
_UNDER_CURSOR = re.compile(CURSOR + r"\S +([\d,]+) ")
WORKERS = 2
KEYS_PER_S = 20.0
START_LIMIT_S = 60.0
STOP_LIMIT_S = 60.0
#: A key that moved nothing in this time was pressed at an end of the list, or was lost.
ANSWER_LIMIT_S = 5.0
CTRL_D = "\x04"
#: Keys between two looks at whether the run still goes on.
STRETCH = 20


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
        first = self.terminal.first_frames(CURSOR, limit_s=START_LIMIT_S)[0]
        self._child = under_cursor(first.text) or ""
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

    def _note(self, frame: Frame | None) -> float | None:
        if frame is None:
            return None
        self._child = under_cursor(frame.text) or self._child
        return frame.at_s


def under_cursor(text: str) -> str | None:
    """Return the number of the child under the cursor, if the frame painted that row."""
    found = _UNDER_CURSOR.findall(text)
    return str(found[-1]) if found else None


async def measure(presses: int = 300, idle_presses: int = 100) -> Section:
    """Return the figures of so many keys while the demo runs, and of some once it is stopped."""
    with scene() as here:
        terminal = Terminal(here, "demo", "--workers", str(WORKERS))
        monitor = await Monitor.open(str(here.journal))
        try:
            typist = Typist(terminal, Random(7))
            typist.begin()
            run_id = await monitor.resolve(None)
            busy = await _while_running(typist, monitor, run_id, presses)
            await _stopped(monitor, run_id)
            typist.answered_ms.clear()
            typist.press(idle_presses)
            idle = tuple(typist.answered_ms)
        finally:
            await monitor.close()
            terminal.close()
    return _section(busy, idle, typist.unanswered)


async def _while_running(typist: Typist, monitor: Monitor, run_id: str, presses: int) -> tuple[float, ...]:
    counted: tuple[float, ...] = ()
    while len(counted) < presses:
        typist.press(min(STRETCH, presses - len(counted)))
        if (await run_of(monitor, run_id)).ended_at is not None:
            break  # some of this stretch was pressed at a run that had ended: it does not count
        counted = tuple(typist.answered_ms)
        if typist.unanswered > presses:
            raise Unmeasured(f"key to frame: {typist.unanswered} keys moved nothing")
    return counted


async def _stopped(monitor: Monitor, run_id: str) -> None:
    """Stop the run, so that nothing but the dashboard is left, and wait until it is."""
    with suppress(EngineError):  # it may have ended by itself just now
        await monitor.stop(run_id, "bench", "the keys are measured", now=True)
    try:
        async with asyncio.timeout(STOP_LIMIT_S):
            while (await monitor.status(run_id)).coordinator.alive:
                await asyncio.sleep(POLL_S)
    except TimeoutError:
        raise Unmeasured(f"key to frame, nothing going on: the run did not stop in {STOP_LIMIT_S:.0f} s") from None


def _section(busy: tuple[float, ...], idle: tuple[float, ...], unanswered: int) -> Section:
    if min(len(busy), len(idle)) < 2:
        raise Unmeasured(f"key to frame: {len(busy)} keys were seen while the run went on, {len(idle)} after it")
    figures = [
        Figure(f"key to frame, {when}, p{percent}", "ms", (percentile(values, percent),))
        for when, values in (("demo running", busy), ("run stopped", idle))
        for percent in (50, 99)
    ]
    return Section(
        "keys",
        f"j and k, {KEYS_PER_S:.0f} a second at random, in a pty of {COLUMNS} x {LINES} cells, while the demo runs on "
        f"{WORKERS} workers x 4 slots, and once it is stopped",
        tuple(figures),
        (
            f"{len(busy)} keys while it ran and {len(idle)} after; {unanswered} moved nothing within "
            f"{ANSWER_LIMIT_S:.0f} s (as at an end of the list) and are not in the figures",
            "from writing the key to the last byte of the first frame with another child under the cursor",
        ),
    )

"""Work that holds the interpreter: not even the heartbeat thread gets a word in."""

from __future__ import annotations

import re
import time

from poolboard import Context, stage, workflow


@stage
def hold(duration_s: float) -> None:
    """Match a pattern that backtracks without end, again and again: the regex engine never lets go of the GIL."""
    until = time.monotonic() + duration_s
    length = 18
    while time.monotonic() < until:
        began = time.monotonic()
        re.match(r"(a+)+b", "a" * length)
        if time.monotonic() - began < duration_s / 3:
            length += 1


@workflow
async def one(ctx: Context, duration_s: float) -> str:
    await ctx.stage(hold, duration_s)
    return "done in one start" if ctx.attempt == 1 else "started again"

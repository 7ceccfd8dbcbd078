"""Short children that say how many of them are in their worker at once."""

from __future__ import annotations

import os
import threading
import time

from poolboard import Context, stage, workflow

_inside: set[int] = set()
_lock = threading.Lock()


@stage
def enter(n: int, work_ms: float) -> list[int]:
    """Return the process, and how many were inside with this one."""
    with _lock:
        _inside.add(n)
        beside = len(_inside)
    time.sleep(work_ms / 1000)
    with _lock:
        _inside.discard(n)
    return [os.getpid(), beside]


@workflow
async def visit(ctx: Context, n: int, work_ms: float) -> list[int]:
    return await ctx.stage(enter, n, work_ms)


@workflow
async def crowd(ctx: Context, n: int, work_ms: float = 1.0, first_ms: float | None = None) -> list[list[int]]:
    """Visits of ``work_ms``, the first one of ``first_ms``."""
    items = [{"n": i, "work_ms": work_ms if i or first_ms is None else first_ms} for i in range(n)]
    return await ctx.map(visit, items)

"""Children that leave a trace: one line per effect in a file, written at once and synced."""

from __future__ import annotations

import asyncio
import os
import time

from poolboard import Context, stage, workflow


def leave_trace(path: str, line: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(descriptor, f"{line}\n".encode())
    os.fsync(descriptor)
    os.close(descriptor)


@stage
def square(i: int, k: int, delay_s: float, trace: str) -> int:
    time.sleep(delay_s)
    leave_trace(trace, f"{i}:{k}")
    return i * i


@workflow
async def one(ctx: Context, i: int, steps: int, delay_s: float, trace: str) -> int:
    value = 0
    for k in range(steps):
        value = await ctx.stage(square, i, k, delay_s, trace)
    return value


@workflow
async def many(ctx: Context, n: int, trace: str, steps: int = 1, delay_s: float = 0.0) -> int:
    items = [{"i": i, "steps": steps, "delay_s": delay_s, "trace": trace} for i in range(n)]
    return sum(await ctx.map(one, items))


@workflow
async def waves(ctx: Context, trace: str, delay_s: float) -> int:
    """Three waves of ten, each of which starts when the one before has ended."""
    total = 0
    for wave in range(3):
        items = [{"i": i, "steps": 1, "delay_s": delay_s, "trace": trace} for i in range(10 * wave, 10 * wave + 10)]
        total += sum(await ctx.map(one, items))
    return total


@workflow
async def branch(ctx: Context, name: str, leaves: int, levels: int) -> int:
    if levels == 0:
        return 1
    below = [{"name": f"{name}.{i}", "leaves": leaves, "levels": levels - 1} for i in range(leaves)]
    return sum(await ctx.map(branch, below))


@workflow
async def tree(ctx: Context, branches: int, leaves: int) -> int:
    below = [{"name": str(i), "leaves": leaves, "levels": 1} for i in range(branches)]
    return sum(await ctx.map(branch, below))


@workflow
async def too_deep(ctx: Context) -> int:
    return await ctx.child(branch, "a", 1, 3)


@workflow
async def forked(ctx: Context, i: int, trace: str) -> int:
    """A stage, then several at once, then several at once again: the second ones wait for the first ones' records."""
    total = await ctx.stage(square, i, 0, 0.0, trace)
    for k in (1, 2, 3):
        ctx.usage(rounds=1)
        total += sum(await asyncio.gather(*(ctx.stage(square, i, 10 * k + j, 0.0, trace) for j in range(4))))
    return total


@workflow
async def many_forked(ctx: Context, n: int, trace: str) -> int:
    return sum(await ctx.map(forked, [{"i": i, "trace": trace} for i in range(n)]))

"""Children that charge what they use, or fail, or are tried again and again."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

from poolboard import Context, stage, workflow
from tests.engine.workflows.squares import leave_trace


@stage
def ask(i: int, folder: str) -> int:
    leave_trace(f"{folder}/trace.txt", f"ask:{i}")
    return 10 * i


@stage
def wait(folder: str, name: str) -> int:
    while not Path(folder, name).exists():
        time.sleep(0.01)
    return 0


@workflow
async def asks(ctx: Context, i: int, folder: str) -> int:
    """Charges by the workflow, in a thread and in the loop; then waits for the gate."""
    tokens = await ctx.stage(ask, i, folder)
    ctx.usage(tokens=tokens, calls=1)

    @stage
    def in_thread(i: int) -> int:
        ctx.usage(seconds=0.5)
        return i

    @stage
    async def in_loop(i: int) -> int:
        ctx.usage(seconds=0.25)
        return i

    await ctx.stage(in_thread, i)
    await ctx.stage(in_loop, i)
    await ctx.stage(wait, folder, "open")
    return tokens


@workflow
async def group(ctx: Context, first: int, folder: str) -> int:
    return sum(await ctx.map(asks, [{"i": i, "folder": folder} for i in range(first, first + 2)]))


@workflow
async def groups(ctx: Context, folder: str) -> int:
    return sum(await ctx.map(group, [{"first": 1, "folder": folder}, {"first": 3, "folder": folder}]))


@workflow
async def waits(ctx: Context, folder: str, name: str) -> int:
    await ctx.stage(wait, folder, name)
    return await ctx.stage(wait, folder, "open")


@workflow
async def fails_late(ctx: Context, i: int, folder: str) -> int:
    """Fails, the first three at once, the others when the gate is open."""
    if i > 2:
        await ctx.stage(wait, folder, "open")
    return await ctx.stage(may_fail, i, folder)


@workflow
async def fails(ctx: Context, n: int, folder: str) -> int:
    """One child after the other, all of which fail."""
    items = [{"i": i, "folder": folder} for i in range(n)]
    results = await ctx.map(fails_late, items, concurrency=1, on_error="collect")
    return sum(not result.ok for result in results)


@workflow(budget={"duration_s": 0.05})
async def hasty(ctx: Context, folder: str) -> int:
    return await ctx.child(waits, folder, "late")


@workflow
async def bounded(ctx: Context, folder: str) -> list[int]:
    """Children that use up what they may use: of tokens, of failures below them, of time."""
    pair = [{"first": 1, "folder": folder}, {"first": 3, "folder": folder}]
    groups, failed, late = await asyncio.gather(
        ctx.map(group, pair, budget={"tokens": 60}),
        ctx.map(fails, [{"n": 5, "folder": folder}], budget={"failures": 2}),
        ctx.child(hasty, folder),
    )
    return [*groups, *failed, late]


@stage
def may_fail(i: int, folder: str) -> int:
    leave_trace(f"{folder}/trace.txt", f"{i}")
    if not Path(folder, "mended").exists():
        raise OSError(f"no luck with {i}")
    return i


@workflow
async def one(ctx: Context, i: int, folder: str) -> int:
    return await ctx.stage(may_fail, i, folder)


@workflow
async def failing(ctx: Context, n: int, folder: str, concurrency: int = 2) -> int:
    items = [{"i": i, "folder": folder} for i in range(n)]
    results = await ctx.map(one, items, concurrency=concurrency, on_error="collect")
    return sum(result.value or 0 for result in results)


@workflow
async def bad_usage(ctx: Context) -> str:
    told = []
    amounts: Any
    for amounts in ({"tokens": -1}, {"tokens": float("nan")}, {"failures": 1}, {"tokens": "7"}):
        try:
            ctx.usage(**amounts)
        except (ValueError, TypeError) as error:
            told.append(f"{type(error).__name__}: {error}")
    return "; ".join(told)


@stage(retries=3, backoff_s=0.01)
def hopeless(folder: str) -> int:
    leave_trace(f"{folder}/trace.txt", "try")
    raise OSError("still broken")


@stage(retries=1, backoff_s=3600)
def patient(folder: str) -> int:
    leave_trace(f"{folder}/trace.txt", "try")
    raise OSError("try me in an hour")


@workflow
async def tries(ctx: Context, folder: str) -> int:
    return await ctx.stage(hopeless, folder)


@workflow
async def tries_later(ctx: Context, folder: str) -> int:
    return await ctx.stage(patient, folder)

"""Children that do nothing: what is left is what running them costs."""

from __future__ import annotations

from poolboard import Context, stage, workflow


@stage
def nothing(n: int) -> int:
    return n


@workflow
async def child(ctx: Context, n: int, stages: int) -> int:
    for step in range(stages):
        await ctx.stage(nothing, n + step)
    return n


@workflow
async def children(ctx: Context, count: int, stages: int) -> int:
    return len(await ctx.map(child, [{"n": n, "stages": stages} for n in range(count)]))

"""Children with large results."""

from __future__ import annotations

import time

from poolboard import Context, stage, workflow


@stage
def block(i: int, size_bytes: int, delay_s: float) -> str:
    time.sleep(delay_s)
    return f"{i:08d}".ljust(size_bytes, "x")


@workflow
async def one(ctx: Context, i: int, size_bytes: int, delay_s: float) -> str:
    return await ctx.stage(block, i, size_bytes, delay_s)


@workflow
async def many(ctx: Context, n: int, size_bytes: int, delay_s: float) -> int:
    items = [{"i": i, "size_bytes": size_bytes, "delay_s": delay_s} for i in range(n)]
    return sum(len(text) for text in await ctx.map(one, items))

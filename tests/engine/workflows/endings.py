"""Runs that end as they are told to."""

from __future__ import annotations

from pathlib import Path

from poolboard import Context, stage, workflow
from poolboard.engine.errors import Blocked


@stage
def mended(path: str) -> bool:
    if not Path(path).exists():
        raise OSError("not mended yet")
    return True


@workflow
async def one(ctx: Context, path: str) -> bool:
    return await ctx.stage(mended, path)


@workflow
async def ending(ctx: Context, how: str, path: str = "") -> int:
    if how == "blocked":
        raise Blocked("a person has to look")
    if how == "failed":
        raise ValueError("it went wrong")
    if how == "mended":
        await ctx.child(one, path)
    return 7

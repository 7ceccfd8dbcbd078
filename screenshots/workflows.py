"""Small workflows whose runs stand beside the survey in the list of runs."""

from __future__ import annotations

import time
from pathlib import Path

from poolboard import Context, stage, workflow


@stage
def measure(number: int) -> int:
    time.sleep(0.01)
    return number * number


@stage
def measure_slowly(number: int) -> int:
    time.sleep(0.5)
    return number * number


@stage
def write_report(path: str) -> int:
    return Path(path).write_text("report")


@workflow
async def square(ctx: Context, number: int) -> int:
    return await ctx.stage(measure, number)


@workflow
async def slow_square(ctx: Context, number: int) -> int:
    return await ctx.stage(measure_slowly, number)


@workflow
async def digest(ctx: Context, count: int) -> int:
    return sum(await ctx.map(square, range(count)))


@workflow
async def nightly(ctx: Context, count: int) -> int:
    await ctx.map(square, range(count))
    return await ctx.stage(write_report, "/no/such/folder/report.txt")


@workflow
async def crawl(ctx: Context, count: int) -> int:
    return sum(await ctx.map(slow_square, range(count)))

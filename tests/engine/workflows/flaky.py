"""Work that fails until a file says that the cause is gone."""

from __future__ import annotations

from pathlib import Path

from poolboard import Context, stage, workflow


@stage
def first(i: int, trace: str) -> int:
    with Path(trace).open("a") as file:
        file.write(f"first:{i}\n")
    return i


@stage
def second(i: int, mended: str, trace: str) -> int:
    with Path(trace).open("a") as file:
        file.write(f"second:{i}\n")
    if i % 3 == 0 and not Path(mended).exists():
        raise OSError(f"no luck with {i}")
    return i


@stage
def total(values: list[int]) -> int:
    return sum(values)


@workflow
async def one(ctx: Context, i: int, mended: str, trace: str) -> int:
    await ctx.stage(first, i, trace)
    return await ctx.stage(second, i, mended, trace)


@workflow
async def collecting(ctx: Context, n: int, mended: str, trace: str) -> int:
    items = [{"i": i, "mended": mended, "trace": trace} for i in range(n)]
    results = await ctx.map(one, items, on_error="collect")
    return await ctx.stage(total, [result.value for result in results if result.value is not None])


@workflow
async def raising(ctx: Context, n: int, mended: str, trace: str) -> int:
    return await ctx.stage(total, await ctx.map(one, [{"i": i, "mended": mended, "trace": trace} for i in range(n)]))


@workflow
async def middle(ctx: Context, n: int, mended: str, trace: str) -> int:
    return sum(await ctx.map(one, [{"i": n + i, "mended": mended, "trace": trace} for i in range(3)]))


@workflow
async def nested(ctx: Context, mended: str, trace: str) -> int:
    results = await ctx.map(middle, [{"n": n, "mended": mended, "trace": trace} for n in (0, 10)], on_error="collect")
    return sum(result.value or 0 for result in results)

"""Children that share scarce things. What holds something writes when it comes in and when it goes out."""

from __future__ import annotations

import asyncio
from pathlib import Path

from poolboard import Context, observe, stage, workflow


def note(trace: str, text: str) -> None:
    with Path(trace).open("a") as file:
        file.write(text + "\n")


async def held(trace: str, name: str, gate: str) -> str:
    note(trace, f"in:{name}")
    while gate and not Path(gate).exists():
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.005)
    note(trace, f"out:{name}")
    return name


@stage(needs={"gpu": 1})
async def use(trace: str, name: str, gate: str = "") -> str:
    return await held(trace, name, gate)


@stage
async def free(trace: str, name: str) -> str:
    note(trace, f"free:{name}")
    return name


@workflow
async def user(ctx: Context, trace: str, name: str, gate: str = "") -> str:
    return await ctx.stage(use, trace, name, gate)


@workflow
async def other(ctx: Context, trace: str, name: str) -> str:
    return await ctx.stage(free, trace, name)


@workflow(limits={"gpu": 2})
async def users(ctx: Context, n: int, trace: str, gate: str = "") -> int:
    items = [{"trace": trace, "name": str(i), "gate": gate} for i in range(n)]
    return len(await ctx.map(user, items))


@workflow
async def keeper(ctx: Context, trace: str, name: str, gate: str) -> str:
    """Holds the gpu outside of any stage, without a slot."""
    async with ctx.limit("gpu"):
        note(trace, f"in:{name}")
        while not Path(gate).exists():
            await ctx.sleep(0.05)
        note(trace, f"out:{name}")
    return name


@workflow(limits={"gpu": 1})
async def one_slot(ctx: Context, trace: str, gate: str) -> list[str]:
    """One keeps the gpu, one waits for it, one needs nothing."""
    kept = asyncio.ensure_future(ctx.child(keeper, trace, "keeper", gate))
    while not Path(trace).exists():
        await ctx.sleep(0.05)
    waits = asyncio.ensure_future(ctx.child(user, trace, "waiter"))
    needs_nothing = await ctx.child(other, trace, "free")
    note(gate, "open")
    return [needs_nothing, await kept, await waits]


@workflow(limits={"gpu": 1, "disk": 1})
async def knotted(ctx: Context) -> str:
    async with ctx.limit("gpu"):
        try:
            async with ctx.limit("gpu"):
                return "never"
        except Exception as error:
            return f"{type(error).__name__}: {error}"


@workflow(limits={"gpu": 1})
async def unheard_of(ctx: Context) -> str:
    try:
        async with ctx.limit("tpu"):
            return "never"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@stage(needs={"gpu": 1})
def told_off(trace: str) -> str:
    observe(retry_after_s=3600.0)
    note(trace, "told off")
    return "told"


@workflow
async def one_told_off(ctx: Context, trace: str) -> str:
    return await ctx.stage(told_off, trace)


@workflow(limits={"gpu": "1000/s"})
async def told_to_wait(ctx: Context, trace: str) -> int:
    await ctx.child(one_told_off, trace)
    return len(await ctx.map(user, [{"trace": trace, "name": "late"}]))

"""The workflows that are measured: children whose stages do nothing, so that all that is left is what running costs."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from poolboard import Context, stage, workflow


@stage
def nothing(n: int) -> int:
    """Return what it got: a plain function, as most stages are."""
    return n


@workflow
async def one_stage(ctx: Context, n: int) -> int:
    """One recorded stage."""
    return await ctx.stage(nothing, n)


@workflow
async def three_stages(ctx: Context, n: int) -> int:
    """Three recorded stages, each waiting for the one before."""
    for step in range(3):
        n = await ctx.stage(nothing, n + step)
    return n


@workflow
async def of_one_stage(ctx: Context, count: int) -> int:
    """A fan-out of so many children of one stage."""
    return len(await ctx.map(one_stage, list(range(count)), label=lambda n: f"item-{n}"))


@workflow
async def of_three_stages(ctx: Context, count: int) -> int:
    """A fan-out of so many children of three stages."""
    return len(await ctx.map(three_stages, list(range(count))))


@workflow
async def many_stages(ctx: Context, n: int, stages: int) -> int:
    """So many recorded stages, each waiting for the one before."""
    for step in range(stages):
        await ctx.stage(nothing, n + step)
    return n


@workflow
async def of_many_stages(ctx: Context, count: int, stages: int) -> int:
    """A fan-out of so many children of so many stages."""
    return len(await ctx.map(many_stages, [{"n": n, "stages": stages} for n in range(count)]))


@stage(timeout_s=120)
def opened(gate: str) -> str:
    """Return once somebody has made the file: a dashboard that looks on."""
    while not Path(gate).exists():
        time.sleep(0.01)
    return gate


@workflow
async def of_one_stage_at_a_sign(ctx: Context, count: int, gate: str) -> int:
    """A fan-out that begins when the gate is opened."""
    await ctx.stage(opened, gate)
    return len(await ctx.map(one_stage, list(range(count)), label=lambda n: f"item-{n}"))


@workflow
async def one_stage_or_gate(ctx: Context, n: int, gate: str) -> int:
    """One recorded stage; that of a negative number ends once the gate is opened."""
    return await ctx.stage(nothing, n) if n >= 0 else len(await ctx.stage(opened, gate))


@workflow
async def of_one_stage_and_a_gate(ctx: Context, count: int, gate: str) -> int:
    """A fan-out of so many children of one stage, and one that waits for a sign."""
    numbers = [-1, *range(count)]
    return len(await ctx.map(one_stage_or_gate, [{"n": n, "gate": gate} for n in numbers]))


@workflow
async def of_children_in_a_row(ctx: Context, count: int, gate: str) -> int:
    """A fan-out of so many children, one at a time, of which the first waits for a sign."""
    numbers = [-1, *range(count - 1)]
    return len(await ctx.map(one_stage_or_gate, [{"n": n, "gate": gate} for n in numbers], concurrency=1))


@stage
async def rest(n: int, rest_s: float) -> int:
    """Hold a slot and compute nothing."""
    await asyncio.sleep(rest_s)
    return n


@workflow
async def resting(ctx: Context, n: int, rest_s: float) -> int:
    """One stage that holds its slot for a while."""
    return await ctx.stage(rest, n, rest_s)


@workflow
async def of_resting(ctx: Context, count: int, rest_s: float) -> int:
    """A fan-out of so many children that rest."""
    return len(await ctx.map(resting, [{"n": n, "rest_s": rest_s} for n in range(count)]))

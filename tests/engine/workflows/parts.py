"""Children of two stages, the second behind a gate file; groups of them; children that fail while a file is there."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

from poolboard import Context, stage, workflow
from tests.engine.workflows.squares import leave_trace


@stage
def fetch(i: int, folder: str) -> int:
    leave_trace(f"{folder}/trace.txt", f"fetch:{i}:{os.getpid()}")
    return i


@stage
def store(i: int, folder: str) -> int:
    """End once the file ``open`` is there; the test makes it."""
    while not Path(folder, "open").exists():
        time.sleep(0.01)
    leave_trace(f"{folder}/trace.txt", f"store:{i}:{os.getpid()}")
    return i


@stage
async def patient(i: int, folder: str) -> int:
    """The same, and it can be cut off."""
    leave_trace(f"{folder}/trace.txt", f"began:{i}")
    while not Path(folder, "open").exists():
        await asyncio.sleep(0.01)
    leave_trace(f"{folder}/trace.txt", f"ended:{i}")
    return i


@stage
def fragile(i: int, folder: str) -> int:
    leave_trace(f"{folder}/trace.txt", f"fragile:{i}")
    if i % 2 and Path(folder, "broken").exists():
        raise ValueError(f"broken {i % 4}")
    return i


@workflow
async def both(ctx: Context, i: int, folder: str) -> int:
    await ctx.stage(fetch, i, folder)
    return await ctx.stage(store, i, folder)


@workflow
async def all_of_them(ctx: Context, n: int, folder: str) -> int:
    results = await ctx.map(both, [{"i": i, "folder": folder} for i in range(n)], on_error="collect")
    return sum(result.value or 0 for result in results)


@workflow
async def patient_one(ctx: Context, i: int, folder: str) -> int:
    await ctx.stage(fetch, i, folder)
    return await ctx.stage(patient, i, folder)


@workflow
async def patients(ctx: Context, n: int, folder: str) -> int:
    return sum(await ctx.map(patient_one, [{"i": i, "folder": folder} for i in range(n)]))


@workflow
async def group(ctx: Context, g: int, folder: str) -> int:
    return len(await ctx.map(both, [{"i": 10 * g + i, "folder": folder} for i in range(3)]))


@workflow
async def groups(ctx: Context, n: int, folder: str) -> int:
    results = await ctx.map(group, [{"g": g, "folder": folder} for g in range(n)], on_error="collect")
    return sum(result.value or 0 for result in results)


@workflow
async def fragile_or_gate(ctx: Context, i: int, folder: str) -> int:
    return await ctx.stage(store if i == 0 else fragile, i, folder)


@workflow
async def some_fail(ctx: Context, n: int, folder: str) -> int:
    """Children that may fail, in one call with one that waits for the gate."""
    items = [{"i": i, "folder": folder} for i in range(n)]
    found = await ctx.map(fragile_or_gate, items, on_error="collect")
    return sum(result.value or 0 for result in found)

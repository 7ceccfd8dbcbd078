"""Workflows that send and read messages, and leave a trace of what they read."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

from poolboard import Context, Message, StageInterrupted, inbox, stage, workflow
from tests.engine.workflows.squares import leave_trace


@stage
async def wait_for(gate: str) -> str:
    while not Path(gate).exists():
        await asyncio.sleep(0.01)
    return Path(gate).name


@stage
def wait_in_thread(gate: str) -> str:
    while not Path(gate).exists():
        time.sleep(0.01)
    return Path(gate).name


@stage
async def listen(gate: str, trace: str) -> list[object]:
    """Say that it runs, wait for the gate, and return what was said to this stage."""
    leave_trace(trace, f"listening:{len(inbox())}")
    while not Path(gate).exists():
        await asyncio.sleep(0.01)
    return [message.value for message in inbox()]


async def _heard(gate: str, trace: str, name: str) -> list[object]:
    leave_trace(trace, name)
    while not Path(gate).exists():
        await asyncio.sleep(0.01)
    return [message.value for message in inbox()]


@stage
async def hear_first(gate: str, trace: str) -> list[object]:
    return await _heard(gate, trace, "first")


@stage
async def hear_second(gate: str, trace: str) -> list[object]:
    return await _heard(gate, trace, "second")


@workflow
async def hearer(ctx: Context, gate: str, trace: str) -> list[list[object]]:
    """Two stages whose names begin alike; what neither reads would be in the inbox."""
    first = await ctx.stage(hear_first, gate, trace)
    second = await ctx.stage(hear_second, f"{gate}.2", trace)
    return [first, second, [message.value for message in await ctx.inbox()]]


@workflow
async def hearers(ctx: Context, gate: str, trace: str) -> list[list[list[object]]]:
    return await ctx.map(hearer, [{"gate": gate, "trace": trace}])


@stage
def note(line: str, trace: str) -> None:
    leave_trace(trace, line)


@workflow
async def reader(ctx: Context, name: str, count: int, trace: str) -> list[object]:
    """Read so many messages, one by one, with a stage after each."""
    found: list[object] = []
    async for message in ctx.messages():
        found.append(message.value)
        await ctx.stage(note, f"{name}:{message.value}", trace)
        if len(found) == count:
            break
    return found


@workflow
async def readers(ctx: Context, names: list[str], count: int, trace: str) -> list[list[object]]:
    return await ctx.map(reader, [{"name": name, "count": count, "trace": trace} for name in names])


@workflow
async def looker(ctx: Context, gate: str) -> list[list[object]]:
    """Look into the inbox before a stage and after it."""
    before = await ctx.inbox()
    await ctx.stage(wait_for, gate)
    after = await ctx.inbox()
    await ctx.stage(wait_for, f"{gate}.2")
    last = await ctx.inbox()
    return [[message.value for message in part] for part in (before, after, last)]


@workflow
async def lookers(ctx: Context, gates: list[str], concurrency: int) -> list[list[list[object]]]:
    return await ctx.map(looker, gates, concurrency=concurrency)


@workflow
async def interruptible(ctx: Context, gate: str, trace: str, threaded: bool = False) -> list[object]:
    """Return what interrupted the stage, and what the inbox held then."""
    found: list[object] = []
    try:
        found.append(await ctx.stage(wait_in_thread if threaded else wait_for, gate))
    except StageInterrupted as interrupted:
        found.append(f"{interrupted.stage} interrupted")
    found += [message.value for message in await ctx.inbox()]
    await ctx.stage(note, "interrupted", trace)
    await ctx.stage(wait_for, f"{gate}.2")
    return found


@workflow
async def both(ctx: Context, gate: str) -> list[object]:
    """Read while a stage runs."""
    found: list[object] = []

    async def read() -> None:
        async for message in ctx.messages(timeout_s=30):
            found.append(message.value)
            if message.value == "last":
                return

    reading = asyncio.create_task(read())
    await ctx.stage(wait_for, gate)
    await reading
    return found


@workflow
async def listener(ctx: Context, gate: str, trace: str) -> list[list[object]]:
    await ctx.stage(wait_for, gate)
    heard = await ctx.stage(listen, f"{gate}.2", trace)
    return [heard, [message.value for message in await ctx.inbox()]]


@workflow
async def listeners(ctx: Context, gate: str, trace: str) -> list[list[list[object]]]:
    return await ctx.map(listener, [{"gate": gate, "trace": trace}])


@workflow
async def quiet(ctx: Context, gate: str) -> int:
    await ctx.stage(wait_for, gate)
    return 1


@workflow
async def sender(ctx: Context, gate: str) -> list[object]:
    """Send to a child that never reads, let it end, and return what is heard of that."""
    child = asyncio.create_task(ctx.child(quiet, gate))
    await asyncio.sleep(0)
    await ctx.send(1, "are you there?")
    await ctx.stage(note, "sent", f"{gate}.trace")
    await child
    found: list[object] = []
    async for message in ctx.messages(timeout_s=30):
        found.append([message.undeliverable is not None, message.value])
        break
    await ctx.stage(wait_for, f"{gate}.2")
    found += [message.value for message in await ctx.inbox()]
    return found


@workflow
async def ping(ctx: Context, i: int, peers: int, rounds: int) -> int:
    """Tell everybody something in each round, and hear all of it."""
    for k in range(rounds):
        await ctx.send("child-*/**", {"from": i, "round": k})
    heard = set()
    async for message in ctx.messages():
        heard.add((message.value["from"], message.value["round"]))
        if len(heard) == peers * rounds:
            break
    return len(heard)


@workflow
async def chatter(ctx: Context, peers: int, rounds: int) -> int:
    items = [{"i": i, "peers": peers, "rounds": rounds} for i in range(peers)]
    return sum(await ctx.map(ping, items))


@workflow
async def asker(ctx: Context, gate: str, name: str) -> object:
    """Ask the root, and return what it says."""
    await ctx.send("root", f"{name}?")
    async for message in ctx.messages():
        return message.value
    return None


@workflow
async def oracle(ctx: Context, gate: str) -> list[object]:
    """Answer two asks that came together in turn, with a third on its way that was not read yet."""
    asking = asyncio.create_task(ctx.map(asker, [{"gate": gate, "name": name} for name in "ab"]))
    heard: list[object] = []
    while len(heard) < 2:
        heard += [message.value async for message in _first(ctx)]
    await ctx.stage(wait_for, gate)  # somebody asks meanwhile
    try:
        for value in heard:
            await ctx.reply(f"{value}!")
        await ctx.reply("nobody asked")
    except ValueError as nobody:
        heard.append(str(nobody))
    return [heard, await asking, [message.value for message in await ctx.inbox()]]


async def _first(ctx: Context) -> AsyncIterator[Message]:
    async for message in ctx.messages():
        yield message
        return

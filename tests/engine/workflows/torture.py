"""Work that tells when it did what, so that a checker can hold it against the journal."""

from __future__ import annotations

import os
import time

from poolboard import Context, stage, workflow

#: The same line as `tell` writes, by a process of its own; it takes as long as the stage does.
COMMAND = 'echo "did $1 $2 $(($(date +%s%N) / 1000000))" >> "$3"; exec sleep 0.01'


def tell(path: str, word: str, i: int, k: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(descriptor, f"{word} {i} {k} {time.time_ns() // 1_000_000}\n".encode())
    os.fsync(descriptor)
    os.close(descriptor)


@stage
def effect(i: int, k: int, trace: str) -> int:
    tell(trace, "did", i, k)
    time.sleep(0.01)
    return i


@workflow
async def one(ctx: Context, i: int, steps: int, trace: str) -> int:
    """Steps that tell what they did; every eighth child does its later ones by a shell."""
    for k in range(steps):
        if k and i % 8 == 0:
            await ctx.command("shell", ["/bin/sh", "-c", COMMAND, "sh", str(i), str(k), trace])
        else:
            await ctx.stage(effect, i, k, trace)
        tell(trace, "acked", i, k)
    return i


@workflow
async def half(ctx: Context, start: int, count: int, steps: int, trace: str) -> list[int]:
    items = [{"i": start + i, "steps": steps, "trace": trace} for i in range(count)]
    return [result.value for result in await ctx.map(one, items, on_error="collect") if result.value is not None]


@workflow
async def all_of_it(ctx: Context, count: int, steps: int, trace: str) -> list[int]:
    """Two nested halves, so that parents wait, are adopted and are replayed too."""
    items = [{"start": s, "count": count // 2, "steps": steps, "trace": trace} for s in (0, count // 2)]
    return sorted(i for part in await ctx.map(half, items) for i in part)

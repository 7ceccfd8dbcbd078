"""A chain of two stages; the first can be held up in the middle of its output."""

from __future__ import annotations

import time
from pathlib import Path

from poolboard import Context, stage, workflow
from tests.engine.workflows.squares import leave_trace

PARTS = 3


@stage
def write(folder: str) -> list[str]:
    """Write three parts to the log and to a file; while ``stop`` is there, come no further than the second."""
    whole, growing = Path(folder, "whole.txt"), Path(folder, "growing.txt")
    parts = []
    with growing.open("w") as file:
        for number in range(1, PARTS + 1):
            parts.append(f"part {number}/{PARTS}")
            print(parts[-1], flush=True)
            print(parts[-1], file=file, flush=True)
            while number == 2 and Path(folder, "stop").exists():
                Path(folder, "half").touch()
                time.sleep(0.01)
    growing.rename(whole)
    return parts


@stage
def count(parts: list[str], folder: str) -> int:
    read = Path(folder, "whole.txt").read_text().splitlines()
    leave_trace(f"{folder}/trace.txt", f"count:{len(parts)}:{len(read)}")
    return len(parts)


@workflow
async def two_steps(ctx: Context, folder: str) -> int:
    return await ctx.stage(count, await ctx.stage(write, folder), folder)

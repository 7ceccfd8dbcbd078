"""Two steps: the first writes a file in three parts, a moment apart; the second counts what it was handed."""

from __future__ import annotations

import time
from pathlib import Path

from poolboard import Context, stage, workflow

PARTS = 3


@stage
def write(folder: str) -> list[str]:
    """Write one part after the other to the log and to a file that gets its name when it is whole."""
    lines = []
    with Path(folder, "whole.tmp").open("w") as file:
        for number in range(1, PARTS + 1):
            line = f"part {number}/{PARTS}"
            print(line, file=file, flush=True)
            print(line, flush=True)
            lines.append(line)
            Path(folder, f"at {number}").touch()
            while number == 2 and not Path(folder, "open").exists():
                time.sleep(0.01)
    Path(folder, "whole.tmp").rename(Path(folder, "whole"))
    return lines


@stage
def count(parts: list[str]) -> int:
    """Return how many parts came."""
    return len(parts)


@workflow
async def chain(ctx: Context, folder: str) -> int:
    return await ctx.stage(count, await ctx.stage(write, folder))

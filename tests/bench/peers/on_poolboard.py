"""Poolboard itself, through its command line, as a person runs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from poolboard import Context, stage, workflow
from tests.bench.peers import rig

#: Sleeping items ask for many at once; with short ones, more slots than workers keep both sides of the wire busy.
SHORT_SLOTS, CPU_SLOTS, KILL_SLOTS = 8, 2, 1
WORKERS = 2


@stage
def work(kind: str, n: int, step: int) -> int:
    """One item, or one step of it."""
    return rig.work(kind, n, step)


@workflow
async def item(ctx: Context, kind: str, n: int) -> int:
    """One item: a recorded stage, or three."""
    for step in range(rig.STEPS if kind == "steps" else 1):
        await ctx.stage(work, kind, n, step)
    return n


@workflow
async def items(ctx: Context, kind: str, count: int) -> int:
    """All items."""
    rig.begun()
    found = await ctx.map(item, [{"kind": kind, "n": n} for n in range(count)], on_error="collect")
    told = sum(result.ok for result in found)
    rig.ended(told)
    return told


def main() -> None:
    """Run the workflow, and wait for its end."""
    kind, count, width = rig.asked()
    slots = {"sleep": width // WORKERS, "cpu": CPU_SLOTS, "kill": KILL_SLOTS}.get(kind, SHORT_SLOTS)
    program = [str(Path(sys.executable).with_name("poolboard")), "run", f"{__file__}:items", "--headless", "--json"]
    inputs = ["--input", f"kind={kind}", "--input", f"count={count}"]
    size = ["--workers", str(WORKERS), "--slots", str(slots), "--journal", str(rig.data() / "journal.sqlite")]
    subprocess.run([*program, *inputs, *size], stdout=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    main()

"""Programs as stages, retries and sleeps."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from poolboard import Context, StageError, stage, workflow


@workflow
async def programs(ctx: Context) -> list[str]:
    told = []
    result = await ctx.command("hello", ["printf", "hello %s", "you"], capture=True)
    told.append(result.stdout or "")
    result = await ctx.command("grep", "exit 1", expect=(0, 1))
    told.append(str(result.exit_code))
    result = await ctx.command("secret", "printf $WORD", env={"WORD": "S3CR-77-VALUE"}, capture=True)
    told.append(str(len(result.stdout or "")))
    for name, argv, timeout_s in (
        ("bad", "echo to the log; exit 3", None),
        ("missing", ["/no/such/program"], None),
        ("slow", "sleep 60 & sleep 60", 0.3),
        ("killed", "kill -9 $$", None),
    ):
        try:
            await ctx.command(name, argv, timeout_s=timeout_s)
        except StageError as error:
            told.append(f"{error.type}: {error.message}")
    return told


@workflow
async def orphan_maker(ctx: Context, pids: str) -> int:
    await ctx.command("background", f"sleep 300 & echo $! >> {pids}; setsid sleep 300 & echo $! >> {pids}; sleep 300")
    return 0


@workflow
async def own_children(ctx: Context, pids: str) -> int:
    return await ctx.stage(starts_a_process, pids)


@stage
def starts_a_process(pids: str) -> int:
    child = subprocess.Popen(["sleep", "300"], start_new_session=True)
    with Path(pids).open("a") as file:
        file.write(f"{child.pid}\n")
    return child.wait()


@stage(retries=3, backoff_s=0.05)
def third_time(counter: str) -> int:
    with Path(counter).open("a") as file:
        file.write("x")
    tries = len(Path(counter).read_text())
    print(f"try {tries}")
    if tries < 3:
        raise OSError("not yet")
    return tries


@stage(timeout_s=0.3)
def stuck(i: int) -> int:
    if i % 4 == 0:
        time.sleep(120)
    return i


@workflow
async def maybe_stuck(ctx: Context, i: int) -> int:
    return await ctx.stage(stuck, i)


@workflow
async def many_stuck(ctx: Context, n: int) -> list[str]:
    return [result.error or "fine" for result in await ctx.map(maybe_stuck, range(n), on_error="collect")]


@workflow
async def retried(ctx: Context, counter: str) -> int:
    return await ctx.stage(third_time, counter)


@workflow
async def nap(ctx: Context, duration_s: float) -> float:
    began = time.monotonic()
    await ctx.sleep(duration_s)
    return time.monotonic() - began


@workflow
async def naps(ctx: Context, count: int, duration_s: float) -> int:
    return len(await ctx.map(nap, [duration_s] * count))


@stage
def talk() -> None:
    print("from print")
    print("to stderr", file=sys.stderr)
    os.write(1, b"past Python\n")
    sys.stdout.write("no newline")


@workflow
async def talker(ctx: Context) -> None:
    ctx.log("outside", count=1)
    await ctx.stage(talk)
    await ctx.command("echo", "echo from a program; printf '\\377\\376'")

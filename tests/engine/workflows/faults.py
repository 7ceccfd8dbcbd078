"""Children that end in every way that Python knows."""

from __future__ import annotations

import os
import sys
import time

from poolboard import Context, StageError, stage, workflow


class Mute(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


@stage
def end(how: str) -> str:
    match how:
        case "exit 0":
            sys.exit(0)
        case "exit 3":
            sys.exit(3)
        case "interrupt":
            raise KeyboardInterrupt
        case "generator":
            raise GeneratorExit
        case "stop iteration":
            raise StopIteration("over")
        case "mute":
            raise Mute
        case "nan":
            return float("nan")  # type: ignore[return-value]
        case _ if how.startswith("nap"):
            time.sleep(0.3)
        case "os._exit":
            os._exit(0)
        case "kill":
            os.kill(os.getpid(), 9)
    return how


@stage
async def end_on_the_loop(how: str) -> str:
    return end.function(how)


@stage
def score() -> dict[str, float]:
    return {"score": float("nan")}


@workflow
async def one(ctx: Context, how: str) -> str:
    if how == "in the workflow":
        sys.exit(4)
    if how == "score":
        return str(await ctx.stage(score))
    if how.startswith("async "):
        return await ctx.stage(end_on_the_loop, how.removeprefix("async "))
    return await ctx.stage(end, how)


@workflow
async def all_ways(ctx: Context, ways: list[str]) -> list[list[str]]:
    results = await ctx.map(one, ways, on_error="collect")
    return [[how, result.value or "", result.error or ""] for how, result in zip(ways, results, strict=True)]


@workflow
async def caught(ctx: Context) -> str:
    try:
        await ctx.stage(end, "exit 3")
    except StageError as error:
        return f"caught {error.type}"
    return "not caught"


@workflow
async def raising_map(ctx: Context) -> int:
    return len(await ctx.map(one, ["fine", "exit 3", "fine too"]))

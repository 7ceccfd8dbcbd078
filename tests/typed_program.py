"""A user's program as type checkers see it; never run. mypy checks it with everything else, and a test checks it alone.

``warn_unused_ignores`` is on: a line that is marked as wrong and is not would be an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_type

import poolboard
from poolboard import Context, Handle, Result, RunView, stage, workflow


@dataclass
class Measure:
    lines: int


@stage(retries=2)
def measure(path: str) -> Measure:
    return Measure(len(path))


async def fetch(number: int) -> str:
    return str(number)


def halve(number: int) -> float:
    return number / 2


@workflow
async def one_file(ctx: Context, path: str) -> Measure:
    return await ctx.stage(measure, path)


@workflow
async def many_files(ctx: Context, paths: list[str], most: int = 10) -> dict[str, Measure]:
    return dict(zip(paths, await ctx.map(one_file, paths[:most]), strict=True))


async def program() -> None:
    handle = poolboard.run(many_files, ["a", "b"], most=2)
    assert_type(handle, Handle[dict[str, Measure]])
    assert_type(await handle.result(), dict[str, Measure])
    assert_type(handle.wait(timeout_s=5), dict[str, Measure])
    assert_type(handle.status(), RunView)
    assert_type(handle.pause(why="lunch"), RunView)
    assert_type(poolboard.map(halve, [1, 2]), list[float])
    assert_type(poolboard.map(fetch, range(3)), list[str])
    assert_type(poolboard.map(measure, ["a"]), list[Measure])
    assert_type(poolboard.map(halve, [1], on_error="collect"), list[Result[float]])
    assert_type(poolboard.Pool(workers=2, name="half").map(halve, [1]), list[float])
    assert_type(poolboard.Pool(journal="j.sqlite").run(one_file, "a"), Handle[Measure])

    poolboard.run(many_files, [1, 2])  # type: ignore[list-item]
    poolboard.run(many_files, ["a"], least=2)  # type: ignore[call-arg]
    poolboard.run(halve, 2)  # type: ignore[arg-type]
    poolboard.map(halve, ["a"])  # type: ignore[arg-type]
    poolboard.rum(many_files, ["a"])  # type: ignore[attr-defined]

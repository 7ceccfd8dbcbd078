"""``map(function)``: the two workflows that run a plain function for every item, made where its file is loaded.

They are part of the function's file: its digest is theirs, and any worker that has the file can make them.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable
from typing import Any, Final

from .authoring import DEFAULT_CONCURRENCY, MAX_DEPTH, Stage, Workflow
from .authoring import stage as mark_stage
from .context import Context
from .errors import UserMistake

_NAME: Final = re.compile(r"map\(([^\W\d]\w*)\)")


def name_for(function: str) -> str:
    """Return the name of the root workflow that maps a function."""
    return f"map({function})"


def function_in(workflow: str) -> str | None:
    """Return the name of the function that a workflow of this name maps; None for any other workflow."""
    found = _NAME.fullmatch(workflow)
    return found[1] if found else None


def as_stage(function: Callable[..., Any]) -> Stage[..., Any]:
    """Return the function as a stage; raises UserMistake for what cannot be one."""
    if isinstance(function, Workflow):
        raise UserMistake(f"{function.name} is a workflow: map it in a workflow of yours, with ctx.map")
    return function if isinstance(function, Stage) else mark_stage(function)


def mapped(function: Callable[..., Any]) -> tuple[Workflow[..., Any], Workflow[..., Any]]:
    """Return the root workflow and the one of an item; raises UserMistake, TypeError for odd parameters."""
    step = as_stage(function)
    parameters = list(inspect.signature(step.function).parameters.values())
    if not parameters:
        raise UserMistake(f"{step.name} takes no parameter, so it cannot take an item")
    hints = typing.get_type_hints(step.function, include_extras=True)

    async def one(ctx: Context, **given: Any) -> Any:
        return await ctx.stage(step, **given)

    one.__name__ = one.__qualname__ = step.name
    one.__annotations__ = {"ctx": Context, **hints}
    first = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    # What the item's workflow takes and returns is what the function takes and returns.
    one.__signature__ = inspect.Signature([first, *parameters])  # type: ignore[attr-defined]
    item = Workflow[..., Any](one, name=step.name, max_depth=MAX_DEPTH, concurrency=DEFAULT_CONCURRENCY)

    async def root(ctx: Context, items: list[Any], concurrency: int | None, collect: bool) -> int:
        if collect:
            return sum(result.ok for result in await ctx.map(item, items, concurrency=concurrency, on_error="collect"))
        return len(await ctx.map(item, items, concurrency=concurrency))

    root.__annotations__ = {
        "ctx": Context,
        "items": list[Any],
        "concurrency": int | None,
        "collect": bool,
        "return": int,
    }
    name = name_for(step.name)
    return Workflow(root, name=name, max_depth=MAX_DEPTH, concurrency=DEFAULT_CONCURRENCY), item

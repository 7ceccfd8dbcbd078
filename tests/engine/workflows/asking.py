"""Runs that ask a person."""

from __future__ import annotations

from pathlib import Path

from poolboard import AskTimeout, Context, stage, workflow


def note(trace: str, text: str) -> None:
    with Path(trace).open("a") as file:
        file.write(text + "\n")


@stage
def step(trace: str, text: str) -> str:
    note(trace, text)
    return text


@workflow
async def three_kinds(ctx: Context, trace: str) -> list[object]:
    await ctx.stage(step, trace, "before")
    sure = await ctx.ask.confirm("Deploy?", default=False)
    where = await ctx.ask.select("Where to?", ["Staging", "Production"])
    why = await ctx.ask.text("Why?\nIn a line or two.")
    await ctx.stage(step, trace, "after")
    return [sure, where, why]


@workflow
async def child(ctx: Context, trace: str, name: str) -> str:
    answer = await ctx.ask.text(f"What of {name}?")
    await ctx.stage(step, trace, f"{name}={answer}")
    return answer


@workflow
async def other(ctx: Context, trace: str) -> str:
    return await ctx.stage(step, trace, "other")


@workflow
async def many_ask(ctx: Context, trace: str, names: list[str]) -> list[str]:
    """As many ask as there are; then one that asks nothing needs the slot."""
    items = [{"trace": trace, "name": name} for name in names]
    answers = await ctx.map(child, items)
    return answers


@workflow
async def one_asks_one_works(ctx: Context, trace: str) -> list[str]:
    import asyncio

    asked = asyncio.ensure_future(ctx.child(child, trace, "slot"))
    await ctx.sleep(0.3)
    done = await ctx.child(other, trace)
    return [await asked, done]


@workflow
async def impatient(ctx: Context, trace: str) -> list[object]:
    taken = await ctx.ask.select("Which?", ["a", "b"], default="b", timeout_s=0.2)
    try:
        await ctx.ask.confirm("Still there?", timeout_s=0.2)
    except AskTimeout as error:
        return [taken, str(error)]
    return [taken]


@workflow
async def wrongly(ctx: Context) -> list[str]:
    told: list[str] = []
    for ask in (
        lambda: ctx.ask.select("Which?", []),
        lambda: ctx.ask.select("Which?", ["a", "a"]),
        lambda: ctx.ask.select("Which?", ["a"], default="b"),
        lambda: ctx.ask.text("  "),
        lambda: ctx.ask.confirm("Sure?", timeout_s=-1),
        lambda: ctx.ask.text("\udc80"),
    ):
        try:
            await ask()
        except ValueError as error:
            told.append(str(error))
    return told

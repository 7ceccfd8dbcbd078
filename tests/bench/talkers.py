"""Children that send each other patterns, and read what they get."""

from __future__ import annotations

from poolboard import Context, workflow


@workflow
async def talker(ctx: Context, i: int, count: int, rounds: int) -> int:
    """Send so many messages to the child behind this one, and read as many from the one before."""
    behind = (i + 1) % count + 1
    for k in range(rounds):
        await ctx.send(f"child-{behind}/**", {"from": i, "round": k})
    heard = 0
    async for _ in ctx.messages():
        heard += 1
        if heard == rounds:
            break
    return heard


@workflow
async def of_talkers(ctx: Context, count: int, rounds: int) -> int:
    """A ring of children."""
    return sum(await ctx.map(talker, [{"i": i, "count": count, "rounds": rounds} for i in range(count)]))

"""``ctx.map`` and ``ctx.child``: enqueue children, wait without a slot, read their results from the journal."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from . import wire
from .attempt import Attempt, OpenGroup
from .authoring import Workflow
from .budget import changed, checked
from .errors import Blocked
from .payload import dumps, fingerprint
from .replay import Call, Mismatch, stage_payload
from .result import Result

#: Children per message: big enough to share a commit, small enough that others get in between.
CHUNK = 500
#: Chunks on their way at once, so that a million items are not all copied before the first is recorded.
CHUNKS_UNDER_WAY = 4
LABEL_LIMIT = 80


@dataclass(frozen=True, slots=True)
class Fan:
    """The children of one call: what was given for each, how that becomes arguments and a label, what each may use."""

    workflow: Workflow[..., Any]
    given: list[Any]
    arguments: Callable[[Any], dict[str, Any]]
    label: Callable[[Any], str] | None
    budget: Mapping[str, float]

    def fingerprint(self) -> str:
        """Return what the call is known by: how many children, and the arguments of the first of them."""
        return fingerprint([len(self.given), *map(self.arguments, self.given[:CHUNK])])

    def items(self, start: int, seen: Counter[tuple[str, str]]) -> list[wire.ChildItem]:
        """Return one chunk for the wire; ``seen`` numbers identical calls of the run."""
        found = []
        for given in self.given[start : start + CHUNK]:
            plain = self.arguments(given)
            identity = (self.workflow.name, fingerprint(plain))
            ordinal = seen[identity]
            seen[identity] += 1
            label = _label(plain) if self.label is None else _bounded(str(self.label(given)))
            key, payload = dumps(["child", *identity, ordinal]), '{"input":' + dumps(plain) + "}"
            found.append(wire.ChildItem(key=key, workflow=self.workflow.name, label=label, payload=payload))
        return found


class ChildCalls:
    """The child calls of one attempt."""

    __slots__ = ("_attempt", "_next_group", "_seen")

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        self._seen: Counter[tuple[str, str]] = Counter()
        self._next_group = 0

    async def map(
        self,
        workflow: Workflow[..., Any],
        items: Iterable[object],
        concurrency: int | None,
        label: Callable[[Any], str] | None,
        budget: Mapping[str, float] | None = None,
    ) -> list[Result[Any]]:
        """Return a Result per item, in order."""
        most, root = self._attempt.around.header.concurrency, self._attempt.around.header.workflow
        if concurrency is not None and not 1 <= concurrency <= most:
            raise ValueError(
                f"concurrency {concurrency} of {workflow.name} is below 1"
                if concurrency < 1
                else f"concurrency {concurrency} of {workflow.name} is beyond the run's {most}; "
                f"@workflow(concurrency={concurrency}) on {root} allows it"
            )
        limits = changed(workflow.budget, checked(budget or {}, f"ctx.map({workflow.name})"))
        fan = Fan(workflow, list(items), workflow.signature.item_call, label, limits)
        return await self._run(fan, concurrency or workflow.concurrency)

    async def one(
        self, workflow: Workflow[..., Any], args: tuple[object, ...], kwargs: Mapping[str, object]
    ) -> Result[Any]:
        """Return the Result of one child."""
        plain = workflow.signature.child_call(args, kwargs)
        return (await self._run(Fan(workflow, [plain], lambda given: given, None, workflow.budget), 1))[0]

    async def _run(self, fan: Fan, concurrency: int) -> list[Result[Any]]:
        attempt = self._attempt
        limit = attempt.around.header.max_depth
        if attempt.depth + 1 >= limit:
            raise RecursionError(
                f"{fan.workflow.name} would be level {attempt.depth + 2}; workflows nest {limit} deep at most"
            )
        if not fan.given:
            return []
        replay = attempt.replay
        try:
            call = replay.begin("map", fan.workflow.name, fan.fingerprint())
        except Mismatch as mismatch:
            raise Blocked(str(mismatch)) from None
        try:
            opened = None if replay.outcome(call) else asyncio.ensure_future(self._open(call))
            numbers = await self._enqueue_and_wait(fan, concurrency, opened)
            return await self._results(fan.workflow, numbers)
        finally:
            replay.end(call)

    async def _open(self, call: Call) -> None:
        """Record that the run asked for these children at this place, so that a changed program is noticed.

        Calls that start together (``asyncio.gather``) do so within a pass of the loop: after two it is known whether
        this one is alone.
        """
        attempt, now = self._attempt, time.time_ns() // 1_000_000
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await attempt.record(
            wire.CommitStage(
                req=attempt.around.channel.next_req(),
                n=attempt.n,
                generation=attempt.generation,
                key=call.key,
                stage="",
                payload=stage_payload(call, None, None, (now, now, 1), alone=attempt.replay.is_alone(call)),
                started_at=now,
                completed_at=now,
                duration_ms=0.0,
                ok=True,
            )
        )

    async def _enqueue_and_wait(self, fan: Fan, concurrency: int, opened: asyncio.Future[None] | None) -> list[int]:
        attempt, number = self._attempt, self._next_group
        self._next_group += 1
        group = OpenGroup(concurrency, asyncio.get_running_loop().create_future(), [])
        attempt.groups[number] = group
        try:
            room = asyncio.Semaphore(CHUNKS_UNDER_WAY)
            sent = [
                asyncio.create_task(self._enqueue(room, number, fan, start, concurrency))
                for start in range(0, len(fan.given), CHUNK)
            ]
            try:
                for task in sent:
                    group.numbers += await task
                # From here on no request of the group is open that would tell a successor that it is whole.
                group.closed = True
                if opened is not None:
                    await opened
            finally:
                for task in sent:
                    task.cancel()
                if opened is not None:
                    opened.cancel()
            async with attempt.slot.waiting():
                await group.settled
            return group.numbers
        finally:
            del attempt.groups[number]

    async def _enqueue(self, room: asyncio.Semaphore, group: int, fan: Fan, start: int, concurrency: int) -> list[int]:
        """Enqueue one chunk. Chunks get their room in order, and are made only then: memory stays flat."""
        attempt = self._attempt
        async with room:
            recorded = await attempt.record(
                wire.EnqueueChildren(
                    req=attempt.around.channel.next_req(),
                    n=attempt.n,
                    generation=attempt.generation,
                    group=group,
                    concurrency=concurrency,
                    depth=attempt.depth + 1,
                    items=fan.items(start, self._seen),
                    last=start + CHUNK >= len(fan.given),
                    budget=dict(fan.budget) or None,
                )
            )
        return [n for n, _ in recorded.children or ()]

    async def _results(self, workflow: Workflow[..., Any], numbers: list[int]) -> list[Result[Any]]:
        around = self._attempt.around
        codec = workflow.signature.result
        found: list[Result[Any]] = []
        for start in range(0, len(numbers), CHUNK):
            chunk = numbers[start : start + CHUNK]
            rows = await around.reader.results(around.number, chunk)
            for n in chunk:
                state, value, error = rows[n]
                if state == "completed" and value is not None:
                    found.append(Result(True, n, codec.decode(value)))
                else:
                    found.append(Result(False, n, error=error or state))
        return found


def _bounded(text: str) -> str:
    """Return a label: bounded, its end kept, never a lone surrogate (a file name may hold one)."""
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= LABEL_LIMIT else "…" + text[1 - LABEL_LIMIT :]


def _label(plain: dict[str, Any]) -> str:
    """Return how a child is called in lists: its only argument, or all of them; the end of a long one tells more."""
    if len(plain) == 1:
        (value,) = plain.values()
        return _bounded(value if isinstance(value, str) else dumps(value))
    text = ", ".join(f"{name}={value if isinstance(value, str) else dumps(value)}" for name, value in plain.items())
    return _bounded(text if len(text) <= LABEL_LIMIT else text[: LABEL_LIMIT - 1] + "…")

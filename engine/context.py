"""What a workflow is given: its only way to do things that last."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar, overload

from poolboard.journal.message_model import MessageMode

from . import secrets
from .ask import Ask
from .attempt import Attempt
from .authoring import Stage, Workflow, amounts_of
from .authoring import stage as mark_stage
from .child_calls import ChildCalls
from .command_calls import Command, CommandCalls, CommandResult
from .errors import ChildError
from .limit_calls import HeldLimit
from .message import Message
from .message_calls import MessageCalls
from .result import Result
from .stage_calls import StageCalls

P = ParamSpec("P")
R = TypeVar("R")


@mark_stage
async def sleep(duration_s: float) -> int:
    """Return when to wake, in wall ms."""
    return time.time_ns() // 1_000_000 + round(duration_s * 1000)


wake_time = sleep


class Context:
    """A run's door to the pool. Every call is recorded, so that after a kill the run goes on where it was."""

    __slots__ = ("_attempt", "_children", "_commands", "_messages", "_stages")

    def __init__(self, attempt: Attempt, stages: StageCalls, children: ChildCalls) -> None:
        self._attempt, self._stages, self._children = attempt, stages, children
        self._commands = CommandCalls(stages)
        self._messages = MessageCalls(attempt)

    @property
    def run_id(self) -> str:
        """The root run's id."""
        return self._attempt.run_id

    @property
    def n(self) -> int:
        """This run's number inside the root run; the root is 0."""
        return self._attempt.n

    @property
    def folder(self) -> Path:
        """The root run's state folder, for files that are to live as long as the run."""
        return Path(self._attempt.around.header.folder)

    @property
    def root_inputs(self) -> dict[str, Any]:
        """The inputs that the root run was started with, as JSON values."""
        return dict(self._attempt.around.header.inputs)

    @property
    def attempt(self) -> int:
        """Which attempt this is, from 1."""
        return self._attempt.generation

    @property
    def idempotency_key(self) -> str:
        """Text that is the same on every attempt of this run, for services that take one."""
        return f"{self.run_id}:{self.n}"

    @overload
    async def stage(self, stage: Stage[P, Coroutine[Any, Any, R]], /, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    async def stage(self, stage: Stage[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R: ...
    async def stage(self, stage: Stage[P, Any], /, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Run a stage, or return what it returned before.

        Raises StageError when it failed for good (live and on replay alike), TypeError for arguments that do not fit.
        """
        if not isinstance(stage, Stage):
            raise TypeError(f"ctx.stage takes a function marked @stage, not {stage!r}")
        return await self._stages.run(stage, args, kwargs)

    async def command(
        self,
        name: str,
        argv: Sequence[str] | str,
        *,
        timeout_s: float | None = None,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        expect: Sequence[int] = (0,),
        capture: bool = False,
        retries: int = 0,
        backoff_s: float = 1.0,
        needs: Mapping[str, int] | None = None,
        stdout: str | Path | None = None,
    ) -> CommandResult:
        """Run a program as the stage ``name``: ``argv`` as a list, or one string for ``/bin/sh``.

        It has a process group of its own, which never outlives its worker; its output goes to the stage's log, with
        ``capture`` its stdout to the result as well, with ``stdout`` that goes to a file of its own instead. ``env`` is
        added to the worker's and is not recorded. Raises StageError for an exit code that is not in ``expect``, for
        one that took longer than ``timeout_s``, and for a program that cannot be started. Each try takes what it
        ``needs`` of named limits, as a stage does.
        """
        path = None if stdout is None else Path(stdout)
        command = Command(argv, cwd, dict(env or {}), tuple(expect), capture, timeout_s, needs, path)
        return await self._commands.run(name, command, retries=retries, backoff_s=backoff_s)

    @property
    def ask(self) -> Ask:
        """Ask a person: ``await ctx.ask.confirm("Deploy?", default=False)``, also ``select`` and ``text``."""
        return Ask(self._attempt)

    def limit(self, *names: str, **amounts: int) -> AbstractAsyncContextManager[HeldLimit]:
        """Hold shares of named limits inside ``async with``: ``ctx.limit("gpu")``, ``ctx.limit(gpu=2, api=1)``.

        All are granted at once, in order of asking; until then the run holds no slot. Raises LimitError for what could
        never be granted.
        """
        needs = amounts_of({**dict.fromkeys(names, 1), **amounts}, "ctx.limit")
        return self._attempt.limit_calls().hold(needs, "ctx.limit")

    async def sleep(self, duration_s: float) -> None:
        """Wait without a slot. The time to wake is recorded: after a kill only what is left of it is waited."""
        until_ms = await self._stages.run(wake_time, (duration_s,), {})
        await self._attempt.rest((until_ms - time.time_ns() // 1_000_000) / 1000)

    @overload
    async def map(
        self,
        workflow: Workflow[..., R],
        items: Iterable[object],
        *,
        concurrency: int | None = None,
        label: Callable[[Any], str] | None = None,
        budget: Mapping[str, float] | None = None,
        on_error: Literal["raise"] = "raise",
    ) -> list[R]: ...
    @overload
    async def map(
        self,
        workflow: Workflow[..., R],
        items: Iterable[object],
        *,
        concurrency: int | None = None,
        label: Callable[[Any], str] | None = None,
        budget: Mapping[str, float] | None = None,
        on_error: Literal["collect"],
    ) -> list[Result[R]]: ...
    async def map(
        self,
        workflow: Workflow[..., R],
        items: Iterable[object],
        *,
        concurrency: int | None = None,
        label: Callable[[Any], str] | None = None,
        budget: Mapping[str, float] | None = None,
        on_error: Literal["raise", "collect"] = "raise",
    ) -> list[Any]:
        """Run a child per item on the pool and return their results in the order of the items.

        All children settle first; then ``raise`` raises ChildError for the first failed item, ``collect`` returns a
        Result each. ``concurrency`` bounds how many are active at once (default: the workflow's own). ``label``
        says how an item's child is called on screens (default: its arguments). ``budget`` is what each child may use,
        with all below it (``{"tokens": 5000, "duration_s": 60, "failures": 3}``); one that has used it up is held back
        until a person gives it more.
        """
        if not isinstance(workflow, Workflow):
            raise TypeError(f"ctx.map takes a function marked @workflow, not {workflow!r}")
        if on_error not in ("raise", "collect"):
            raise ValueError(f"on_error must be 'raise' or 'collect', not {on_error!r}")
        results: list[Result[R]] = await self._children.map(workflow, items, concurrency, label, budget)
        if on_error == "collect":
            return results
        for result in results:
            if not result.ok:
                raise ChildError(workflow.name, result.n, result.error or "failed")
        values: list[Any] = [result.value for result in results]
        return values

    async def child(self, workflow: Workflow[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run one child on the pool and return its result; raises ChildError."""
        if not isinstance(workflow, Workflow):
            raise TypeError(f"ctx.child takes a function marked @workflow, not {workflow!r}")
        result: Result[R] = await self._children.one(workflow, args, kwargs)
        if not result.ok:
            raise ChildError(workflow.name, result.n, result.error or "failed")
        return result.value  # type: ignore[return-value]

    async def send(self, target: str | int, value: object, *, mode: MessageMode = "steer") -> None:
        """Send a JSON value to a run, a stage or a pattern of runs of this root run; returns once it is durable.

        ``target``: ``child-3`` or 3, ``child-3/STAGE``, ``root``, ``child-*/**`` (every child, also those yet to come).
        A message to one run that ends without reading it comes back as a notice. Raises ValueError, Unrecordable.
        """
        await self._messages.send(target, value, mode)

    async def reply(self, value: object, *, to: Message | None = None) -> None:
        """Answer the oldest message of another run that this one has read and not answered, or the one named.

        Several that were read together are answered in turn; one that nobody has read yet is not. Raises ValueError if
        there is none.
        """
        await self._messages.reply(value, to)

    async def inbox(self) -> list[Message]:
        """Return the messages that came since the last time, oldest first, without waiting."""
        return await self._messages.inbox()

    async def messages(self, *, timeout_s: float | None = None) -> AsyncIterator[Message]:
        """Yield messages as they come, without a slot while there is none; ends when none came for ``timeout_s``."""
        while (message := await self._messages.next(timeout_s)) is not None:
            yield message

    def log(self, message: str, **fields: object) -> None:
        """Write a line to this run's log file, with the fields as JSON behind it."""
        tail = " " + json.dumps(fields, default=str) if fields else ""
        self._attempt.log(f"{message}{tail}\n")

    def usage(self, **amounts: float) -> None:
        """Charge what was used (``tokens=120, cost=0.002``) to this run, its parents and the run's budget, once.

        What the workflow charges is not charged again when it is replayed. Raises ValueError for a negative amount.
        """
        self._attempt.charge(amounts)

    def progress(self, done: float, total: float | None = None, note: str = "") -> None:
        """Say how far the current stage is; seen on the screen, not recorded."""
        share = f"{done:g}" if total is None else f"{done:g}/{total:g}"
        self._attempt.note = secrets.masked(f"{share} {note}".strip())

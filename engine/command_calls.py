"""``ctx.command``: run a program as a stage, in a process group of its own, its output in the stage's log."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from . import command_output, logs
from .authoring import Stage
from .failure import with_account
from .signature import Signature
from .stage_calls import StageCalls

#: What is told of a failed program's log.
TAIL_BYTES, TAIL_LINES = 4096, 20
#: Values of the environment that are shorter stand in any text by chance.
SHORTEST_SECRET = 4
#: Between SIGTERM and SIGKILL for a program that took too long or is not wanted any more.
KILL_AFTER_S = 5.0


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a program ended. ``stdout`` is its output if it was asked for; bytes that are not UTF-8 are replaced."""

    exit_code: int
    stdout: str | None = None


class CommandFailed(Exception):
    """The program ended with an exit code that was not expected.

    ``account`` takes the place of a traceback, which would only show us: how it ended, the command, its last lines.
    """

    def __init__(self, ending: str, account: str) -> None:
        super().__init__(ending)
        self.account = account


@dataclass(frozen=True, slots=True)
class Command:
    """A program to run: ``argv`` as a list, or one string for the shell."""

    argv: Sequence[str] | str
    cwd: str | None
    env: Mapping[str, str]
    expect: tuple[int, ...]
    capture: bool
    timeout_s: float | None
    needs: Mapping[str, int] | None = None
    #: Where its output goes instead of into the log.
    stdout: Path | None = None


class CommandCalls:
    """The command calls of one attempt: stages whose function is a program."""

    __slots__ = ("_stages",)

    def __init__(self, stages: StageCalls) -> None:
        self._stages = stages

    async def run(self, name: str, command: Command, *, retries: int, backoff_s: float) -> CommandResult:
        """Return how the program ended; raises StageError when it failed for good."""

        async def run(argv: list[str] | str, cwd: str | None, expect: list[int], capture: bool) -> CommandResult:
            return await execute(command)

        stage: Stage[..., Any] = Stage(
            run, retries=retries, backoff_s=backoff_s, timeout_s=None, name=name, needs=command.needs
        )
        # The same for every command: building it for each would cost a millisecond.
        stage.__dict__["signature"] = _signature()
        # The environment is not an argument: it may hold secrets, and those are not for the journal.
        argv = command.argv if isinstance(command.argv, str) else list(command.argv)
        result: CommandResult = await self._stages.run(
            stage, (argv, command.cwd, list(command.expect), command.capture), {}
        )
        return result


async def shape(argv: list[str] | str, cwd: str | None, expect: list[int], capture: bool) -> CommandResult:
    """Have the parameters and the result of every command; never called."""
    raise AssertionError(f"only the signature of this function is used, not {argv, cwd, expect, capture}")


@cache
def _signature() -> Signature:
    return Signature(shape, skip_first=False)


async def execute(command: Command) -> CommandResult:
    """Run the program to its end; raises CommandFailed, TimeoutError, OSError for one that cannot be started."""
    sink = logs.current.get()
    with command_output.opened(command.stdout, sink, capture=command.capture) as output:
        try:
            process = await _started(command, output)
        except BaseException as error:
            output.give_up()
            if not isinstance(error, OSError):
                raise
            told = f"cannot be started: {error.strerror}: {error.filename or command.cwd or ''}"
            raise with_account(error, _account(command, told, None)) from None
        output.follow()
        try:
            code = await _ended(process, command, output)
        except TimeoutError:
            told = f"took longer than {command.timeout_s:g} s"
            raise with_account(TimeoutError(told), _account(command, told, sink)) from None
    if code not in command.expect:
        raise CommandFailed(_told(code), _account(command, _told(code), sink))
    return CommandResult(code, output.captured())


async def _ended(process: asyncio.subprocess.Process, command: Command, output: command_output.CommandOutput) -> int:
    try:
        async with asyncio.timeout(command.timeout_s):
            if command.capture:
                await output.ended()
            code = await process.wait()
    finally:
        await _end(process)
        await output.rest()
    output.check()
    return code


async def _started(command: Command, output: command_output.CommandOutput) -> asyncio.subprocess.Process:
    program = ["/bin/sh", "-c", command.argv] if isinstance(command.argv, str) else list(command.argv)
    return await asyncio.create_subprocess_exec(
        *program,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=output.stdout,
        stderr=output.stderr,
        cwd=command.cwd,
        env={**os.environ, **command.env},
        process_group=0,
    )


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the whole group of a program that still runs, and what it left behind in its group."""
    if process.returncode is None:
        _signal_group(process.pid, signal.SIGTERM)
        try:
            async with asyncio.timeout(KILL_AFTER_S):
                await process.wait()
        except TimeoutError:
            pass
    # The leader is dead or dying; while a member of its group lives, the number is nobody else's.
    _signal_group(process.pid, signal.SIGKILL)
    if process.returncode is None:
        await process.wait()


def _signal_group(pgid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pgid, number)


def _account(command: Command, told: str, sink: logs.LogSink | None) -> str:
    """Return what a person wants to know of a failed program; it is recorded, so no value of ``env`` is in it."""
    text = command.argv if isinstance(command.argv, str) else shlex.join(command.argv)
    last = "" if sink is None else sink.tail(TAIL_BYTES).decode("utf-8", "replace")
    for value in command.env.values():
        if len(value) >= SHORTEST_SECRET:
            last = last.replace(value, "…")
    parts = [told, f"command: {text}"]
    if lines := last.splitlines()[-TAIL_LINES:]:
        parts += ["its last lines:", *(f"  {line}" for line in lines)]
    return "\n".join(parts) + "\n"


def _told(code: int) -> str:
    if code < 0:
        with suppress(ValueError):
            return f"ended by {signal.Signals(-code).name}"
        return f"ended by signal {-code}"
    return f"exit code {code}"

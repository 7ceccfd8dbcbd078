"""``ctx.stage``: run a stage once, record its outcome, or take it from the journal."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Coroutine, Mapping
from typing import Any, NamedTuple

from . import faults, logs, wire
from .attempt import Attempt
from .authoring import Stage
from .errors import Abandoned, Blocked, StageError, StageInterrupted
from .failure import describe, one_line
from .payload import fingerprint
from .replay import Call, Mismatch, Outcome, stage_payload, try_payload
from .running import RunningCall, running_call
from .threads import Threads

#: The longest pause between two tries of a stage.
BACKOFF_LIMIT_S = 300.0


class _Failed(NamedTuple):
    """A try failed, and another may follow after the pause."""

    pause_s: float


class StageCalls:
    """The stage calls of one attempt. Sync functions run on the worker's threads, async ones on its loop."""

    __slots__ = ("_attempt", "_threads")

    def __init__(self, attempt: Attempt, threads: Threads) -> None:
        self._attempt, self._threads = attempt, threads

    async def run(self, stage: Stage[..., Any], args: tuple[object, ...], kwargs: Mapping[str, object]) -> Any:
        """Return the stage's result, live or recorded; raises StageError."""
        typed, plain = stage.signature.bind_call(args, kwargs)
        replay = self._attempt.replay
        try:
            call = replay.begin("stage", stage.name, fingerprint(plain))
        except Mismatch as mismatch:
            raise Blocked(str(mismatch)) from None
        try:
            recorded = replay.outcome(call)
            if recorded is not None:
                return _recorded(stage, recorded)
            return await self._tried(stage, call, typed)
        finally:
            replay.end(call)

    async def _tried(self, stage: Stage[..., Any], call: Call, typed: dict[str, Any]) -> Any:
        """Try until the stage returns or has no try left; between two tries the run holds no slot."""
        attempt = self._attempt
        sink = attempt.new_sink(stage.name)
        running = RunningCall(stage.name)
        attempt.calls[running] = None
        mark = running_call.set(running)
        # Tries are facts: neither a kill nor a move grants new ones. One that was cut off in the middle is no try.
        failed, next_at = attempt.replay.tries(call)
        try:
            if attempt.mail is not None:
                await attempt.mail.enter(running)
            if failed:
                await attempt.rest((next_at - time.time_ns() // 1_000_000) / 1000)
            for number in range(min(failed, stage.retries) + 1, stage.retries + 2):
                if stage.needs:  # nothing is held while the stage may not be entered
                    await attempt.may_go_on(stage.name)
                work = self._try(stage, call, typed, sink, number)
                tried = await (self._limited(stage, work) if stage.needs else work)
                if not isinstance(tried, _Failed):
                    return tried
                await attempt.rest(tried.pause_s)
        except asyncio.CancelledError:
            if running.interrupted is None or not running.gives_way():
                raise
            interrupted = StageInterrupted(stage.name, running.interrupted)
            await self._record(
                stage, call, None, _as_failure(interrupted), time.time_ns() // 1_000_000, running.started, 1
            )
            raise interrupted from None
        finally:
            running_call.reset(mark)
            attempt.leave(running)
            sink.close()
        raise AssertionError("the last try returns or raises")

    async def _try(
        self, stage: Stage[..., Any], call: Call, typed: dict[str, Any], sink: logs.LogSink, number: int
    ) -> Any:
        """Return what the stage returned, or that it failed and may be tried again; raises StageError for good."""
        attempt = self._attempt
        await attempt.begin_stage(stage.name)
        try:
            if number > 1 and (running := running_call.get()) is not None and running.box is not None:
                running.box.rewind()
            started_at, started = time.time_ns() // 1_000_000, time.perf_counter()
            text, error = await self._outcome(stage, typed, sink)
            if error is None:
                await self._record(stage, call, text, None, started_at, started, number)
                return stage.signature.result.decode(text)
            failure = describe(error)
            if number > stage.retries or not isinstance(error, Exception):
                await self._record(stage, call, None, failure, started_at, started, number)
                raise _stage_error(stage, failure) from error
            return _Failed(await self._note(stage, call, failure, started_at, number, sink))
        finally:
            attempt.end_stage()

    async def _limited(self, stage: Stage[..., Any], work: Coroutine[Any, Any, Any]) -> Any:
        """Do the work once the run has all that the stage needs of named limits."""
        try:
            async with self._attempt.limit_calls().hold(stage.needs, f"stage {stage.name}"):
                return await work
        finally:
            work.close()

    async def _outcome(
        self, stage: Stage[..., Any], typed: dict[str, Any], sink: logs.LogSink
    ) -> tuple[str, BaseException | None]:
        """Call the stage; return its result as JSON, or its exception as a value: not every kind can be raised."""
        mark = logs.current.set(sink)
        try:
            if stage.is_async:
                value = await asyncio.wait_for(stage.function(**typed), stage.timeout_s)
            else:
                work = self._threads.call(stage.function, typed)
                value, raised = await (work if stage.timeout_s is None else asyncio.wait_for(work, stage.timeout_s))
                if raised is not None:
                    return "", raised
            return stage.signature.result.encode(value), None
        except (asyncio.CancelledError, Abandoned, Blocked):
            running = running_call.get()
            ended = self._attempt.abandoned or (running is not None and running.interrupted is not None)
            if not stage.is_async and ended:
                self._attempt.around.channel.tell(wire.Spent())  # its thread goes on, as after a time limit
            raise
        except TimeoutError as error:
            if stage.timeout_s is None or error.args:
                return "", error
            if not stage.is_async:
                # No thread can be ended from outside. Its process can: this worker is replaced once its other runs
                # have reached their next stage boundary.
                self._attempt.around.channel.tell(wire.Spent())
            return "", TimeoutError(f"took longer than {stage.timeout_s:g} s")
        except BaseException as error:
            return "", error
        finally:
            logs.current.reset(mark)

    async def _record(
        self,
        stage: Stage[..., Any],
        call: Call,
        text: str | None,
        failure: dict[str, str] | None,
        started_at: int,
        started: float,
        number: int,
    ) -> None:
        """Return once the outcome is durable: only then may the workflow see it, print it, act on it."""
        attempt = self._attempt
        took_ms = (time.perf_counter() - started) * 1000
        # The wall clock may have jumped back meanwhile: an end before its start would be nonsense on every screen.
        completed_at = max(started_at, time.time_ns() // 1_000_000)
        running = running_call.get()
        taken = None if running is None or running.box is None else running.box.taken()
        if running is not None:
            running.leave()  # from here on it is too late to interrupt the call
        faults.fault("worker.computed")
        await attempt.record_outcome(
            wire.CommitStage(
                req=attempt.around.channel.next_req(),
                n=attempt.n,
                generation=attempt.generation,
                key=call.key if failure is None else call.failure_key(attempt.generation),
                stage=stage.name,
                payload=stage_payload(
                    call,
                    text,
                    failure,
                    (started_at, completed_at, number),
                    alone=attempt.replay.is_alone(call),
                    taken=taken or (),
                ),
                started_at=started_at,
                completed_at=completed_at,
                duration_ms=took_ms,
                ok=failure is None,
                taken=taken or None,
            )
        )
        faults.fault("worker.recorded")

    async def _note(
        self,
        stage: Stage[..., Any],
        call: Call,
        failure: dict[str, str],
        started_at: int,
        number: int,
        sink: logs.LogSink,
    ) -> float:
        """Record that a try failed and when the next may start; return the pause in seconds.

        It is longer each time, exponentially, with jitter so that siblings spread out.
        """
        attempt = self._attempt
        pause_s: float = min(stage.backoff_s * 2 ** (number - 1), BACKOFF_LIMIT_S) * random.uniform(0.5, 1.0)
        told = f"[poolboard: try {number} failed: {one_line(failure)}; next try in {pause_s:.1f} s]\n"
        sink.write(told.encode("utf-8", "surrogateescape"))
        now = max(started_at, time.time_ns() // 1_000_000)
        await attempt.record_outcome(
            wire.CommitStage(
                req=attempt.around.channel.next_req(),
                n=attempt.n,
                generation=attempt.generation,
                key=call.try_key(attempt.generation, number),
                stage="",
                payload=try_payload(call, failure, (started_at, now, number), now + round(pause_s * 1000)),
                started_at=started_at,
                completed_at=now,
                duration_ms=0.0,
                ok=False,
            )
        )
        faults.fault("worker.tried")
        return pause_s


def _as_failure(interrupted: StageInterrupted) -> dict[str, str]:
    return {
        "type": interrupted.type,
        "message": interrupted.message,
        "traceback": "",
        "interrupted_by": str(interrupted.number),
    }


def _stage_error(stage: Stage[..., Any], failure: dict[str, str]) -> StageError:
    if "interrupted_by" in failure:
        return StageInterrupted(stage.name, int(failure["interrupted_by"]))
    return StageError(stage.name, failure["type"], failure["message"], failure.get("traceback", ""))


def _recorded(stage: Stage[..., Any], outcome: Outcome) -> Any:
    if outcome.failure is not None:
        raise _stage_error(stage, outcome.failure)
    return stage.signature.result.decode_value(outcome.value)

"""Run a workflow once, from its start, and report how it ended."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from . import faults, logs, wire
from .attempt import Attempt
from .authoring import Workflow
from .child_calls import ChildCalls
from .context import Context
from .errors import Abandoned, Blocked
from .failure import as_payload, describe, one_line
from .payload import Unrecordable
from .replay import Replay
from .stage_calls import StageCalls
from .threads import Threads


async def run_attempt(
    attempt: Attempt, name: str, workflows: Mapping[str, Workflow[Any, Any]], threads: Threads
) -> None:
    """Execute the attempt and record its result or failure. Returns when that is durable, or when it is not wanted."""
    logs.current.set(attempt.sink)
    try:
        workflow = workflows.get(name)
        if workflow is None:
            raise Unrecordable(
                f"unknown function: no workflow {name!r} in the file; it has {', '.join(workflows) or 'none'}"
            )
        if attempt.recorded:
            attempt.replay = await _replay(attempt)
        arguments = workflow.signature.decode_call(_input(attempt.boundary))
        context = Context(attempt, StageCalls(attempt, threads), ChildCalls(attempt))
        text = workflow.signature.result.encode(await workflow.function(context, **arguments))
        await _complete(attempt, text)
    except Blocked as blocked:
        attempt.send_charges()
        attempt.around.channel.tell(wire.BlockRun(n=attempt.n, generation=attempt.generation, reason=str(blocked)))
    except (Abandoned, asyncio.CancelledError):
        attempt.send_charges()
        attempt.around.channel.tell(wire.Dropped(n=attempt.n, generation=attempt.generation))
    except BaseException as error:
        await _fail(attempt, error)
    finally:
        attempt.close()


async def _complete(attempt: Attempt, text: str) -> None:
    await attempt.settle()
    await attempt.slot.acquire()
    faults.fault("worker.returned")
    await attempt.end(
        wire.CompleteRun(req=attempt.around.channel.next_req(), n=attempt.n, generation=attempt.generation, result=text)
    )


async def _fail(attempt: Attempt, error: BaseException) -> None:
    failure = describe(error)
    attempt.log(failure["traceback"])
    try:
        await attempt.end(
            wire.FailRun(
                req=attempt.around.channel.next_req(),
                n=attempt.n,
                generation=attempt.generation,
                line=one_line(failure),
                payload=as_payload(failure),
            )
        )
    except (Abandoned, asyncio.CancelledError):
        attempt.around.channel.tell(wire.Dropped(n=attempt.n, generation=attempt.generation))


async def _replay(attempt: Attempt) -> Replay:
    reader, number = attempt.around.reader, attempt.around.number
    reopened_seq = attempt.reopened_seq = await reader.reopened_seq(number, attempt.n)
    recorded = [(e.seq, json.loads(e.event.payload)) for e in await reader.checkpoints(number, attempt.n)]
    return Replay(
        [payload for seq, payload in recorded if seq > reopened_seq or "failure" not in payload],
        reopened=reopened_seq > 0,
    )


def _input(boundary: str) -> dict[str, Any]:
    try:
        given = json.loads(boundary)["input"]
    except (ValueError, KeyError, TypeError):
        raise Unrecordable(
            "input unreadable: the journal holds something else than a JSON object with an input"
        ) from None
    if not isinstance(given, dict):
        raise Unrecordable("input unreadable: it is not a JSON object")
    return given

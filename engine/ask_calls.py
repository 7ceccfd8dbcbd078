"""The questions of one attempt: asked over the wire, waited for without a slot, recorded once and replayed."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING, Any

from . import wire, wire_prompts
from .errors import AskTimeout, Blocked
from .payload import Unrecordable, dumps, fingerprint
from .replay import Call, Mismatch, stage_payload

if TYPE_CHECKING:
    from .attempt import Attempt


class AskCalls:
    """What this attempt waits for. A new coordinator is asked again and finds what was recorded."""

    __slots__ = ("_attempt", "_open")

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        self._open: dict[str, tuple[wire_prompts.AskPrompt, asyncio.Future[wire_prompts.PromptReply]]] = {}

    async def ask(
        self, kind: str, message: str, choices: list[str], default: bool | str | None, timeout_s: float | None
    ) -> Any:
        """Return the answer, given now or recorded before; raises AskTimeout."""
        attempt, replay = self._attempt, self._attempt.replay
        try:
            call = replay.begin("ask", kind, fingerprint([message, choices, default]))
        except Mismatch as mismatch:
            raise Blocked(str(mismatch)) from None
        try:
            recorded = replay.outcome(call)
            if recorded is not None:
                if recorded.failure is not None:
                    raise AskTimeout(recorded.failure["message"])
                return recorded.value
            await attempt.may_go_on()
            started_at = time.time_ns() // 1_000_000
            prompt = wire_prompts.AskPrompt(
                n=attempt.n,
                generation=attempt.generation,
                # What was asked before the run failed and was taken up again is another question.
                key=call.key if not attempt.reopened_seq else dumps([call.key, attempt.reopened_seq]),
                kind=kind,
                message=message,
                choices=choices,
                default=None if default is None else dumps(default),
                stage=attempt.last_stage,
                timeout_ms=None if timeout_s is None else round(timeout_s * 1000),
            )
            reply = await self._reply(prompt)
            return await self._recorded(call, reply, started_at)
        finally:
            replay.end(call)

    async def _reply(self, prompt: wire_prompts.AskPrompt) -> wire_prompts.PromptReply:
        future: asyncio.Future[wire_prompts.PromptReply] = asyncio.get_running_loop().create_future()
        self._open[prompt.key] = (prompt, future)
        try:
            self._attempt.around.channel.tell(prompt)
            async with self._attempt.slot.waiting():
                reply = await future
        finally:
            del self._open[prompt.key]
        if reply.refused is not None:
            raise Unrecordable(reply.refused)
        return reply

    async def _recorded(self, call: Call, reply: wire_prompts.PromptReply, started_at: int) -> Any:
        """Make the answer a checkpoint of the run: from here on it is replayed like a stage."""
        attempt = self._attempt
        failure = None
        if reply.value is None:
            failure = {"type": "AskTimeout", "message": "nobody answered in time, and there is no default"}
        completed_at = max(started_at, time.time_ns() // 1_000_000)
        await attempt.record(
            wire.CommitStage(
                req=attempt.around.channel.next_req(),
                n=attempt.n,
                generation=attempt.generation,
                key=call.key if failure is None else call.failure_key(attempt.generation),
                stage="",
                payload=stage_payload(
                    call, reply.value, failure, (started_at, completed_at, 1), alone=attempt.replay.is_alone(call)
                ),
                started_at=started_at,
                completed_at=completed_at,
                duration_ms=0.0,
                ok=failure is None,
            )
        )
        if failure is not None:
            raise AskTimeout(failure["message"])
        return json.loads(reply.value or "null")

    def replied(self, reply: wire_prompts.PromptReply) -> None:
        """An answer came."""
        _, future = self._open.get(reply.key, (None, None))
        if future is not None and not future.done():
            future.set_result(reply)

    def restate(self) -> None:
        """Ask a new coordinator again."""
        for prompt, future in self._open.values():
            if not future.done():
                self._attempt.around.channel.tell(prompt)

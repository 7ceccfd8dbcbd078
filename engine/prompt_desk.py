"""The coordinator's side of questions: records them, holds answers, tells the attempts that wait."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice
from typing import Final

from poolboard.journal import prompts
from poolboard.journal.prompts import Answer, Answered, Asked, NewPrompt, NoSuchPrompt, Prompt

from . import wire_prompts
from .answers import WrongShape, fit
from .control import Refusal
from .dispatch import Dispatcher, fatal_unless_refused
from .payload import dumps
from .peers import Peer
from .prompt_view import PROMPTS_NOTED, SHOWN, prompt_note
from .views import PromptNote

#: asyncio's timers take no longer waits; a longer one is armed again.
MOST_TIMER_S: Final = 86400.0
THE_CLOCK: Final = "the clock"


class PromptDesk:
    """Serves the questions of all attempts. ``closing``: this coordinator ends; ``now_ms``: the store's clock."""

    def __init__(self, dispatcher: Dispatcher, closing: Callable[[], bool], now_ms: int) -> None:
        self._dispatcher, self._closing = dispatcher, closing
        # From here on counted by a clock that nobody sets.
        self._began_ms = now_ms - asyncio.get_running_loop().time() * 1000
        self._open: dict[int, Prompt] = {}
        self._timers: dict[int, asyncio.TimerHandle] = {}

    def load(self, found: Iterable[Prompt]) -> None:
        """Take over what an earlier coordinator asked."""
        for prompt in found:
            self._take(prompt)

    # --- workers ---------------------------------------------------------------------------------------------------

    def ask(self, worker: str, peer: Peer, message: wire_prompts.AskPrompt) -> None:
        """An attempt asks; one that is not current is told nothing."""
        token = self._dispatcher.token(message.n, message.generation)
        if token is None:
            return
        new = NewPrompt(
            message.key, message.kind, message.message, tuple(message.choices), message.default, message.stage,
            message.timeout_ms,
        )  # fmt: skip
        member = partial(prompts.ask, lease=self._dispatcher.lease, token=token, new=new)
        self._dispatcher.recorder.add(member, partial(self._asked, message))

    def _asked(self, message: wire_prompts.AskPrompt, result: Asked | Exception) -> None:
        fatal_unless_refused(result)
        if isinstance(result, Exception):
            self._reply(message.n, message.generation, message.key, None, str(result))
        elif result.answer is not None:
            self._reply(message.n, message.generation, message.key, result.answer.value)
        else:
            self._take(result.prompt)

    def _take(self, prompt: Prompt) -> None:
        self._open[prompt.id] = prompt
        if self.settled not in self._dispatcher.on_settled:
            self._dispatcher.on_settled.append(self.settled)
        self._arm(prompt)

    def _arm(self, prompt: Prompt) -> None:
        if prompt.until_at is None or self._closing():
            return
        loop = asyncio.get_running_loop()
        left_s = max(0.0, (prompt.until_at - self._began_ms) / 1000 - loop.time())
        if (timer := self._timers.pop(prompt.id, None)) is not None:
            timer.cancel()
        if left_s > MOST_TIMER_S:
            self._timers[prompt.id] = loop.call_later(MOST_TIMER_S, self._arm, prompt)
        else:
            self._timers[prompt.id] = loop.call_later(left_s, self._time_out, prompt)

    def _time_out(self, prompt: Prompt) -> None:
        if prompt.id in self._open and not self._closing():
            member = partial(
                prompts.answer, lease=self._dispatcher.lease, id=prompt.id, value=prompt.default, by=THE_CLOCK
            )
            self._dispatcher.recorder.add(member, partial(self._timed_out, prompt))

    def _timed_out(self, prompt: Prompt, result: Answered | Exception) -> None:
        self._answered(prompt, result)

    def _answered(self, prompt: Prompt, result: Answered | Exception) -> bool:
        """An answer is durable; return whether an attempt was there to take it."""
        fatal_unless_refused(result)
        self._forget(prompt.id)
        token = self._dispatcher.tokens.get(prompt.n)
        if isinstance(result, Exception) or token is None or token.worker not in self._dispatcher.workers:
            return False
        self._reply(prompt.n, token.generation, prompt.key, result.answer.value)
        return True

    def _reply(self, n: int, generation: int, key: str, value: str | None, refused: str | None = None) -> None:
        token = self._dispatcher.token(n, generation)
        if token is not None:
            reply = wire_prompts.PromptReply(n=n, generation=generation, key=key, value=value, refused=refused)
            self._dispatcher.send(token, reply)

    def settled(self, n: int) -> None:
        """A child has ended: nobody waits for its questions any more."""
        ids = [prompt.id for prompt in self._open.values() if prompt.n == n]
        for id in ids:
            self._forget(id)
        if ids and not self._closing():
            member = partial(prompts.close, lease=self._dispatcher.lease, ids=ids)
            self._dispatcher.recorder.add(member, fatal_unless_refused)

    def _forget(self, id: int) -> None:
        self._open.pop(id, None)
        if (timer := self._timers.pop(id, None)) is not None:
            timer.cancel()

    # --- people ----------------------------------------------------------------------------------------------------

    async def answer(self, message: wire_prompts.AnswerPrompt) -> str:
        """Take a person's answer. Return a sentence; raises Refusal, and the question stays open if it does not fit."""
        if self._closing():
            raise Refusal("this coordinator is ending; resume the run, then answer")
        prompt = self._open.get(message.prompt)
        if prompt is None:
            raise Refusal(await self._why_not(message.prompt))
        try:
            value = dumps(fit(prompt.kind, prompt.choices, message.answer))
        except WrongShape as wrong:
            raise Refusal(f"question {prompt.id} stays open: {wrong}") from None
        lease, record = self._dispatcher.lease, self._dispatcher.recorder.record
        try:
            result: Answered = await record(
                partial(prompts.answer, lease=lease, id=prompt.id, value=value, by=message.by)
            )
        except NoSuchPrompt as over:
            raise Refusal(str(over)) from None
        if not result.first:
            raise Refusal(_too_late(prompt.id, result.answer))
        if self._answered(prompt, result):
            return f"answered: {_told(result.answer)}"
        return f"answered: {_told(result.answer)}; held until a worker takes the run up again"

    async def _why_not(self, id: int) -> str:
        """Return why a question cannot be answered that is not open: it was answered, or there is none."""
        lease = self._dispatcher.lease
        try:
            given = await self._dispatcher.recorder.record(partial(prompts.given, lease=lease, id=id))
        except NoSuchPrompt as none:
            listed = ", ".join(map(str, list(self._open)[:PROMPTS_NOTED])) or "none"
            return f"{none} (open questions: {listed})"
        return f"question {id} is over" if given is None else _too_late(id, given)

    def views(self) -> tuple[PromptNote, ...]:
        """Return the oldest open questions."""
        return tuple(prompt_note(prompt) for prompt in islice(self._open.values(), PROMPTS_NOTED))

    @property
    def count(self) -> int:
        """How many questions are open."""
        return len(self._open)

    def reason(self, n: int) -> str | None:
        """Return what a run waits to be told, None if it asks nothing."""
        for prompt in self._open.values():
            if prompt.n == n:
                return f"waits for an answer to question {prompt.id}: {prompt.message[:SHOWN]}"
        return None


def _too_late(id: int, given: Answer) -> str:
    return f"question {id} was answered already by {given.by}: {_told(given)}"


def _told(answer: Answer) -> str:
    if answer.value is None:
        return "nothing, for the time ran out"
    value: object = json.loads(answer.value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)[:SHOWN]

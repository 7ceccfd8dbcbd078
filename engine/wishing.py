"""Wishes about what children share and ask: limits changed live, questions answered."""

from __future__ import annotations

from .asking import Asking, connect
from .errors import CoordinatorGone
from .run_reader import coordinator_of
from .views import Acknowledgement


class Wishing(Asking):
    """One that asks, also about limits and questions."""

    async def set_limit(self, run_id: str, name: str, text: str, by: str = "user") -> Acknowledgement:
        """Make a limit of a live run ``4`` or ``60/min``, from now on. Raises CoordinatorGone, UserMistake."""
        from .wire_limits import ChangeLimit

        return await self._wish(
            run_id, lambda client: client.wish("limit", lambda req: ChangeLimit(req=req, name=name, text=text, by=by))
        )

    async def answer(self, run_id: str, prompt: int, answer: str, by: str = "user") -> Acknowledgement:
        """Answer a question of a live run, as a person writes it. Raises CoordinatorGone, UserMistake.

        What does not fit leaves the question open, and the message says what would.
        """
        from .wire_prompts import AnswerPrompt

        return await self._wish(
            run_id,
            lambda client: client.wish(
                "the answer", lambda req: AnswerPrompt(req=req, prompt=prompt, answer=answer, by=by)
            ),
        )

    async def why(self, run_id: str, n: int) -> str:
        """Return why a child waits, as its coordinator says it; empty where there is nothing to say, or nobody."""
        from .wire_prompts import Why

        row = await self.row(run_id)
        if row.ended_at is not None or not coordinator_of(row).alive:
            return ""
        try:
            async with connect(row) as client:
                return (await client.wish("why", lambda req: Why(req=req, n=n))).message
        except CoordinatorGone:
            return ""

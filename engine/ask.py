"""``ctx.ask``: questions that a person answers on the screen or the command line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from .attempt import Attempt

MOST_MESSAGE, MOST_CHOICES, MOST_CHOICE = 8_000, 200, 200
#: A longer wait than that is none.
MOST_TIMEOUT_S: Final = 366 * 86400.0


class Ask:
    """Asks and waits without a slot, through quits, pauses and kills. An answer is recorded once and replayed.

    After ``timeout_s`` (of wall time, from the first time it was asked) the ``default`` is the answer; without one
    AskTimeout is raised. The default is also what the screen offers first.
    """

    __slots__ = ("_attempt",)

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt

    async def confirm(self, message: str, *, default: bool | None = None, timeout_s: float | None = None) -> bool:
        """Return yes or no."""
        if default is not None and not isinstance(default, bool):
            raise ValueError(f"ask.confirm: the default is True or False, not {default!r}")
        answer: bool = await self._ask("confirm", message, [], default, timeout_s)
        return answer

    async def select(
        self, message: str, choices: Sequence[str], *, default: str | None = None, timeout_s: float | None = None
    ) -> str:
        """Return one of the choices; raises ValueError for none, too many, or two that are alike."""
        listed = [str(choice) for choice in choices] if not isinstance(choices, str) else []
        if not 1 <= len(listed) <= MOST_CHOICES or len(set(listed)) != len(listed):
            raise ValueError(f"ask.select: give 1 to {MOST_CHOICES} different choices, in a list")
        if any(not choice.strip() or len(choice) > MOST_CHOICE for choice in listed):
            raise ValueError(f"ask.select: a choice has 1 to {MOST_CHOICE} characters")
        if default is not None and default not in listed:
            raise ValueError(f"ask.select: the default {default!r} is none of the choices")
        answer: str = await self._ask("select", message, listed, default, timeout_s)
        return answer

    async def text(self, message: str, *, default: str | None = None, timeout_s: float | None = None) -> str:
        """Return a line or more of text, which may be empty."""
        answer: str = await self._ask("text", message, [], default, timeout_s)
        return answer

    async def _ask(
        self, kind: str, message: str, choices: list[str], default: bool | str | None, timeout_s: float | None
    ) -> Any:
        if not message.strip() or len(message) > MOST_MESSAGE:
            raise ValueError(f"ask.{kind}: the message has 1 to {MOST_MESSAGE} characters")
        if timeout_s is not None and not (math.isfinite(timeout_s) and 0 < timeout_s <= MOST_TIMEOUT_S):
            raise ValueError(f"ask.{kind}: timeout_s must be above 0 and finite, not {timeout_s!r}")
        try:
            "".join([message, *choices, default if isinstance(default, str) else ""]).encode()
        except UnicodeEncodeError:
            raise ValueError(f"ask.{kind}: the text is not valid Unicode") from None
        return await self._attempt.ask_calls().ask(kind, message, choices, default, timeout_s)

"""A recorded question as screens see it, in full and in short. Pure."""

from __future__ import annotations

from poolboard.journal.prompts import Prompt

from .views import PromptNote, PromptView

#: Questions that a summary lists, and characters of each; the count is whole.
PROMPTS_NOTED, SHOWN = 20, 200


def prompt_note(prompt: Prompt) -> PromptNote:
    """Return the question in short."""
    return PromptNote(prompt.id, prompt.n, prompt.kind, prompt.message[:SHOWN], prompt.asked_at)


def prompt_view(prompt: Prompt, run_id: str, label: str) -> PromptView:
    """Return the question in full."""
    return PromptView(
        id=prompt.id,
        run_id=run_id,
        n=prompt.n,
        label=label,
        stage=prompt.stage,
        kind=prompt.kind,
        message=prompt.message,
        choices=prompt.choices,
        default=prompt.default,
        asked_at=prompt.asked_at,
        until_at=prompt.until_at,
    )

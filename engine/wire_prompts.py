"""What is said about questions to a person. Only runs that ask any say it."""

from __future__ import annotations

from .wire_message import Message


class AskPrompt(Message, tag="ask_prompt"):
    """The attempt asks a person and waits without a slot; answered by PromptReply, at once if there is an answer."""

    n: int
    generation: int
    key: str
    kind: str
    message: str
    choices: list[str]
    default: str | None
    stage: str | None
    timeout_ms: int | None


class PromptReply(Message, tag="prompt_reply"):
    """The answer as JSON; None where the time ran out without a default. ``refused`` says why it cannot be asked."""

    n: int
    generation: int
    key: str
    value: str | None
    refused: str | None = None


class AnswerPrompt(Message, tag="answer_prompt"):
    """A person's answer, as written; answered by ControlAnswer."""

    req: int
    prompt: int
    answer: str
    by: str


class Why(Message, tag="why"):
    """Why does this child wait? Answered by ControlAnswer; empty where there is nothing to say."""

    req: int
    n: int


PromptMessage = AskPrompt | PromptReply | AnswerPrompt | Why

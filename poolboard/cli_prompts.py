"""``poolboard prompts`` and ``answer``: their words and options; the work is in ``questions``."""

from __future__ import annotations

from typing import Annotated

import typer

from poolboard.cli_options import Deed, Journal, Json


def prompts(
    run: Annotated[
        str | None, typer.Argument(help="A run's id, or the beginning of it; default: all runs.", metavar="[RUN]")
    ] = None,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """List the questions that wait for a person, and how to answer them."""

    def act() -> int:
        from poolboard import questions

        return questions.prompts(journal, run, as_json=as_json)

    return act


def answer(
    run: Annotated[str, typer.Argument(help="A run's id, or the beginning of it.", metavar="RUN")],
    prompt: Annotated[int, typer.Argument(help="The question's id.", metavar="PROMPT", min=1)],
    text: Annotated[str, typer.Argument(help="yes or no, a choice or its number, or any text.", metavar="ANSWER")],
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Answer a question of a live run; what does not fit is explained, and the question stays open.

    Example: poolboard answer 3f2a 17 yes
    """

    def act() -> int:
        from poolboard import questions

        return questions.answer(journal, run, prompt, text, as_json=as_json)

    return act

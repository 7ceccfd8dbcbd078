"""What a person does about questions and limits, on any screen over runs."""

from __future__ import annotations

from functools import partial
from typing import Final

from poolboard.engine.views import LimitView, Summary

from .actions import BY_ID
from .control_screen import ControlScreen
from .prompt_screen import Outcome, PromptScreen
from .session import Session
from .value_screen import ValueScreen

#: How a person writes a limit, by whether it is a rate.
_HINTS: Final = {False: "how many at once; enter changes it for all, esc leaves", True: "such as 60/min; esc leaves"}


class SharingKeys(ControlScreen):
    """Opens the card of a question, one after the other, and asks what a limit is to be."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._met: set[int] | None = None

    # -- questions

    def wanted_prompt(self) -> tuple[str, int | None] | None:
        """Return the run, and the question that is meant; the oldest where that is None."""
        run = self.situation().run
        return None if run is None else (run.run_id, None)

    def do_answer(self) -> None:
        if (wanted := self.wanted_prompt()) is not None:
            self.run_worker(self._open_card(*wanted), group="card", exclusive=True, exit_on_error=False)

    def meet_prompts(self, summary: Summary, *, in_sight: bool) -> None:
        """Ring for questions that are new since the last summary, and show the first where the person looks at this."""
        ids = {prompt.id for prompt in summary.prompts}
        new = set() if self._met is None else ids - self._met
        self._met = (self._met or set()) | ids
        if not new:
            return
        self.app.bell()
        if in_sight and not self.session.read_only and self.app.screen is self:
            card = self._open_card(summary.run.run_id, min(new))
            self.run_worker(card, group="card", exclusive=True, exit_on_error=False)

    async def _open_card(self, run_id: str, id: int | None, *, next: bool = False) -> None:
        monitor = self.session.monitor
        try:
            found = await monitor.prompts(run_id)
        except Exception as error:
            self.failed(BY_ID["answer"], error)
            return
        prompt = min((one for one in found if id in (None, one.id)), key=lambda one: one.id, default=None)
        if prompt is None:
            if not next:
                self.say("nothing waits for an answer any more")
            return
        if self.app.screen is not self:
            return  # the person went elsewhere meanwhile
        send = partial(monitor.answer, run_id, prompt.id, by=self.session.person)
        card = PromptScreen(prompt, run_id[:8], send, self.session.clock, ascii=self.session.ascii)
        self.app.push_screen(card, partial(self._answered, run_id))

    def _answered(self, run_id: str, outcome: Outcome | None) -> None:
        if outcome == "answered":
            self.say("answered")
            self.run_worker(self._open_card(run_id, None, next=True), group="card", exclusive=True, exit_on_error=False)

    # -- limits

    def ask_limit(self, run_id: str, limit: LimitView) -> None:
        """Ask what a limit is to be, and have it so."""

        def answered(value: str | None) -> None:
            if value is not None:
                monitor, by = self.session.monitor, self.session.person
                self.control("change_limit", [partial(monitor.set_limit, run_id, limit.name, value, by)])

        title = f"What is the limit to be? It is {limit.text} now."
        self.app.push_screen(ValueScreen(title, limit.name, limit.text, _HINTS[limit.per_s is not None]), answered)

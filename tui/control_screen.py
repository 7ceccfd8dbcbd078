"""A screen over runs: the verbs that control the one under the cursor. The screen itself claims nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from poolboard.engine.views import Acknowledgement, RunView

from .action import Action
from .actions import BY_ID
from .confirm_screen import ConfirmScreen, Question
from .glyphs import ACTIVE
from .questions import cancel_question, retry_question, stop_question
from .quit_screen import QuitScreen
from .reasons import wants_resume
from .screen import PoolScreen

#: Verbs that act on every run that is meant.
_VERBS: Final = frozenset({"pause", "stop", "cancel", "retry"})
Ask = Callable[[], Awaitable[Acknowledgement]]


class ControlScreen(PoolScreen):
    """Does ``pause``, ``stop``, ``cancel`` and ``retry`` on ``controlled``; what the journal answered is said."""

    def controlled(self) -> list[RunView]:
        """Return the runs that a verb is meant for: the marked ones, else the one under the cursor."""
        run = self.situation().run
        return [] if run is None else [run]

    def reason_now(self, action: Action) -> str | None:
        """Of several runs those are acted on that allow it: a reason only if none does."""
        runs = self.controlled()
        if len(runs) < 2 or action.id not in _VERBS:
            return super().reason_now(action)
        why = [action.reason(replace(self.situation(), run=run)) for run in runs]
        return why[0] if all(why) else None

    def _meant(self, action_id: str) -> list[RunView]:
        """Return the runs that allow the action now."""
        situation, action = self.situation(), BY_ID[action_id]
        return [run for run in self.controlled() if action.reason(replace(situation, run=run)) is None]

    def control(self, action_id: str, asks: Sequence[Ask], refused: Callable[[], None] | None = None) -> None:
        """Send verbs one after the other and say the answers, or why one was refused (``refused`` is called)."""

        async def send() -> None:
            answers: list[str] = []
            for ask in asks:
                try:
                    answers.append((await ask()).message)
                except Exception as error:
                    self.failed(BY_ID[action_id], error)
                    if refused is not None:
                        refused()
            if len(answers) == 1:
                self.say(answers[0])
            elif answers:
                self.say(f"{BY_ID[action_id].label}: {len(answers)} of {len(asks)} runs answered, first: {answers[0]}")

        self.run_worker(send(), group="control", exit_on_error=False)

    def do_pause(self) -> None:
        monitor, by, situation = self.session.monitor, self.session.person, self.situation()
        runs = self._meant("pause")
        # What the key says it does is done: to those that it can be done to.
        resume = wants_resume(replace(situation, run=runs[0])) if runs else False
        runs = [run for run in runs if wants_resume(replace(situation, run=run)) == resume]
        verb = monitor.resume if resume else monitor.pause
        self.control("pause", [partial(verb, run.run_id, by) for run in runs])

    def do_stop(self) -> None:
        runs, by = self._meant("stop"), self.session.person
        if runs:
            self._ask("stop", stop_question(runs), [partial(self.session.monitor.stop, run.run_id, by) for run in runs])

    def do_cancel(self) -> None:
        runs, by, monitor = self._meant("cancel"), self.session.person, self.session.monitor
        if runs:
            self._ask("cancel", cancel_question(runs), [partial(monitor.cancel, run.run_id, by) for run in runs])

    def do_retry(self) -> None:
        runs = self._meant("retry")
        if runs:
            self._ask("retry", retry_question(runs), [partial(self._retry, run) for run in runs])

    async def _retry(self, run: RunView) -> Acknowledgement:
        # 1. the question names 4 failed children; 2. somebody else retries, 2 fail again; 3. ``y`` comes.
        # What was confirmed is not what would be done: refuse.
        now = next((one for one in await self.session.monitor.runs() if one.run_id == run.run_id), run)
        if (now.children.failed, now.status) != (run.children.failed, run.status):
            raise RuntimeError(f"{now.children.failed} have failed by now, not {run.children.failed}: ask again")
        return await self.session.monitor.retry(run.run_id, self.session.person)

    def _ask(self, action_id: str, question: Question, asks: Sequence[Ask]) -> None:
        """Ask the person; the answer acts on exactly the runs that the question named, whatever moved meanwhile."""

        def answered(yes: bool | None) -> None:
            if yes:
                self.control(action_id, asks)

        self.app.push_screen(ConfirmScreen(question), answered)

    def leave_run(self, run: RunView | None, *, ask: bool = False) -> None:
        """Leave the dashboard that was opened for one run; ask what becomes of it while it goes on, or if told to."""
        active = [run] if run is not None and run.status in ACTIVE else []
        if active or ask:
            self.quit_question(active, may_stop=True)
        else:
            self.app.exit(0)

    def quit_question(self, runs: Sequence[RunView], *, may_stop: bool) -> None:
        """Ask whether to leave, and what becomes of the runs that go on."""

        def answered(how: str | None) -> None:
            if how == "stop":
                self.run_worker(self._stop_and_leave(runs[0].run_id), group="control", exit_on_error=False)
            elif how == "detach":
                self.app.exit(0)

        self.app.push_screen(QuitScreen(runs, may_stop=may_stop and not self.session.read_only), answered)

    async def _stop_and_leave(self, run_id: str) -> None:
        """Leave only once the stop is in the journal: a screen that is gone cannot say that it was refused."""
        try:
            await self.session.monitor.stop(run_id, self.session.person)
        except Exception as error:
            self.say(f"stop: {error}", "error")
        else:
            self.app.exit(0)

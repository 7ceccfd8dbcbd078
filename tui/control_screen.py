"""A screen over runs: the verbs that control the one under the cursor. The screen itself claims nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from poolboard.engine.views import Acknowledgement, RunView

from .actions import BY_ID
from .confirm_screen import ConfirmScreen, Question
from .glyphs import ACTIVE
from .questions import cancel_question, retry_question, stop_question
from .quit_screen import QuitScreen
from .reasons import wants_resume
from .screen import PoolScreen

Ask = Callable[[], Awaitable[Acknowledgement]]


class ControlScreen(PoolScreen):
    """Does ``pause``, ``stop``, ``cancel`` and ``retry`` on ``controlled``; what the journal answered is said."""

    def controlled(self) -> RunView | None:
        """Return the run that a verb would act on now."""
        return self.situation().run

    def control(self, action_id: str, ask: Ask, refused: Callable[[], None] | None = None) -> None:
        """Send a control verb and say the answer, or why it was refused (then ``refused`` is called too)."""

        async def send() -> None:
            try:
                answer = await ask()
            except Exception as error:
                self.failed(BY_ID[action_id], error)
                if refused is not None:
                    refused()
            else:
                self.say(answer.message)

        self.run_worker(send(), group="control", exit_on_error=False)

    def do_pause(self) -> None:
        run, monitor, by = self.controlled(), self.session.monitor, self.session.person
        if run is None:
            return
        if wants_resume(self.situation()):
            self.control("pause", lambda: monitor.resume(run.run_id, by))
        else:
            self.control("pause", lambda: monitor.pause(run.run_id, by))

    def do_stop(self) -> None:
        run, by = self.controlled(), self.session.person
        if run is not None:
            self._ask("stop", stop_question(run), lambda: self.session.monitor.stop(run.run_id, by))

    def do_cancel(self) -> None:
        run, by = self.controlled(), self.session.person
        if run is not None:
            self._ask("cancel", cancel_question(run), lambda: self.session.monitor.cancel(run.run_id, by))

    def do_retry(self) -> None:
        run = self.controlled()
        if run is None:
            return

        async def retry() -> Acknowledgement:
            # 1. the question names 4 failed children; 2. somebody else retries, 2 fail again; 3. ``y`` comes.
            # What was confirmed is not what would be done: refuse.
            now = next((one for one in await self.session.monitor.runs() if one.run_id == run.run_id), run)
            if (now.children.failed, now.status) != (run.children.failed, run.status):
                raise RuntimeError(f"{now.children.failed} have failed by now, not {run.children.failed}: ask again")
            return await self.session.monitor.retry(run.run_id)

        self._ask("retry", retry_question(run), retry)

    def _ask(self, action_id: str, question: Question, ask: Ask) -> None:
        """Ask the person; the answer acts on exactly the run that the question named, whatever moved meanwhile."""

        def answered(yes: bool | None) -> None:
            if yes:
                self.control(action_id, ask)

        self.app.push_screen(ConfirmScreen(question), answered)

    def leave_run(self, run: RunView | None) -> None:
        """Leave the dashboard that was opened for one run; while it goes on, ask what becomes of it."""
        if run is None or run.status not in ACTIVE:
            self.app.exit(0)
            return

        def answered(how: str | None) -> None:
            if how == "stop":
                self.run_worker(self._stop_and_leave(run.run_id), group="control", exit_on_error=False)
            elif how == "detach":
                self.app.exit(0)

        self.app.push_screen(QuitScreen([run], may_stop=not self.session.read_only), answered)

    async def _stop_and_leave(self, run_id: str) -> None:
        """Leave only once the stop is in the journal: a screen that is gone cannot say that it was refused."""
        try:
            await self.session.monitor.stop(run_id, self.session.person)
        except Exception as error:
            self.say(f"stop: {error}", "error")
        else:
            self.app.exit(0)

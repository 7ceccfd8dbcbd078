"""What a person does on the board: moves between its lists, opens, filters, marks, copies, asks for workers."""

from __future__ import annotations

import json
from functools import partial
from typing import Any, Final

from textual.worker import Worker

from poolboard.engine.views import EventView, MessageView, PromptNote, Summary

from .board_lists import VIEWS, BoardLists, View
from .child_screen import ChildScreen
from .columns import Look
from .confirm_screen import ConfirmScreen
from .event_screen import EventScreen
from .failures import FailureGroup
from .feed import Feed
from .filter_bar import FilterBar
from .held import is_held
from .message_screen import MessageScreen
from .questions import cancel_children_question, stop_part_question
from .send_screen import Draft, SendScreen
from .session import Session
from .sharing_keys import SharingKeys
from .stage_screen import StageScreen
from .table import Table
from .units import several
from .worker_wish import WorkerWish


class BoardKeys(SharingKeys):
    """The board's actions. What it shows, and when, is the board's own."""

    def __init__(self, session: Session, run_id: str, short_id: str) -> None:
        super().__init__(session)
        self.run_id: Final = run_id
        self.summary: Summary | None = None
        self._short_id: Final = short_id
        self._lists: Final = BoardLists(id="lists", ascii=session.ascii)
        self._wish: Final = WorkerWish()
        self._events_worker: Worker[None] | None = None
        self._messages_worker: Worker[None] | None = None
        self._in_group = ""  # the filter of the failure group that was opened last

    def _look(self) -> Look:
        raise NotImplementedError

    # -- the lists

    def action_view(self, number: int) -> None:
        self._to_view(VIEWS[number - 1])

    def do_view_next(self) -> None:
        self._to_view(VIEWS[(VIEWS.index(self._lists.view) + 1) % len(VIEWS)])

    def do_view_previous(self) -> None:
        self._to_view(VIEWS[VIEWS.index(self._lists.view) - 1])

    def _to_view(self, view: View) -> None:
        self._lists.to_view(view, self._look())
        for bar in self.query(FilterBar):
            bar.set_class(bar is not self._filter_bar, "-away")
        if view == "journal" and self._events_worker is None:
            # Read only once somebody wants to see them; then on, so that coming back misses none.
            feed = Feed(self.session.monitor, self.post_message, self.session.clock, self.session.pace)
            self._events_worker = self.run_worker(feed.events(self.run_id), group="events", exit_on_error=False)
        if view == "messages" and self._messages_worker is None:
            feed = Feed(self.session.monitor, self.post_message, self.session.clock, self.session.pace)
            self._messages_worker = self.run_worker(feed.messages(self.run_id), group="messages", exit_on_error=False)
        self.keys_changed()

    def do_timeline_by(self) -> None:
        self._lists.timeline.turn(self._look())
        self._lists.front.focus()
        self._lists.show_tabs()

    def on_table_moved(self, message: Table.Moved) -> None:
        self._lists.show_tabs()
        self.keys_changed()

    def on_table_entered(self, message: Table.Entered) -> None:
        if message.table is self._lists.front or self._lists.stage_in_focus is not None:
            self.action_enter()

    def action_enter(self) -> None:
        stage = self._lists.stage_in_focus
        if stage is not None:
            rates = self._lists.trends.get(stage.name, ())
            self.app.push_screen(StageScreen(self.session, self.run_id, stage.name, rates))
            return
        if self._lists.front.toggle_group():
            return
        row = self._lists.front.current()
        if isinstance(row, FailureGroup):
            self._show_group(row)
        elif isinstance(row, EventView):
            self.app.push_screen(EventScreen(row))
        elif isinstance(row, MessageView):
            self.app.push_screen(MessageScreen(row))
        elif isinstance(row, PromptNote):
            self.perform("answer")
        elif (n := self._lists.current_child()) is not None:
            self.app.push_screen(ChildScreen(self.session, self.run_id, n, self._short_id))

    def _show_group(self, group: FailureGroup) -> None:
        self._in_group = f"group:{group.id}"
        self._to_view("children")
        self._filter_bar.ask(self._in_group)
        self._lists.children_table.action_first()

    # -- filter and marks

    @property
    def _filter_bar(self) -> FilterBar:
        return self.query_one(f"#filter-{self._lists.filtered}", FilterBar)

    def do_filter(self) -> None:
        if self._lists.view != self._lists.filtered:
            self._to_view(self._lists.filtered)
        self._filter_bar.open()

    def on_filter_bar_changed(self, message: FilterBar.Changed) -> None:
        self._lists.filter_by(message.query, message.text.strip(), self._look())
        self.keys_changed()

    def on_filter_bar_left(self, message: FilterBar.Left) -> None:
        self._lists.front.focus()

    def action_back(self) -> None:
        lists = self._lists
        if lists.front.leave_range():
            lists.show_tabs()
        elif lists.filter_text:
            from_group = lists.view == "children" and lists.filter_text == self._in_group
            self._filter_bar.drop()
            if from_group:
                self._to_view("failures")  # where the person came from
        elif lists.front.rows.marks:
            lists.front.action_unmark()
        else:
            self.dismiss(None)

    def do_copy(self) -> None:
        group = self._lists.front.current()
        if isinstance(group, FailureGroup) and self.summary is not None:
            self.app.copy_to_clipboard(self._lists.failures.report(group, self.summary.run))
            self.say(f"copied a report of {several(group.failed, 'failed child', 'failed children')}")
            return
        n = self._lists.current_child()
        marks = sorted(int(key) for key in self._lists.children_table.rows.marks) or ([n] if n is not None else [])
        text = "\n".join(f"{self.run_id}#{n}" for n in marks) if marks else self.run_id
        self.app.copy_to_clipboard(text)
        self.say(f"copied {several(len(marks), 'child id')}" if marks else f"copied run id {self.run_id}")

    def copy_id(self) -> str:
        n = self._lists.current_child()
        return self.run_id if n is None else f"{self.run_id}#{n}"

    def list_in_front(self) -> Table[Any]:
        return self.focused if isinstance(self.focused, Table) else self._lists.front

    # -- questions and limits

    def wanted_prompt(self) -> tuple[str, int | None]:
        row = self._lists.front.current() if self._lists.view == "prompts" else None
        return self.run_id, row.id if isinstance(row, PromptNote) else None

    def do_change_limit(self) -> None:
        if (limit := self._lists.current_limit()) is not None:
            self.ask_limit(self.run_id, limit)

    # -- the run

    def do_send(self) -> None:
        """Write a message to the child under the cursor, or to the run."""
        n = self._lists.current_child()

        def written(draft: Draft | None) -> None:
            if draft is not None:
                value, by = json.dumps(draft.text), self.session.person
                ask = partial(self.session.monitor.send, self.run_id, draft.address, value, draft.mode, by)
                self.control("send", [ask])

        self.app.push_screen(SendScreen(self._short_id, f"child-{n}" if n else ""), written)

    def do_hold(self) -> None:
        part, monitor, by = self._lists.part(), self.session.monitor, self.session.person
        if part is None or self.summary is None:
            self.say("hold: put the cursor on a child, a stage or a worker")
            return
        verb = monitor.resume if is_held(part, self.summary.holds) else monitor.pause
        self.control("hold", [lambda: verb(self.run_id, by, part=part)])

    def do_stop_part(self) -> None:
        part, monitor, by = self._lists.part(), self.session.monitor, self.session.person
        if part is None or self.summary is None:
            self.say("stop part: put the cursor on a child, a stage or a worker")
            return

        def answered(yes: bool | None) -> None:
            if yes:
                self.control("stop_part", [lambda: monitor.stop(self.run_id, by, part=part)])

        question = stop_part_question(part, self.summary.run, self._lists.active_in(part))
        self.app.push_screen(ConfirmScreen(question), answered)

    def do_cancel_child(self) -> None:
        part, monitor, by = self._lists.part(), self.session.monitor, self.session.person
        if part is None or not part.children:
            self.say("cancel child: put the cursor on a child, or mark some")
            return

        def answered(yes: bool | None) -> None:
            if yes:
                self.control("cancel_child", [lambda: monitor.cancel(self.run_id, by, part=part)])

        self.app.push_screen(ConfirmScreen(cancel_children_question([n for n, _ in part.children])), answered)

    def do_more_workers(self) -> None:
        self._step_workers("more_workers", 1)

    def do_fewer_workers(self) -> None:
        self._step_workers("fewer_workers", -1)

    def _step_workers(self, action_id: str, by: int) -> None:
        count = self._wish.step(by, self._workers_shown, self.session.clock.steady_s())
        monitor, person = self.session.monitor, self.session.person
        self.control(action_id, [partial(monitor.set_workers, self.run_id, count, person)], self._wish.forget)

    @property
    def _workers_shown(self) -> int:
        return len(self.summary.workers) if self.summary else 0

    def ask_to_quit(self) -> bool:
        self.leave_run(self.summary.run if self.summary else None, ask=True)
        return True

    def do_leave(self) -> None:
        if self.session.home == self.run_id:
            self.leave_run(self.summary.run if self.summary else None)
        else:
            self.dismiss(None)

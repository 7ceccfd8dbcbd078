"""One child: its stages with attempts, results and errors; its input, result, error; and the tail of its log."""

from __future__ import annotations

from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import ContentSwitcher

from poolboard.engine.views import StageRun

from .action import Scope, Situation
from .actions import bindings
from .child_list import is_live, took_s
from .child_log_keys import ChildLogKeys
from .child_text import VIEWS, document
from .columns import Look
from .feed import Feed
from .glyphs import WORK_MARKS
from .line import Line, Piece, Sides
from .log_view import LogView
from .messages import ChildRead, FeedTrouble, FeedWell
from .rows import Rows
from .session import Session
from .stage_run_list import STAGE_RUN_COLUMNS, STAGE_RUN_SHAPE
from .table import Table
from .text_pane import PaneLine, TextPane
from .units import clock_time, count, duration, several


class ChildScreen(ChildLogKeys):
    """One child in full. The pane below shows what the tabs name; the stage tab follows the cursor above."""

    SCOPE: ClassVar[Scope] = "child"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("child")]

    def __init__(self, session: Session, run_id: str, n: int, short_id: str) -> None:
        super().__init__(session, run_id, n, short_id)
        self._stages = Table(
            Rows[StageRun](STAGE_RUN_SHAPE),
            STAGE_RUN_COLUMNS,
            id="stage-runs",
            ascii=session.ascii,
            empty=("No stage has been recorded yet.",),
        )
        self._pane = TextPane(id="pane")
        self._feed: Final = Feed(session.monitor, self.post_message, session.clock, session.pace)
        self._view = "stage"
        self._chosen = False
        self._trouble = self._waits = ""
        self._frozen = False

    def compose(self) -> ComposeResult:
        yield Line(self._identity, id="identity")
        yield Line(self._numbers, id="numbers")
        yield Line(self._error, id="why", classes="alert")
        yield self._stages
        yield Line(self._tabs, id="tabs")
        with ContentSwitcher(initial="pane", id="views"):
            yield self._pane
            yield self._log_view
        yield from self.key_bar()

    def on_mount(self) -> None:
        self._stages.focus()
        self._ticker = self.set_interval(1.0, self._show_lines, pause=True)
        self.run_worker(self._feed.child(self.run_id, self.n), group="feed", exit_on_error=False)

    # -- what comes in

    def on_child_read(self, message: ChildRead) -> None:
        if self._frozen:
            return
        changed = message.child != self.child or message.waits != self._waits
        before, self.child, self._waits = self.child, message.child, message.waits
        if not changed:
            return
        if self._view == "log" and self._new_files(before):
            self._to_view("log")
        if not self._chosen:
            self._view = "error" if self.child.error else "stage"
            self._chosen = True
        self._stages.rows.replace(self.child.stages)
        self._stages.settle(Look(self.session.clock.wall_ms(), self.session.ascii))
        (self._ticker.resume if is_live(self.child.row) else self._ticker.pause)()
        self._show_document()
        self._show_lines()

    def on_feed_trouble(self, message: FeedTrouble) -> None:
        self._trouble = message.reason
        self._show_lines()

    def on_feed_well(self, message: FeedWell) -> None:
        self._trouble = ""
        self._show_lines()

    # -- what is shown

    def _show_document(self) -> None:
        """Fill the pane for every tab but the log, which is fed by bytes."""
        if self.child is None or self._view == "log":
            return
        self._pane.show_lines(document(self.child, self._view, self._stages.current()))

    def _show_lines(self) -> None:
        for name, build in (("identity", self._identity), ("numbers", self._numbers), ("tabs", self._tabs)):
            self.query_one(f"#{name}", Line).show(build)
        why = self.query_one("#why", Line)
        why.set_class(bool(self._error(80).left), "-shown")
        why.show(self._error)
        self.keys_changed()

    def _identity(self, cells: int) -> Sides:
        if self.child is None:
            return Sides([Piece(f"reading child #{self.n} of {self._short_id}…", "$quiet")])
        row = self.child.row
        mark = WORK_MARKS[row.state]
        left = [
            Piece(f"{self._short_id} ›" if not self.session.ascii else f"{self._short_id} >", "$quiet", 3, "back"),
            Piece(f"{mark.sign(self.session.ascii)} {mark.word}", f"bold $state-{mark.tone}", 9),
            Piece(row.label, "bold", 8, elastic=True, least=8),
            Piece(f"#{row.n}", "$quiet", 9),  # labels may be alike: the number says which child it is
            Piece(row.workflow, "$quiet", 4),
        ]
        seconds = took_s(row, self.session.clock.wall_ms() if is_live(row) else None)
        took = [] if row.started_at is None else [Piece(f"took {duration(seconds)}", "", 7)]
        return Sides(left, took)

    def _numbers(self, cells: int) -> Sides:
        if self.child is None:
            return Sides([])
        row, now_ms = self.child.row, self.session.clock.wall_ms()
        left = [
            Piece(f"run {self._short_id}", "$quiet", 4),
            Piece(f"{several(row.stages_done, 'stage')} recorded", "", 8),
        ]
        if row.starts:
            left.append(Piece(several(row.starts, "start"), "$warning" if row.starts > 1 else "", 6))
        if row.stage:
            words, style = ("in", "$state-running") if is_live(row) else ("last in", "$quiet")
            left.append(Piece(f"{words} {row.stage}", style, 7))
        if row.worker:
            left.append(Piece(f"on {row.worker}", "$quiet", 5))
        if self.child.children.total:
            own = self.child.children
            left.append(Piece(f"{count(own.settled)} of {several(own.total, 'child', 'children')} settled", "", 5))
        right = [Piece(f"started {clock_time(row.started_at, now_ms)}", "$quiet", 3)] if row.started_at else []
        return Sides(left, right)

    def _error(self, cells: int) -> Sides:
        if self._trouble:
            return Sides([Piece(f"cannot read: {self._trouble}", "bold $error")])
        if self.child is not None and self.child.row.error:
            return Sides([Piece(self.child.row.error, "$error")])
        if self._waits and not self._frozen:
            return Sides([Piece(self._waits, "$state-waiting")])
        return Sides([Piece("display frozen: Z goes on", "bold $warning")] if self._frozen else [])

    def _tabs(self, cells: int) -> Sides:
        title: list[Piece] = []
        for name in VIEWS:
            here = name == self._view
            title.append(
                Piece(name, "bold $foreground underline" if here else "$quiet", 9 if here else 4, f"tab:{name}")
            )
        right: list[Piece] = []
        if self._view == "log":
            right += self._log_note()
        return Sides(title, right)

    def situation(self) -> Situation:
        return Situation(
            read_only=self.session.read_only,
            has_row=self.child is not None,
            frozen=self._frozen,
            view=self._view,
            searched=bool(self._log_view.text),
            guest=self.session.guest,
        )

    # -- what the person does

    def on_line_chosen(self, message: Line.Chosen) -> None:
        # What is no tab is done by every screen's handler, which Textual calls by itself after this one.
        if message.action.startswith("tab:"):
            message.stop()
            message.prevent_default()
            self._to_view(message.action.removeprefix("tab:"))

    def on_table_moved(self, message: Table.Moved) -> None:
        if self._view == "stage":
            self._show_document()

    def on_table_entered(self, message: Table.Entered) -> None:
        self._to_view("stage")
        self._pane.focus()

    def on_log_view_changed(self, message: LogView.Changed) -> None:
        for line in self.query("#tabs").results(Line):  # none any more, if the screen is being left
            line.show(self._tabs)
        self.keys_changed()

    def on_log_view_said(self, message: LogView.Said) -> None:
        self.say(message.text)

    def _to_view(self, name: str) -> None:
        self._view, self._chosen = name, True
        self._log_view.close()
        links = self._links() if name == "log" else []
        self.query_one("#views", ContentSwitcher).current = "log" if links else "pane"
        if links:
            self._log_view.open(links)
            self._log_view.pane.focus()
        elif name == "log":
            self._pane.set_lines([PaneLine("This child has written no log.", "quiet")])
        else:
            self._pane.set_lines([])
            self._show_document()
        self._show_lines()

    def do_view_next(self) -> None:
        self._to_view(VIEWS[(VIEWS.index(self._view) + 1) % len(VIEWS)])

    def do_view_previous(self) -> None:
        self._to_view(VIEWS[(VIEWS.index(self._view) - 1) % len(VIEWS)])

    def action_back(self) -> None:
        if self._stages.leave_range():
            return
        if self._stages.rows.marks:
            self._stages.action_unmark()
        elif self._view == "log" and self._log_view.text:
            self._log_view.drop()
        else:
            self.dismiss(None)

    def do_leave(self) -> None:
        self.dismiss(None)

    def do_copy(self) -> None:
        if self._view == "log":
            self._copy_lines()
            return
        self.app.copy_to_clipboard(self.copy_id())
        self.say(f"copied child id {self._short_id}#{self.n}")

    def copy_id(self) -> str:
        return f"{self.run_id}#{self.n}"

    def do_freeze(self) -> None:
        self._frozen = not self._frozen
        self._show_lines()
        if not self._frozen:
            self._feed.refresh()

    def do_refresh(self) -> None:
        self._feed.refresh()

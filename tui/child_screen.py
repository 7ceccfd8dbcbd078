"""One child: its stages with attempts, results and errors; its input, result, error; and the tail of its log."""

from __future__ import annotations

import codecs
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.worker import Worker

from poolboard.engine.views import ChildView, LogFile, StageRun

from .action import Scope, Situation
from .actions import bindings
from .child_list import is_live, took_s
from .child_text import VIEWS, document
from .columns import Look
from .feed import Feed
from .glyphs import WORK_MARKS
from .line import Line, Piece, Sides
from .messages import ChildRead, FeedTrouble, FeedWell, LogRead
from .rows import Rows
from .screen import PoolScreen
from .session import Session
from .stage_run_list import STAGE_RUN_COLUMNS, STAGE_RUN_SHAPE
from .table import Table
from .text_pane import PaneLine, TextPane
from .units import clock_time, count, duration, several, size


class ChildScreen(PoolScreen):
    """One child in full. The pane below shows what the tabs name; the stage tab follows the cursor above."""

    SCOPE: ClassVar[Scope] = "child"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("child")]

    def __init__(self, session: Session, run_id: str, n: int, short_id: str) -> None:
        super().__init__(session)
        self.run_id: Final = run_id
        self.n: Final = n
        self.child: ChildView | None = None
        self._short_id: Final = short_id
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
        self._log_index = -1
        self._log_worker: Worker[None] | None = None
        self._log_cut_bytes = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._partial = ""
        self._trouble = ""
        self._frozen = False

    def compose(self) -> ComposeResult:
        yield Line(self._identity, id="identity")
        yield Line(self._numbers, id="numbers")
        yield Line(self._error, id="why", classes="alert")
        yield self._stages
        yield Line(self._tabs, id="tabs")
        yield self._pane
        yield from self.key_bar()

    def on_mount(self) -> None:
        self._stages.focus()
        self._ticker = self.set_interval(1.0, self._show_lines, pause=True)
        self.run_worker(self._feed.child(self.run_id, self.n), group="feed", exit_on_error=False)

    # -- what comes in

    def on_child_read(self, message: ChildRead) -> None:
        if self._frozen:
            return
        changed = message.child != self.child
        self.child = message.child
        if not changed:
            return
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

    def on_log_read(self, message: LogRead) -> None:
        log = self._log
        if self._view != "log" or log is None or message.path != log.path or self._frozen:
            return
        if message.restarted:
            self._decoder.reset()
            self._partial = ""
            self._log_cut_bytes = message.offset
            cut = f"… {size(message.offset)} before this are not shown" if message.offset else ""
            self._pane.set_lines([PaneLine(cut, "quiet")] if cut else [])
        text = self._partial + self._decoder.decode(message.data)
        *whole, self._partial = text.split("\n")
        at_start = message.restarted
        self._pane.append(PaneLine(line.removesuffix("\r")) for line in whole)
        if at_start:
            self._pane.to_end()
        self._show_lines()

    # -- what is shown

    @property
    def _log(self) -> LogFile | None:
        logs = self.child.logs if self.child else ()
        return logs[self._log_index % len(logs)] if logs else None

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
            Piece(f"{mark.sign(self.session.ascii)} {mark.word}", f"bold $state-{mark.tone}", 9),
            Piece(row.label, "bold", 8, elastic=True),
            Piece(f"#{row.n}", "$quiet", 6),
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
        return Sides([Piece("display frozen: Z goes on", "bold $warning")] if self._frozen else [])

    def _tabs(self, cells: int) -> Sides:
        title: list[Piece] = []
        for name in VIEWS:
            here = name == self._view
            title.append(
                Piece(name, "bold $foreground underline" if here else "$quiet", 9 if here else 4, f"tab:{name}")
            )
        right: list[Piece] = []
        log = self._log
        if self._view == "log" and log is not None and self.child is not None:
            which = f"{log.stage} attempt {log.attempt}"
            right.append(Piece(which, "$quiet", 6))
            if len(self.child.logs) > 1:
                right.append(
                    Piece(f"{self.child.logs.index(log) + 1} of {several(len(self.child.logs), 'file')}", "$quiet", 5)
                )
            right.append(
                Piece(f"{several(self._pane.behind, 'new line')}: G follows", "bold $warning", 8)
                if self._pane.behind
                else Piece("follow: on", "$quiet", 3)
            )
        return Sides(title, right)

    def situation(self) -> Situation:
        return Situation(read_only=self.session.read_only, has_row=self.child is not None, frozen=self._frozen)

    # -- what the person does

    def on_line_chosen(self, message: Line.Chosen) -> None:
        if message.action.startswith("tab:"):
            message.stop()
            self._to_view(message.action.removeprefix("tab:"))
        else:
            super().on_line_chosen(message)

    def on_table_moved(self, message: Table.Moved) -> None:
        if self._view == "stage":
            self._show_document()

    def on_table_entered(self, message: Table.Entered) -> None:
        self._to_view("stage")
        self._pane.focus()

    def on_text_pane_behind(self, message: TextPane.Behind) -> None:
        self.query_one("#tabs", Line).show(self._tabs)

    def _to_view(self, name: str) -> None:
        self._view, self._chosen = name, True
        if self._log_worker is not None:
            self._log_worker.cancel()
            self._log_worker = None
        if name == "log":
            self._open_log()
        else:
            self._pane.set_lines([])
            self._show_document()
        self._show_lines()

    def _open_log(self) -> None:
        log = self._log
        self._pane.set_lines([] if log else [PaneLine("This child has written no log.", "quiet")])
        if log is not None:
            feed = Feed(self.session.monitor, self.post_message, self.session.clock, self.session.pace)
            self._log_worker = self.run_worker(feed.log(log.path, log.size_bytes), group="log", exit_on_error=False)
            self._pane.focus()

    def do_view_next(self) -> None:
        self._to_view(VIEWS[(VIEWS.index(self._view) + 1) % len(VIEWS)])

    def do_view_previous(self) -> None:
        self._to_view(VIEWS[(VIEWS.index(self._view) - 1) % len(VIEWS)])

    def do_log(self) -> None:
        self._to_view("log")

    def do_next_log(self) -> None:
        self._log_index += 1
        self._to_view("log")

    def action_back(self) -> None:
        self.dismiss(None)

    def do_leave(self) -> None:
        self.dismiss(None)

    def do_copy(self) -> None:
        self.app.copy_to_clipboard(f"{self.run_id}#{self.n}")
        self.say(f"copied child id {self._short_id}#{self.n}")

    def do_freeze(self) -> None:
        self._frozen = not self._frozen
        self._show_lines()
        if not self._frozen:
            self._feed.refresh()

    def do_refresh(self) -> None:
        self._feed.refresh()

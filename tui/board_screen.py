"""A run's board: is it moving, when will it be done, what is failing and why; and the children below."""

from __future__ import annotations

import gc
from collections import deque
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import BindingType

from poolboard.engine.views import Summary

from .actions import Scope, Situation, bindings
from .board_header import BoardHeader
from .board_lists import BoardLists
from .board_notes import banner, frozen_note
from .child_list import CHILD_SHAPE
from .child_screen import ChildScreen
from .columns import Look
from .feed import Feed
from .filter_bar import FilterBar
from .glyphs import ACTIVE
from .header import TICKING, Facts
from .line import Line, Sides
from .messages import ChildrenRead, FeedTrouble, FeedWell, SummaryRead
from .quit_screen import QuitScreen
from .screen import PoolScreen
from .session import Session
from .table import Table
from .units import several

_RATES_KEPT: Final = 60
_RATE_EVERY_S: Final = 1.0


class BoardScreen(PoolScreen):
    """One run, live. What is read goes into rows; ``_flush`` brings rows and screen together, once per interval."""

    SCOPE: ClassVar[Scope] = "board"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("board")]

    def __init__(self, session: Session, run_id: str, short_id: str | None = None) -> None:
        super().__init__(session)
        self.run_id: Final = run_id
        self.summary: Summary | None = None
        self._short_id: Final = short_id or run_id[:8]
        self._header: Final = BoardHeader(self._short_id, id="header")
        self._lists: Final = BoardLists(id="lists", ascii=session.ascii)
        self._feed: Final = Feed(session.monitor, self.post_message, session.clock, session.pace)
        self._rates: deque[float] = deque(maxlen=_RATES_KEPT)
        self._read_at_s = self._rated_at_s = session.clock.steady_s()
        self._listed_at_s = float("-inf")
        self._trouble = ""
        self._frozen_at_s: float | None = None
        self._held_changes = 0
        self._flush_waits = False
        self._hidden = False

    def compose(self) -> ComposeResult:
        yield self._header
        yield Line(self._banner, id="banner")
        yield self._lists
        yield FilterBar(CHILD_SHAPE.kinds, id="filter")
        yield from self.key_bar()

    def on_mount(self) -> None:
        self._lists.children_table.focus()
        self._ticker = self.set_interval(1.0, self._tick, pause=True)
        self.run_worker(self._feed.run(self.run_id), group="feed", exit_on_error=False)

    def on_screen_suspend(self) -> None:
        """Go on reading, so that coming back is instant, but touch nothing: the screen above would be repainted."""
        self._hidden = True

    def on_screen_resume(self) -> None:
        self._hidden = False
        self._soon()

    # -- what comes in

    def on_summary_read(self, message: SummaryRead) -> None:
        now_s = self.session.clock.steady_s()
        if now_s - self._rated_at_s >= _RATE_EVERY_S:
            self._rates.append(message.summary.rate_per_s)
            self._rated_at_s = now_s
        self.summary, self._read_at_s = message.summary, now_s
        self._soon()

    def on_children_read(self, message: ChildrenRead) -> None:
        self._held_changes += self._lists.take(message.rows)
        if self._lists.loading and not message.more:
            self._lists.loading = False
            self.call_later(_settle_memory)
        self._soon()

    def on_feed_trouble(self, message: FeedTrouble) -> None:
        self._trouble = message.reason
        self._soon()

    def on_feed_well(self, message: FeedWell) -> None:
        self._trouble = ""
        self._soon()

    def _soon(self) -> None:
        """Flush once per interval, however much comes in."""
        if not self._flush_waits:
            self._flush_waits = True
            self.set_timer(self.session.pace.interval_s, self._flush)

    def _flush(self) -> None:
        self._flush_waits = False
        if self._hidden:
            return
        if self.summary is not None and self._frozen_at_s is None:
            self._settle_lists(self.summary)
        self._show_lines()
        (self._ticker.resume if self._ticks() else self._ticker.pause)()

    def _settle_lists(self, summary: Summary) -> None:
        now_s = self.session.clock.steady_s()
        if now_s - self._listed_at_s < self.session.pace.lists_s and not self._lists.loading:
            self._soon()  # what came in meanwhile must not wait for the next change
            return
        self._listed_at_s = now_s
        self._lists.settle(summary, self._look())
        self._held_changes = 0

    def _tick(self) -> None:
        if self._hidden:
            return
        if self._frozen_at_s is None:
            self._lists.settle_children(self._look())
        self._show_lines()

    def _ticks(self) -> bool:
        """Say whether something on screen grows by itself: an elapsed time, an age."""
        summary = self.summary
        if self._frozen_at_s is not None or self._trouble:
            return True
        if summary is None:
            return False
        return summary.run.status == "crashed" or (summary.run.status in TICKING and summary.coordinator.alive)

    def _look(self) -> Look:
        """Clocks of rows run only while a coordinator is there to make them true."""
        summary = self.summary
        if summary is None:
            return Look(None, self.session.ascii)
        going = summary.coordinator.alive and summary.run.status in ACTIVE
        now_ms = self.session.clock.wall_ms() if going else None
        return Look(now_ms, self.session.ascii, ended=summary.run.ended_at is not None)

    # -- what is shown

    def _show_lines(self) -> None:
        if self._frozen_at_s is None:
            late_s = self.session.clock.steady_s() - self._read_at_s
            self._header.show(self.summary, Facts(self._short_id, late_s, self.session.ascii, tuple(self._rates)))
        self._lists.show_tabs()
        note = self.query_one("#banner", Line)
        note.set_class(bool(self._banner(80).left), "-shown")
        note.show(self._banner)
        self.keys_changed()

    def _banner(self, cells: int) -> Sides:
        now_s = self.session.clock.steady_s()
        if self._frozen_at_s is not None:
            return frozen_note(now_s - self._frozen_at_s, self._held_changes)
        return banner(self.summary, self._trouble, now_s - self._read_at_s)

    def situation(self) -> Situation:
        return Situation(
            self.summary.run if self.summary else None,
            self.session.read_only,
            has_row=self._lists.current_child() is not None,
            frozen=self._frozen_at_s is not None,
            root=self.session.home == self.run_id,
        )

    # -- what the person does

    def do_view_1(self) -> None:
        self._lists.to_view("children")

    def do_view_2(self) -> None:
        self._lists.to_view("workers")

    def do_view_3(self) -> None:
        self._lists.to_view("slots")

    def do_view_next(self) -> None:
        self._lists.next_view(1)

    def do_view_previous(self) -> None:
        self._lists.next_view(-1)

    def on_table_moved(self, message: Table.Moved) -> None:
        self._lists.show_tabs()
        self.keys_changed()

    def on_table_entered(self, message: Table.Entered) -> None:
        if message.table.id in ("children", "slots"):
            self._open(int(message.key))

    def action_enter(self) -> None:
        n = self._lists.current_child()
        if n is not None:
            self._open(n)

    def _open(self, n: int) -> None:
        self.app.push_screen(ChildScreen(self.session, self.run_id, n, self._short_id))

    def do_pause(self) -> None:
        if self.summary is not None:
            self.pause_or_resume(self.summary.run)

    def do_stop(self) -> None:
        if self.summary is not None:
            self.ask_to_stop(self.summary.run)

    def do_filter(self) -> None:
        self._lists.to_view("children")
        self.query_one(FilterBar).open()

    def on_filter_bar_changed(self, message: FilterBar.Changed) -> None:
        self._lists.filter_by(message.query, message.text.strip(), self._look())
        self.keys_changed()

    def on_filter_bar_left(self, message: FilterBar.Left) -> None:
        self._lists.children_table.focus()

    def action_back(self) -> None:
        if self._lists.filter_text:
            self.query_one(FilterBar).drop()
        elif self._lists.children_table.rows.marks:
            self.do_unmark()
        else:
            self.dismiss(None)

    def do_mark(self) -> None:
        self._lists.children_table.action_mark()
        self._lists.show_tabs()

    def do_unmark(self) -> None:
        self._lists.children_table.action_unmark()
        self._lists.show_tabs()

    def do_copy(self) -> None:
        marks = sorted(int(key) for key in self._lists.children_table.rows.marks)
        text = "\n".join(f"{self.run_id}#{n}" for n in marks) if marks else self.run_id
        self.app.copy_to_clipboard(text)
        self.say(f"copied {several(len(marks), 'child id')}" if marks else f"copied run id {self.run_id}")

    def do_freeze(self) -> None:
        self._frozen_at_s = self.session.clock.steady_s() if self._frozen_at_s is None else None
        self._held_changes = 0
        self._flush()

    def do_refresh(self) -> None:
        self._feed.refresh()
        self._flush()

    def do_leave(self) -> None:
        run = self.summary.run if self.summary else None
        if self.session.home != self.run_id:
            self.dismiss(None)
            return
        if run is None or run.status not in ACTIVE:
            self.app.exit(0)
            return

        def answered(how: str | None) -> None:
            if how == "stop":
                self.run_worker(self._stop_and_leave(), group="control", exit_on_error=False)
            elif how == "detach":
                self.app.exit(0)

        self.app.push_screen(QuitScreen([run], may_stop=not self.session.read_only), answered)

    async def _stop_and_leave(self) -> None:
        """Leave only once the stop is in the journal: a screen that is gone cannot say that it was refused."""
        try:
            await self.session.monitor.stop(self.run_id, self.session.person)
        except Exception as error:
            self.say(f"stop: {error}", "error")
        else:
            self.app.exit(0)


def _settle_memory() -> None:
    """Take the first load out of the collector's sight: full collections over 100,000 rows would be felt as stutter."""
    gc.collect()
    gc.freeze()

"""A run's board: is it moving, when will it be done, what is failing and why; and the children below."""

from __future__ import annotations

from collections import deque
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import BindingType

from poolboard.engine.views import Summary

from . import memory
from .action import Scope, Situation
from .actions import bindings
from .bell import comes_to_rest, ring
from .board_header import BoardHeader
from .board_keys import BoardKeys
from .board_notes import banner, frozen_note
from .child_list import CHILD_SHAPE
from .columns import Look
from .event_list import EVENT_SHAPE
from .feed import Feed
from .filter_bar import FilterBar
from .glyphs import ACTIVE
from .header import TICKING, Facts
from .held import children_held, stopped_among
from .line import Line, Sides
from .message_list import MESSAGE_SHAPE
from .messages import ChildrenRead, EventsRead, FeedTrouble, FeedWell, MessagesRead, SummaryRead
from .session import Session

_RATES_KEPT: Final = 60
_RATE_EVERY_S: Final = 1.0


class BoardScreen(BoardKeys):
    """One run, live. What is read goes into rows; ``_flush`` brings rows and screen together, once per interval."""

    SCOPE: ClassVar[Scope] = "board"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("board")]

    def __init__(self, session: Session, run_id: str, short_id: str | None = None) -> None:
        super().__init__(session, run_id, short_id or run_id[:8])
        self._header: Final = BoardHeader(self._short_id, id="header")
        self._feed: Final = Feed(session.monitor, self.post_message, session.clock, session.pace)
        self._rates: deque[float] = deque(maxlen=_RATES_KEPT)
        self._read_at_s = self._rated_at_s = session.clock.steady_s()
        self._listed_at_s = float("-inf")
        self._trouble = ""
        self._frozen_at_s: float | None = None
        self._held_changes = 0
        self._flush_waits = False
        self._hidden = False
        self._told = ""

    def compose(self) -> ComposeResult:
        yield self._header
        yield Line(self._banner, id="banner")
        yield self._lists
        yield FilterBar(CHILD_SHAPE.kinds, id="filter-children")
        yield FilterBar(EVENT_SHAPE.kinds, id="filter-journal")
        yield FilterBar(MESSAGE_SHAPE.kinds, id="filter-messages")
        yield from self.key_bar()

    def on_mount(self) -> None:
        self._lists.children_table.focus()
        self._ticker = self.set_interval(1.0, self._tick, pause=True)
        restart = not self.session.read_only
        self.run_worker(self._feed.run(self.run_id, restart=restart), group="feed", exit_on_error=False)

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
            self._lists.note_rates(message.summary.stages)
            self._rated_at_s = now_s
        before = self.summary.run.status if self.summary else None
        self.summary, self._read_at_s = message.summary, now_s
        if self.session.notify and comes_to_rest(before, message.summary.run.status):
            ring(self.app, message.summary.run)
        self._tell_restart(message.summary)
        self.meet_prompts(message.summary, in_sight=not self._hidden and self._frozen_at_s is None)
        self._soon()

    def _tell_restart(self, summary: Summary) -> None:
        """What was done about a crash is an alert of one summary only: the next may come before anyone has read it."""
        told = summary.alerts[0] if summary.run.status == "crashed" and summary.alerts else ""
        if told and told != self._told:
            self.say(told, "warning")
        self._told = told

    def on_children_read(self, message: ChildrenRead) -> None:
        self._held_changes += self._lists.take(message.rows)
        if self._lists.still_reading and not message.more:
            self._lists.still_reading = False
            self.call_later(memory.settle)
        self._soon()

    def on_events_read(self, message: EventsRead) -> None:
        self._lists.events.take(message.events, message.last_seq)
        self._soon()

    def on_messages_read(self, message: MessagesRead) -> None:
        self._lists.messages.take(message.view)
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
        if now_s - self._listed_at_s < self.session.pace.lists_s and not self._lists.still_reading:
            self._soon()  # what came in meanwhile must not wait for the next change
            return
        self._listed_at_s = now_s
        self._lists.settle(summary, self._look())
        self._held_changes = 0

    def _tick(self) -> None:
        if self._hidden:
            return
        if self._frozen_at_s is None:
            self._lists.settle_front(self._look())
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
        held, stopped = children_held(summary.holds), stopped_among("stage", summary.holds)
        return Look(now_ms, self.session.ascii, summary.run.ended_at is not None, held, stopped)

    # -- what is shown

    def _show_lines(self) -> None:
        if self._frozen_at_s is None:
            late_s = self.session.clock.steady_s() - self._read_at_s
            from_runs = self.session.home != self.run_id
            facts = Facts(
                self._short_id, late_s, self.session.ascii, tuple(self._rates), from_runs, self.session.clock.wall_ms()
            )
            self._header.show(self.summary, facts)
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
            has_row=self._lists.has_row,
            frozen=self._frozen_at_s is not None,
            root=self.session.home == self.run_id,
            workers=self._wish.count(self._workers_shown, self.session.clock.steady_s()),
            view=self._lists.view,
            guest=self.session.guest,
            reading=self.summary is None,
        )

    # -- what the person does

    def do_freeze(self) -> None:
        self._frozen_at_s = self.session.clock.steady_s() if self._frozen_at_s is None else None
        self._held_changes = 0
        self._flush()

    def do_refresh(self) -> None:
        self._feed.refresh()
        self._flush()

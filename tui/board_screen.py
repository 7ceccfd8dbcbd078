"""A run's board: is it moving, when will it be done, what is failing and why; and the children below."""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Iterator
from functools import partial
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import ContentSwitcher

from poolboard.engine.views import ActiveView, ChildRow, StageView, Summary, WorkerView

from .actions import Scope, Situation, bindings
from .board_notes import banner, frozen_note
from .child_list import CHILD_COLUMNS, CHILD_SHAPE
from .child_screen import ChildScreen
from .columns import Look
from .feed import Feed
from .filter_bar import FilterBar
from .glyphs import ACTIVE
from .header import TICKING, Facts, identity, numbers, progress
from .line import Line, Piece, Sides
from .list_line import list_line
from .messages import ChildrenRead, FeedTrouble, FeedWell, SummaryRead
from .quit_screen import QuitScreen
from .rows import Rows
from .screen import PoolScreen
from .session import Session
from .stage_list import STAGE_COLUMNS, STAGE_SHAPE
from .table import Table
from .units import count, several
from .worker_list import SLOT_COLUMNS, SLOT_SHAPE, WORKER_COLUMNS, WORKER_SHAPE

VIEWS: Final = ("children", "workers", "slots")
_RATES_KEPT: Final = 60
_RATE_EVERY_S: Final = 1.0
_ALERTS_SHOWN: Final = 3


class BoardScreen(PoolScreen):
    """One run, live. What is read goes into rows; ``_flush`` brings rows and screen together, once per interval."""

    SCOPE: ClassVar[Scope] = "board"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("board")]

    def __init__(self, session: Session, run_id: str, short_id: str | None = None) -> None:
        super().__init__(session)
        self.run_id: Final = run_id
        self.summary: Summary | None = None
        self._short_id: Final = short_id or run_id[:8]
        ascii = session.ascii
        self._stages = Table(Rows[StageView](STAGE_SHAPE), STAGE_COLUMNS, id="stages", ascii=ascii)
        self._children = Table(
            Rows[ChildRow](CHILD_SHAPE, follow_top=True),
            CHILD_COLUMNS,
            id="children",
            empty=("", "Reading the journal…"),
            ascii=ascii,
        )
        # What fails and what moves is what a person looks for: it comes before what is done.
        self._children.choose_order("state")
        self._workers = Table(
            Rows[WorkerView](WORKER_SHAPE), WORKER_COLUMNS, id="workers", empty=("", "No workers now."), ascii=ascii
        )
        self._slots = Table(
            Rows[ActiveView](SLOT_SHAPE),
            SLOT_COLUMNS,
            id="slots",
            empty=("", "No child is in a slot now."),
            ascii=ascii,
        )
        self._feed: Final = Feed(session.monitor, self.post_message, session.clock, session.pace)
        self._rates: deque[float] = deque(maxlen=_RATES_KEPT)
        self._read_at_s = self._rated_at_s = session.clock.steady_s()
        self._filter_text = ""
        self._trouble = ""
        self._loading = True
        self._frozen_at_s: float | None = None
        self._held_changes = 0
        self._flush_waits = False
        self._hidden = False
        self._listed_at_s = -1e9

    def compose(self) -> ComposeResult:
        with Vertical(id="header"):
            yield Line(self._identity, id="identity")
            yield Line(self._progress, id="progress")
            yield Line(self._numbers, id="numbers")
        yield Line(self._banner, id="banner")
        for place in range(_ALERTS_SHOWN):
            yield Line(id=f"alert-{place}", classes="alert")
        yield self._stages
        yield Line(self._tabs, id="tabs")
        with ContentSwitcher(initial="children", id="views"):
            yield self._children
            yield self._workers
            yield self._slots
        yield FilterBar(CHILD_SHAPE.kinds, id="filter")
        yield from self.key_bar()

    def on_mount(self) -> None:
        self._children.focus()
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
        self._held_changes += self._children.rows.upsert(message.rows)
        if self._loading and not message.more:
            self._loading = False
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
        summary = self.summary
        now_s = self.session.clock.steady_s()
        if now_s - self._listed_at_s < self.session.pace.lists_s and not self._loading:
            self._soon()
        elif self._frozen_at_s is None and summary is not None:
            self._listed_at_s = now_s
            look = self._look()
            self._stages.rows.replace(summary.stages)
            self._workers.rows.replace(summary.workers)
            self._slots.rows.replace(summary.active)
            for table in self._tables():
                table.settle(look)
            self._children.show_empty(self._nothing())
            self._held_changes = 0
        self._show_lines()
        ticking = summary is not None and self._ticks()
        (self._ticker.resume if ticking or self._frozen_at_s is not None else self._ticker.pause)()

    def _tick(self) -> None:
        if self._hidden:
            return
        if self._frozen_at_s is None and self._ticks():
            self._children.settle(self._look())
        self._show_lines()

    def _ticks(self) -> bool:
        summary = self.summary
        if summary is None:
            return False
        gone = not summary.coordinator.alive and summary.run.status == "crashed"
        return gone or bool(self._trouble) or (summary.run.status in TICKING and summary.coordinator.alive)

    def _tables(self) -> Iterator[Table[StageView] | Table[ChildRow] | Table[WorkerView] | Table[ActiveView]]:
        yield self._stages
        yield self._children
        yield self._workers
        yield self._slots

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
        frozen = self._frozen_at_s is not None
        if not frozen:
            for name, build in (("identity", self._identity), ("progress", self._progress), ("numbers", self._numbers)):
                self.query_one(f"#{name}", Line).show(build)
            self._show_alerts()
        self.query_one("#tabs", Line).show(self._tabs)
        note = self.query_one("#banner", Line)
        note.set_class(bool(self._banner(80).left), "-shown")
        note.show(self._banner)
        self.keys_changed()

    def _show_alerts(self) -> None:
        alerts = self.summary.alerts if self.summary else ()
        for place in range(_ALERTS_SHOWN):
            line = self.query_one(f"#alert-{place}", Line)
            text = alerts[place] if place < len(alerts) else ""
            if place == _ALERTS_SHOWN - 1 and len(alerts) > _ALERTS_SHOWN:
                text = f"{len(alerts) - _ALERTS_SHOWN + 1} more alerts, first: {text}"
            line.set_class(bool(text), "-shown")
            sides = Sides([Piece(f"{'!' if self.session.ascii else '▲'} {text}", "$warning")] if text else [])
            line.show(partial(_always, sides))

    def _facts(self) -> Facts:
        late_s = self.session.clock.steady_s() - self._read_at_s
        return Facts(self._short_id, late_s, self.session.ascii, tuple(self._rates))

    def _identity(self, cells: int) -> Sides:
        if self.summary is None:
            return Sides([Piece(f"reading run {self._short_id}…", "$quiet")])
        return identity(self.summary, self._facts())

    def _progress(self, cells: int) -> Sides:
        return progress(self.summary, self._facts(), cells) if self.summary else Sides([])

    def _numbers(self, cells: int) -> Sides:
        return numbers(self.summary, self._facts()) if self.summary else Sides([])

    def _banner(self, cells: int) -> Sides:
        now_s = self.session.clock.steady_s()
        if self._frozen_at_s is not None:
            return frozen_note(now_s - self._frozen_at_s, self._held_changes)
        return banner(self.summary, self._trouble, now_s - self._read_at_s)

    def _tabs(self, cells: int) -> Sides:
        current = self._view
        amounts = {
            "children": self._children.rows.total,
            "workers": self._workers.rows.total,
            "slots": len(self._slots.rows),
        }
        title: list[Piece] = []
        for place, name in enumerate(VIEWS):
            here = name == current
            style = "bold $foreground" if here else "$quiet"
            title.append(Piece(str(place + 1), "bold $primary", 9 if here else 4, f"view_{place + 1}"))
            title.append(
                Piece(
                    f" {name} {count(amounts[name])}",
                    style + (" underline" if here else ""),
                    9 if here else 4,
                    f"view_{place + 1}",
                    glued=True,
                )
            )
        note = "reading…" if self._loading and self._children.rows.total else ""
        if current != "children":
            return Sides(title)
        return list_line(title, self._children.rows, self._filter_text, ascii=self.session.ascii, note=note)

    def _nothing(self) -> tuple[str, ...]:
        if self._filter_text:
            return ("", "No child matches the filter. esc clears it.")
        if self._loading:
            return ("", "Reading the journal…")
        return ("", "No children yet: the run has not asked for any.")

    def situation(self) -> Situation:
        run = self.summary.run if self.summary else None
        has_row = self._view == "children" and self._children.current() is not None
        return Situation(
            run,
            self.session.read_only,
            has_row,
            frozen=self._frozen_at_s is not None,
            root=self.session.home == self.run_id,
        )

    # -- what the person does

    @property
    def _view(self) -> str:
        return self.query_one("#views", ContentSwitcher).current or "children"

    def _to_view(self, name: str) -> None:
        self.query_one("#views", ContentSwitcher).current = name
        self.query_one(f"#{name}", Table).focus()
        self._show_lines()

    def do_view_1(self) -> None:
        self._to_view("children")

    def do_view_2(self) -> None:
        self._to_view("workers")

    def do_view_3(self) -> None:
        self._to_view("slots")

    def do_view_next(self) -> None:
        self._to_view(VIEWS[(VIEWS.index(self._view) + 1) % len(VIEWS)])

    def do_view_previous(self) -> None:
        self._to_view(VIEWS[(VIEWS.index(self._view) - 1) % len(VIEWS)])

    def on_table_moved(self, message: Table.Moved) -> None:
        self.query_one("#tabs", Line).show(self._tabs)
        self.keys_changed()

    def on_table_entered(self, message: Table.Entered) -> None:
        if message.table.id in ("children", "slots"):
            self.app.push_screen(ChildScreen(self.session, self.run_id, int(message.key), self._short_id))

    def action_enter(self) -> None:
        child = self._children.current() if self._view == "children" else self._slots.current()
        if child is not None and self._view != "workers":
            self.app.push_screen(ChildScreen(self.session, self.run_id, child.n, self._short_id))

    def do_pause(self) -> None:
        if self.summary is not None:
            self.pause_or_resume(self.summary.run)

    def do_stop(self) -> None:
        if self.summary is not None:
            self.ask_to_stop(self.summary.run)

    def do_filter(self) -> None:
        self._to_view("children")
        self.query_one(FilterBar).open()

    def on_filter_bar_changed(self, message: FilterBar.Changed) -> None:
        self._filter_text = message.text.strip()
        self._children.rows.filter_by(message.query)
        self._children.settle(self._look())
        self._children.show_empty(self._nothing())
        self._show_lines()

    def on_filter_bar_left(self, message: FilterBar.Left) -> None:
        self._children.focus()

    def action_back(self) -> None:
        if self._filter_text:
            self.query_one(FilterBar).drop()
        elif self._children.rows.marks:
            self._children.action_unmark()
            self._show_lines()
        else:
            self.dismiss(None)

    def do_mark(self) -> None:
        self._children.action_mark()
        self._show_lines()

    def do_unmark(self) -> None:
        self._children.action_unmark()
        self._show_lines()

    def do_copy(self) -> None:
        marks = sorted(int(key) for key in self._children.rows.marks)
        text = "\n".join(f"{self.run_id}#{n}" for n in marks) if marks else self.run_id
        self.app.copy_to_clipboard(text)
        self.say(f"copied {several(len(marks), 'child id')}" if marks else f"copied run id {self.run_id}")

    def do_freeze(self) -> None:
        now_s = self.session.clock.steady_s()
        self._frozen_at_s = now_s if self._frozen_at_s is None else None
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


def _always(sides: Sides, cells: int) -> Sides:
    return sides


def _settle_memory() -> None:
    """Take the first load out of the collector's sight: full collections over 100,000 rows would be felt as stutter."""
    gc.collect()
    gc.freeze()

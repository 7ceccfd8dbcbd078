"""Home: every root run in the journal, live ones on top, newest first."""

from __future__ import annotations

from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import BindingType

from poolboard.engine.views import RunView

from . import memory
from .action import Scope, Situation
from .actions import bindings
from .board_screen import BoardScreen
from .columns import Look
from .feed import Feed
from .filter_bar import FilterBar
from .glyphs import ACTIVE
from .line import Line, Piece, Sides
from .list_line import list_line
from .messages import FeedTrouble, FeedWell, RunsRead
from .rows import Rows
from .run_list import RUN_SHAPE, run_columns, short_ids
from .run_rates import RunRates
from .session import Session
from .sharing_keys import SharingKeys
from .table import Table
from .units import count, several

_NO_RUNS: Final = (
    "",
    "No runs in this journal yet. Start one from another terminal:",
    "",
    "  poolboard demo",
    "  poolboard run FILE.py:workflow --input name=value",
    "",
    "It appears here by itself.",
)

#: How often ages are looked at: while seconds show, and later.
_LIVE_S: Final = 1.0
_QUIET_S: Final = 20.0
_SECONDS_SHOWN_MS: Final = 60_000


class RunsScreen(SharingKeys):
    """The list of root runs; enter opens a run's board."""

    SCOPE: ClassVar[Scope] = "runs"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("runs")]

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._short: dict[str, str] = {}
        self._rows = Rows[RunView](RUN_SHAPE)
        self._rates: Final = RunRates()
        self._table = Table(
            self._rows,
            run_columns(self._short, self._rates),
            id="runs",
            empty=("", "Reading the journal…"),
            ascii=session.ascii,
        )
        self._feed: Final = Feed(session.monitor, self.post_message, session.clock, session.pace)
        self._filter_text = ""
        self._trouble = ""
        self._read = False
        self._frozen = False

    def compose(self) -> ComposeResult:
        yield Line(self._title, id="title")
        yield Line(self._over_list, id="over-list")
        yield self._table
        yield FilterBar(RUN_SHAPE.kinds, id="filter")
        yield from self.key_bar()

    def on_mount(self) -> None:
        self._table.focus()
        self._ticker = self.set_timer(_LIVE_S, self._tick)

    def on_screen_resume(self) -> None:
        self._pace_ticks()
        self.run_worker(self._feed.runs(), group="feed", exclusive=True, exit_on_error=False)

    def on_screen_suspend(self) -> None:
        """Ask for nothing that nobody sees; and a change on a hidden screen would repaint the whole one above it."""
        self.workers.cancel_group(self, "feed")
        self._ticker.pause()

    def _tick(self) -> None:
        """Ages grow by themselves. A line whose words are the same is not painted."""
        if not self._frozen:
            self._table.settle(self._look())
        self._pace_ticks()

    def _pace_ticks(self) -> None:
        """Every second while one of the ages shows seconds; else they change by the minute at most."""
        self._ticker.pause()
        now_ms = self.session.clock.wall_ms()
        runs = self._all_runs()
        young = any(run.status in ACTIVE or now_ms - run.created_at < _SECONDS_SHOWN_MS for run in runs)
        self._ticker = self.set_timer(_LIVE_S if young else _QUIET_S, self._tick)

    def _look(self) -> Look:
        return Look(self.session.clock.wall_ms(), self.session.ascii)

    def _all_runs(self) -> list[RunView]:
        return [run for key in self._rows.every() if (run := self._rows.get(key)) is not None]

    # -- what comes in

    def on_runs_read(self, message: RunsRead) -> None:
        if not self._read:
            self._read = True
            self.call_later(memory.settle)
        self._rates.take(message.runs, self.session.clock.steady_s())
        self._rows.replace(message.runs)
        self._short.clear()
        self._short.update(short_ids(run.run_id for run in message.runs))
        self._settle()

    def on_feed_trouble(self, message: FeedTrouble) -> None:
        self._trouble = message.reason
        self._settle()

    def on_feed_well(self, message: FeedWell) -> None:
        self._trouble = ""
        self._settle()

    def _settle(self) -> None:
        if not self._frozen:
            self._table.settle(self._look())
        if self._read:
            nothing = ("", "No run matches the filter. esc clears it.") if self._filter_text else _NO_RUNS
            self._table.show_empty(nothing)
        self.query_one("#title", Line).show(self._title)
        self.query_one("#over-list", Line).show(self._over_list)
        self.keys_changed()

    # -- what is shown

    def _title(self, cells: int) -> Sides:
        going = sum(run.status in ACTIVE for run in self._all_runs())
        left = [Piece("Poolboard", "bold $primary", 9), Piece("runs", "bold", 8)]
        if going:
            left.append(Piece(f"{going} running", "$state-running", 7))
        for status, keep in (("paused", 6), ("stopped", 5)):
            if number := sum(run.status == status for run in self._all_runs()):
                left.append(Piece(f"{count(number)} {status}", f"$state-{status}", keep))
        where = self._trouble or str(self.session.monitor.journal_path)
        style = "bold $error" if self._trouble else "$quiet"
        words = f"cannot read: {where}" if self._trouble else where
        if self._frozen:
            left.append(Piece("frozen: Z goes on", "bold $warning", 9))
        return Sides(left, [Piece(words, style, 9 if self._trouble else 2, elastic=True)])

    def _over_list(self, cells: int) -> Sides:
        return list_line([Piece("All runs", "bold")], self._table, self._filter_text)

    def situation(self) -> Situation:
        run = self._table.current()
        meant = self._marked()
        has_row = run is not None or self._rows.group(self._rows.cursor) is not None
        here, guest = (meant[0] if meant else run), self.session.guest
        return Situation(here, self.session.read_only, has_row, self._frozen, root=True, guest=guest)

    def _marked(self) -> list[RunView]:
        return [run for key in sorted(self._rows.marks, key=str) if (run := self._rows.get(key)) is not None]

    def controlled(self) -> list[RunView]:
        return self._marked() or super().controlled()

    def copy_id(self) -> str:
        run = self._table.current()
        return "" if run is None else run.run_id

    def on_table_moved(self, message: Table.Moved) -> None:
        self.query_one("#over-list", Line).show(self._over_list)
        self.keys_changed()

    # -- what the person does

    def on_table_entered(self, message: Table.Entered) -> None:
        self.app.push_screen(BoardScreen(self.session, str(message.key), self._short.get(str(message.key))))

    def action_enter(self) -> None:
        if self._table.toggle_group():
            return
        run = self._table.current()
        if run is not None:
            self.app.push_screen(BoardScreen(self.session, run.run_id, self._short.get(run.run_id)))

    def do_filter(self) -> None:
        self.query_one(FilterBar).open()

    def on_filter_bar_changed(self, message: FilterBar.Changed) -> None:
        self._filter_text = message.text.strip()
        self._rows.filter_by(message.query)
        self._settle()

    def on_filter_bar_left(self, message: FilterBar.Left) -> None:
        self._table.focus()

    def action_back(self) -> None:
        if self._table.leave_range():
            pass
        elif self._filter_text:
            self.query_one(FilterBar).drop()
        elif self._rows.marks:
            self._table.action_unmark()
        else:
            self.say("This is the first screen. q leaves.")

    def do_copy(self) -> None:
        run = self._table.current()
        ids = sorted(str(key) for key in self._rows.marks) or ([run.run_id] if run is not None else [])
        if ids:
            self.app.copy_to_clipboard("\n".join(ids))
            self.say(f"copied {several(len(ids), 'run id')}")

    def do_freeze(self) -> None:
        self._frozen = not self._frozen
        self._settle()

    def do_refresh(self) -> None:
        self._feed.refresh()

    def do_leave(self) -> None:
        if self._active():
            self.quit_question(self._active(), may_stop=False)
        else:
            self.app.exit(0)

    def ask_to_quit(self) -> bool:
        self.quit_question(self._active(), may_stop=False)
        return True

    def _active(self) -> list[RunView]:
        return [run for run in self._all_runs() if run.status in ACTIVE]

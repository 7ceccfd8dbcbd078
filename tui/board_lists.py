"""The lists of the board: the stages above; below one tab at a time, from the children to the journal."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal, get_args

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import ContentSwitcher

from poolboard.engine.views import ActiveView, ChildRow, LimitView, Part, PromptNote, StageView, Summary, WorkerView

from .child_list import CHILD_COLUMNS, CHILD_SHAPE
from .columns import Look
from .event_log import EventLog
from .failure_list import FAILURE_COLUMNS, FAILURE_SHAPE
from .failures import FailureGroup, Failures
from .limit_list import LIMIT_COLUMNS, LIMIT_SHAPE, LimitLine, limit_lines
from .line import Line, Piece, Sides, fitting, taken
from .list_line import list_line
from .message_board import MessageBoard
from .prompt_list import PROMPT_COLUMNS, PROMPT_SHAPE
from .query import Query
from .rows import Rows
from .stage_list import STAGE_SHAPE, stage_columns
from .tab_line import Tab, fit_tabs
from .table import Table
from .timeline_view import TimelineView
from .units import count
from .worker_list import SLOT_COLUMNS, SLOT_SHAPE, WORKER_COLUMNS, WORKER_SHAPE

View = Literal["children", "failures", "workers", "slots", "timeline", "journal", "limits", "prompts", "messages"]
VIEWS: Final[tuple[View, ...]] = get_args(View)
#: Tabs of what most runs have none of: they are named once there is something in them.
_RARE: Final[frozenset[View]] = frozenset({"limits", "prompts"})
#: Tabs that call for a look once there is something in them.
_CALLING: Final[dict[View, str]] = {"failures": "$state-failed", "prompts": "bold $state-asking"}
_RATES_KEPT: Final = 60
_READING: Final = ("", "Reading the journal…")


class BoardLists(Vertical):
    """The tables. Rows come in at any time; they and the screen meet in ``settle``."""

    def __init__(self, *, id: str, ascii: bool) -> None:
        super().__init__(id=id)
        self.still_reading = True
        self.view: View = "children"
        self.failures: Final = Failures()
        self._ascii: Final = ascii
        self.children_table = Table(
            Rows[ChildRow](CHILD_SHAPE, follow_top=True), CHILD_COLUMNS, id="children", empty=_READING, ascii=ascii
        )
        # What fails and what moves is what a person looks for: it comes before what is done.
        self.children_table.choose_order("state")
        self.trends: Final[dict[str, deque[float]]] = {}
        columns = stage_columns(self.trends)
        self._stages = Table(Rows[StageView](STAGE_SHAPE), columns, id="stages", ascii=ascii)
        self.failures_table = Table(
            Rows[FailureGroup](FAILURE_SHAPE, follow_top=True),
            FAILURE_COLUMNS,
            id="failures",
            empty=("", "No child has failed."),
            ascii=ascii,
        )
        self._workers = Table(
            Rows[WorkerView](WORKER_SHAPE), WORKER_COLUMNS, id="workers", empty=("", "No workers now."), ascii=ascii
        )
        nobody = ("", "No child is in a slot now.")
        self._slots = Table(Rows[ActiveView](SLOT_SHAPE), SLOT_COLUMNS, id="slots", empty=nobody, ascii=ascii)
        self.timeline: Final = TimelineView(id="timeline", ascii=ascii)
        self.events: Final = EventLog(id="journal", ascii=ascii)
        self.messages: Final = MessageBoard(id="messages", ascii=ascii)
        none = ("", "This run has no limits.")
        self._limits = Table(Rows[LimitLine](LIMIT_SHAPE), LIMIT_COLUMNS, id="limits", empty=none, ascii=ascii)
        quiet = ("", "Nothing waits for an answer.")
        self._prompts = Table(Rows[PromptNote](PROMPT_SHAPE), PROMPT_COLUMNS, id="prompts", empty=quiet, ascii=ascii)
        self.limits: tuple[LimitView, ...] = ()
        self._asking = 0
        self._filters: dict[View, str] = {}

    def compose(self) -> ComposeResult:
        yield self._stages
        yield Line(self._tabs, id="tabs")
        with ContentSwitcher(initial="children", id="views"):
            yield self.children_table
            yield self.failures_table
            yield self._workers
            yield self._slots
            yield self.timeline
            yield self.events
            yield self.messages
            yield self._limits
            yield self._prompts

    # -- what comes in

    def take(self, rows: Sequence[ChildRow]) -> int:
        """Take children that changed; returns how many really did."""
        self.failures.take(rows)
        self.timeline.take(rows)
        return self.children_table.rows.upsert(rows)

    def note_rates(self, stages: Iterable[StageView]) -> None:
        """Keep how fast each stage goes now, for its sparkline; of no more stages than a summary lists."""
        for stage in stages:
            self.trends.setdefault(stage.name, deque(maxlen=_RATES_KEPT)).append(stage.rate_per_s)

    @property
    def stage_in_focus(self) -> StageView | None:
        """The stage under the cursor, if the stages have the keys."""
        return self._stages.current() if self._stages.has_focus else None

    def settle(self, summary: Summary, look: Look) -> None:
        """Bring the lists up to date, and the screen as far as somebody sees it."""
        self._stages.rows.replace(summary.stages)
        self.failures_table.rows.replace(self.failures.groups())
        self._workers.rows.replace(summary.workers)
        self._slots.rows.replace(summary.active)
        self.limits, self._asking = summary.limits, summary.run.prompts
        self._limits.rows.replace(list(limit_lines(summary.limits)))
        self._prompts.rows.replace(summary.prompts)
        self._stages.settle(look)
        self.settle_front(look)

    def settle_front(self, look: Look) -> None:
        """Bring the list in front up to date: rows may have changed, or time went by. The others wait for their tab."""
        if self.view == "timeline":
            self.timeline.settle(look)
        elif self.view == "journal":
            self.events.settle(look)
        elif self.view == "messages":
            self.messages.settle(look)
        else:
            self.front.settle(look)
        if self.view == "children":
            self.children_table.show_empty(self._nothing())

    def filter_by(self, query: Query, text: str, look: Look) -> None:
        """Show only what the filter of the tab in front lets through."""
        self._filters[self.filtered] = text
        if self.filtered == "journal":
            self.events.filter_by(query, text, look)
        elif self.filtered == "messages":
            self.messages.filter_by(query, text, look)
        else:
            self.children_table.rows.filter_by(query)
            self.settle_front(look)
        self.show_tabs()

    # -- what is shown

    @property
    def filtered(self) -> View:
        """Which list a filter acts on now."""
        return self.view if self.view in ("journal", "messages") else "children"

    @property
    def filter_text(self) -> str:
        """What that list is filtered by."""
        return self._filters.get(self.filtered, "")

    @property
    def front(self) -> Table[Any]:
        """The list in front."""
        if self.view == "timeline":
            return self.timeline.front
        if self.view == "messages":
            return self.messages.table
        return self.query_one("#events" if self.view == "journal" else f"#{self.view}", Table)

    def show_tabs(self) -> None:
        """Show the line over the lists again."""
        self.query_one("#tabs", Line).show(self._tabs)

    def to_view(self, view: View, look: Look) -> None:
        """Show another list as it is now, and give it the keys."""
        self.view = view
        self.query_one("#views", ContentSwitcher).current = view
        self.settle_front(look)
        self.front.focus()
        self.show_tabs()

    @property
    def has_row(self) -> bool:
        """Say whether the cursor is on something that can be opened."""
        if self.stage_in_focus is not None:
            return True
        if self.front.rows.group(self.front.rows.cursor) is not None:
            return True
        if self.view in ("failures", "journal", "prompts", "messages"):
            return self.front.current() is not None
        return self.current_child() is not None

    def part(self) -> Part | None:
        """Return what the cursor or the marks are on: a stage, a worker, or children; None where it is none of them."""
        if self._stages.has_focus:
            stage = self._stages.current()
            return None if stage is None else Part(stage=stage.name)
        if self.view == "workers":
            worker = self._workers.current()
            place = "" if worker is None else worker.id.partition(".")[0]
            return Part(worker=int(place)) if place.isdigit() else None
        marks = sorted(int(key) for key in self.children_table.rows.marks) if self.view == "children" else []
        n = self.current_child()
        numbers = marks or ([n] if n else [])
        return Part(children=tuple((number, number) for number in numbers)) if numbers else None

    def active_in(self, part: Part) -> int:
        """Return how much of a part is at work now, as far as the lists know."""
        if part.stage is not None:
            stage = self._stages.rows.get(part.stage)
            return 0 if stage is None else stage.active
        if part.worker is not None:
            worker = self._workers.current()
            return 0 if worker is None else worker.active
        rows = (self.children_table.rows.get(n) for n, _ in part.children)
        return sum(row is not None and row.state == "leased" for row in rows)

    def current_child(self) -> int | None:
        """Return the number of the child under the cursor; None where the list shows no children."""
        if self.view == "timeline":
            return self.timeline.current_child()
        if self.view == "limits":
            line = self._limits.current()
            return None if line is None else line.n
        if self.view not in ("children", "slots"):
            return None
        row = self.children_table.current() if self.view == "children" else self._slots.current()
        return None if row is None else row.n

    def current_limit(self) -> LimitView | None:
        """Return the limit under the cursor, or the one that who is under the cursor waits for."""
        line = self._limits.current() if self.view == "limits" else None
        name = "" if line is None else line.key.partition("/")[0]
        return next((limit for limit in self.limits if limit.name == name), None)

    def _tabs(self, cells: int) -> Sides:
        amounts: dict[View, int] = {
            "children": self.children_table.rows.total,
            "failures": len(self.failures),
            "workers": self._workers.rows.total,
            "slots": self._slots.rows.total,
            "limits": len(self.limits),
            "prompts": self._asking,
        }
        named = [name for name in VIEWS if name not in _RARE or amounts[name] or name == self.view]
        tabs = [self._tab(name, amounts.get(name)) for name in named]
        spare = cells - sum(tab.cells + 2 for tab in tabs)
        right = fitting(self._right(amounts["children"]), max(spare, cells // 3))
        room = cells - taken(right) - 2 if right else cells
        calling = named.index("prompts") if self._asking else None
        return Sides(fit_tabs(tabs, named.index(self.view), room, ascii=self._ascii, calling=calling), right)

    def _tab(self, name: View, amount: int | None) -> Tab:
        key = str(VIEWS.index(name) + 1)
        style = (
            "bold $foreground underline" if name == self.view else _CALLING.get(name, "$quiet") if amount else "$quiet"
        )
        return Tab(key, name if amount is None else f"{name} {count(amount)}", style, f"view_{key}")

    def _right(self, children: int) -> Sequence[Piece]:
        if self.view == "journal":
            return self.events.note()
        if self.view == "timeline":
            return self.timeline.note()
        if self.view == "messages":
            return self.messages.note()
        if self.view == "failures":
            failed, groups = count(self.failures.total), count(len(self.failures))
            words = f"{failed} failed in {groups} ways" if len(self.failures) != 1 else f"{failed} failed in one way"
            return [Piece(words, "$quiet", 7), Piece("1 marks what failed first", "$quiet", 2)]
        if self.view != "children":
            return list_line([], self.front, "").right
        note = "reading…" if self.still_reading and children else ""
        return list_line([], self.children_table, self.filter_text, note=note).right

    def _nothing(self) -> tuple[str, ...]:
        if self._filters.get("children"):
            return ("", "No child matches the filter. esc clears it.")
        return _READING if self.still_reading else ("", "No children: the run has not asked for any.")

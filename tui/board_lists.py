"""The lists of the board: the stages above; children, workers and slots below, one of them at a time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import ContentSwitcher

from poolboard.engine.views import ActiveView, ChildRow, StageView, Summary, WorkerView

from .child_list import CHILD_COLUMNS, CHILD_SHAPE
from .columns import Look
from .line import Line, Piece, Sides
from .list_line import list_line
from .query import Query
from .rows import Rows
from .stage_list import STAGE_COLUMNS, STAGE_SHAPE
from .table import Table
from .units import count
from .worker_list import SLOT_COLUMNS, SLOT_SHAPE, WORKER_COLUMNS, WORKER_SHAPE

View = Literal["children", "workers", "slots"]
VIEWS: Final[tuple[View, ...]] = ("children", "workers", "slots")
_READING: Final = ("", "Reading the journal…")


class BoardLists(Vertical):
    """Four tables. Rows come in at any time; they and the screen meet in ``settle``."""

    def __init__(self, *, id: str, ascii: bool) -> None:
        super().__init__(id=id)
        self.loading = True
        self.view: View = "children"
        self.filter_text = ""
        self._ascii: Final = ascii
        self.children_table = Table(
            Rows[ChildRow](CHILD_SHAPE, follow_top=True), CHILD_COLUMNS, id="children", empty=_READING, ascii=ascii
        )
        # What fails and what moves is what a person looks for: it comes before what is done.
        self.children_table.choose_order("state")
        self._stages = Table(Rows[StageView](STAGE_SHAPE), STAGE_COLUMNS, id="stages", ascii=ascii)
        self._workers = Table(
            Rows[WorkerView](WORKER_SHAPE), WORKER_COLUMNS, id="workers", empty=("", "No workers now."), ascii=ascii
        )
        nobody = ("", "No child is in a slot now.")
        self._slots = Table(Rows[ActiveView](SLOT_SHAPE), SLOT_COLUMNS, id="slots", empty=nobody, ascii=ascii)

    def compose(self) -> ComposeResult:
        yield self._stages
        yield Line(self._tabs, id="tabs")
        with ContentSwitcher(initial="children", id="views"):
            yield self.children_table
            yield self._workers
            yield self._slots

    # -- what comes in

    def take(self, rows: Iterable[ChildRow]) -> int:
        """Take children that changed; returns how many really did."""
        return self.children_table.rows.upsert(rows)

    def settle(self, summary: Summary, look: Look) -> None:
        """Bring all tables up to date."""
        self._stages.rows.replace(summary.stages)
        self._workers.rows.replace(summary.workers)
        self._slots.rows.replace(summary.active)
        self._stages.settle(look)
        self._workers.settle(look)
        self._slots.settle(look)
        self.settle_children(look)

    def settle_children(self, look: Look) -> None:
        """Bring the children up to date: they may have changed, or time went by."""
        self.children_table.settle(look)
        self.children_table.show_empty(self._nothing())

    def filter_by(self, query: Query, text: str, look: Look) -> None:
        """Show only the children that the filter lets through."""
        self.filter_text = text
        self.children_table.rows.filter_by(query)
        self.settle_children(look)
        self.show_tabs()

    # -- what is shown

    def show_tabs(self) -> None:
        """Show the line over the lists again."""
        self.query_one("#tabs", Line).show(self._tabs)

    def to_view(self, view: View) -> None:
        """Show another list, and give it the keys."""
        self.view = view
        self.query_one("#views", ContentSwitcher).current = view
        self.query_one(f"#{view}", Table).focus()
        self.show_tabs()

    def next_view(self, step: int) -> None:
        """Show the list so many tabs further."""
        self.to_view(VIEWS[(VIEWS.index(self.view) + step) % len(VIEWS)])

    def current_child(self) -> int | None:
        """Return the number of the child under the cursor; None where the list shows no children."""
        if self.view == "workers":
            return None
        row = self.children_table.current() if self.view == "children" else self._slots.current()
        return None if row is None else row.n

    def _tabs(self, cells: int) -> Sides:
        amounts = {
            "children": self.children_table.rows.total,
            "workers": self._workers.rows.total,
            "slots": self._slots.rows.total,
        }
        title: list[Piece] = []
        for place, name in enumerate(VIEWS):
            here = name == self.view
            style, keep = ("bold $foreground underline", 9) if here else ("$quiet", 4)
            action = f"view_{place + 1}"
            title.append(Piece(str(place + 1), "bold $primary", keep, action))
            title.append(Piece(" ", "", keep, action, glued=True))
            title.append(Piece(f"{name} {count(amounts[name])}", style, keep, action, glued=True))
        if self.view != "children":
            return Sides(title)
        note = "reading…" if self.loading and amounts["children"] else ""
        return list_line(title, self.children_table.rows, self.filter_text, ascii=self._ascii, note=note)

    def _nothing(self) -> tuple[str, ...]:
        if self.filter_text:
            return ("", "No child matches the filter. esc clears it.")
        return _READING if self.loading else ("", "No children yet: the run has not asked for any.")

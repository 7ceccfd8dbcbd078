"""The timeline tab: the newest children as bars over time, or what every slot of every worker did."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from textual.app import ComposeResult
from textual.containers import Vertical

from poolboard.engine.views import ChildRow

from .columns import Look
from .line import Piece
from .rows import Rows
from .table import Table
from .timeline import KEPT, Recent, Window, lanes, window
from .timeline_list import BAR_SHAPE, LANE_SHAPE, ChildBar, LaneBar, bar_columns, lane_columns
from .units import several

_LEAST: Final = 10
#: A lane holds many children: enough to fill its width.
_LANE_CHILDREN: Final = 400
_NOTHING: Final = ("", "No child has started yet.")


class TimelineView(Vertical):
    """Two tables over one window, one of them in front. Nothing is laid out while nobody looks."""

    def __init__(self, *, id: str, ascii: bool) -> None:
        super().__init__(id=id)
        self._recent: Final = Recent()
        self._window = Window()
        self.by_worker = False
        self._bars = Table(
            Rows[ChildBar](BAR_SHAPE, follow_top=True),
            bar_columns(lambda: self._window),
            id="timeline-children",
            empty=_NOTHING,
            ascii=ascii,
        )
        self._lanes = Table(
            Rows[LaneBar](LANE_SHAPE),
            lane_columns(lambda: self._window),
            id="timeline-workers",
            empty=_NOTHING,
            ascii=ascii,
        )

    def compose(self) -> ComposeResult:
        yield self._bars
        yield self._lanes

    def on_mount(self) -> None:
        self._lanes.display = False

    def on_resize(self) -> None:
        """As many children as there are lines: the lines are known only now."""
        if self.display:
            self.settle(self.front.look)

    def take(self, rows: Iterable[ChildRow]) -> None:
        """Take children that changed."""
        self._recent.take(rows)

    def turn(self, look: Look) -> None:
        """Show workers instead of children, or the other way round."""
        self.by_worker = not self.by_worker
        self._bars.display, self._lanes.display = not self.by_worker, self.by_worker
        self.settle(look)

    @property
    def front(self) -> Table[ChildBar] | Table[LaneBar]:
        """The table in front."""
        return self._lanes if self.by_worker else self._bars

    def settle(self, look: Look) -> None:
        """Bring the table in front up to date. As many children as there are lines share the window."""
        before = self._window
        if self.by_worker:
            spans = self._recent.newest(_LANE_CHILDREN)
            self._window = window(spans, look.now_ms)
            self._lanes.rows.replace(LaneBar(lane, self._window) for lane in lanes(spans))
        else:
            spans = self._recent.newest(min(KEPT, max(_LEAST, self.size.height - 1)))
            self._window = window(spans, look.now_ms)
            self._bars.rows.replace(ChildBar(span, self._window) for span in spans)
        self.front.settle(look)
        if before != self._window:
            self.front.refresh()  # the scale in the header is another one

    def current_child(self) -> int | None:
        """Return the number of the child under the cursor; a lane has many."""
        row = self._bars.current() if not self.by_worker else None
        return None if row is None else row.span.n

    def note(self) -> list[Piece]:
        """Return what the line above says of the timeline."""
        other = "t by child" if self.by_worker else "t by worker"
        shown = len(self.front.rows)
        words = several(shown, "slot") if self.by_worker else f"the newest {several(shown, 'child', 'children')}"
        return [Piece(words, "$quiet", 7), Piece(other, "$primary", 5, "timeline_by")]

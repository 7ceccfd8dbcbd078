"""Bars over time: what is shown where, at every width."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from poolboard.engine.views import ChildRow
from poolboard.journal.states import WorkState
from poolboard.tui.timeline import KEPT, Recent, Span, Window, axis, bar, lanes, window


def span(n: int, start_ms: int, end_ms: int | None, worker: str = "w1", state: WorkState = "completed") -> Span:
    return Span(n, f"child {n}", state if end_ms is not None else "leased", worker, start_ms, end_ms)


def row(n: int, started_at: int | None, ended_at: int | None, state: WorkState = "completed") -> ChildRow:
    return ChildRow(n, 0, "one", f"child {n}", 1, state, "parse", 1, 1, "w1", 0, started_at, ended_at, None)


def test_a_bar_stands_where_its_time_is() -> None:
    shown = Window(1000, 11_000)
    assert bar([span(1, 3000, 5999)], shown, 10, None) == "  ━━━     "[:10]
    assert bar([span(1, 3000, 5999, state="failed")], shown, 10, None) == "  ━━✗     "
    assert bar([span(1, 9000, None)], shown, 10, 10_500) == "        ━▸"
    assert bar([span(1, 0, 2500)], shown, 10, None) == "◂━        "
    assert bar([span(1, 20_000, 30_000)], shown, 10, None) == " " * 10
    assert bar([span(1, 3000, 5999, state="failed")], shown, 10, None, ascii=True) == "  ==x     "


def test_neighbours_in_a_lane_can_be_told_apart() -> None:
    line = bar([span(1, 0, 2999), span(2, 3000, 5999), span(3, 6000, 8999)], Window(0, 10_000), 10, None)
    assert line == "━━━───━━━ "


@given(
    st.lists(st.tuples(st.integers(0, 10**9), st.none() | st.integers(0, 10**9)), max_size=8),
    st.integers(0, 10**9),
    st.integers(1, 10**9),
    st.integers(1, 200),
)
def test_a_line_is_always_exactly_as_wide_as_it_may_be(
    times: list[tuple[int, int | None]], start_ms: int, length_ms: int, cells: int
) -> None:
    spans = [span(n, start, None if took is None else start + took) for n, (start, took) in enumerate(times)]
    shown = Window(start_ms, start_ms + length_ms)
    assert len(bar(spans, shown, cells, start_ms)) == cells
    assert len(axis(shown, cells)) == cells


def test_the_scale_says_times_since_the_start() -> None:
    assert axis(Window(5000, 15_000), 40).split() == ["|0", "|5s"]
    assert axis(Window(0, 3_600_000), 80).split()[:3] == ["|0", "|10m00s", "|20m00s"]


def test_the_window_holds_what_ended_and_cuts_what_hangs() -> None:
    spans = [span(1, 0, None), span(2, 100_000, 101_000), span(3, 101_000, 103_000)]
    shown = window(spans, 104_000)
    assert shown.start_ms == 100_000 and 104_000 <= shown.end_ms <= 105_000
    assert window([span(1, 0, None)], 900).start_ms == 0
    assert window([], 900) == Window()


def test_the_window_stands_still_between_two_refreshes() -> None:
    spans = [span(1, 0, 1000), span(2, 500, None)]
    assert window(spans, 7100) == window(spans, 7400)


def test_lanes_have_no_overlaps_and_reuse_what_is_free() -> None:
    found = lanes([span(1, 0, 100), span(2, 50, 150), span(3, 100, 200), span(4, 0, None, "w2"), span(5, 10, 20, "w2")])
    assert [(lane.worker, lane.place, [one.n for one in lane.spans]) for lane in found] == [
        ("w1", 1, [1, 3]),
        ("w1", 2, [2]),
        ("w2", 1, [4]),
        ("w2", 2, [5]),
    ]


def test_the_newest_are_kept_and_the_running_ones_never_leave() -> None:
    recent = Recent()
    recent.take([row(0, 1, None, "leased"), row(9_999, None, None, "ready")])
    recent.take(row(n, n * 10, n * 10 + 5) for n in range(1, 3 * KEPT))
    newest = recent.newest(3)
    assert [one.n for one in newest] == [0, 3 * KEPT - 1, 3 * KEPT - 2]
    recent.take([row(0, 1, None, "ready")])
    assert 0 not in [one.n for one in recent.newest(5 * KEPT)]

"""From rows to what a person reads: rates, ETA, percentiles, views. Pure; ``now`` is an argument."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from poolboard.journal.durations import PER_OCTAVE, SMALLEST_MS, quantile_ms
from poolboard.journal.model import RunRow, StageRow
from poolboard.journal.states import RunStatus

from .views import ControlView, Counts, RunView, ShownStatus, StageDurations, StageView

#: Statuses in which a coordinator must be at work.
ACTIVE_STATUSES: frozenset[RunStatus] = frozenset(
    {"running", "waiting", "awaiting_input", "pausing", "stopping", "paused"}
)
RESUMABLE: frozenset[ShownStatus] = frozenset({"pending", "paused", "stopped", "blocked", "crashed"})
SHORT_WINDOW_S, LONG_WINDOW_S = 10.0, 60.0


class Rates:
    """How fast something settles, over a short and a long window. Samples are (seconds, count)."""

    __slots__ = ("_samples",)

    def __init__(self) -> None:
        self._samples: deque[tuple[float, int]] = deque(maxlen=1200)

    def add(self, now_s: float, count: int) -> None:
        """Take a sample; more often than 20 times a second is folded into the last one."""
        if self._samples and now_s - self._samples[-1][0] < 0.05:
            self._samples[-1] = (self._samples[-1][0], count)
        else:
            self._samples.append((now_s, count))
        while self._samples and now_s - self._samples[0][0] > LONG_WINDOW_S:
            self._samples.popleft()

    def per_s(self, now_s: float, window_s: float) -> float:
        """Return the rate over the window's samples; 0 without two of them."""
        inside = [sample for sample in self._samples if now_s - sample[0] <= window_s]
        if len(inside) < 2 or inside[-1][0] <= inside[0][0]:
            return 0.0
        return (inside[-1][1] - inside[0][1]) / (inside[-1][0] - inside[0][0])

    def eta_s(self, now_s: float, remaining: int) -> tuple[float, float] | None:
        """Return a low and a high guess of the seconds left; None while unsure."""
        rates = [rate for window in (SHORT_WINDOW_S, LONG_WINDOW_S) if (rate := self.per_s(now_s, window)) > 0]
        if not rates or remaining <= 0:
            return None
        return remaining / max(rates), remaining / min(rates)


def shown_status(row: RunRow, coordinator_alive: bool) -> ShownStatus:
    """Return the status to show: what is recorded, or ``crashed`` where nobody is at work any more."""
    return "crashed" if row.status in ACTIVE_STATUSES and not coordinator_alive else row.status


def counts_of(row: RunRow) -> Counts:
    """Return the kept counters of a run's children."""
    return Counts(row.total, row.ready, row.leased, row.waiting, row.completed, row.failed, row.cancelled)


def run_view(row: RunRow, coordinator_alive: bool, prompts: int = 0) -> RunView:
    """Return the run as shown. Of a crashed run only the time up to its lease's last renewal counts."""
    elapsed_ms = row.active_ms
    if row.active_since is not None:
        until = row.read_at if coordinator_alive else row.read_at - (row.lease_age_ms or 0)
        elapsed_ms += max(0, until - row.active_since)
    status = shown_status(row, coordinator_alive)
    return RunView(
        row.run_id,
        row.name,
        status,
        status in RESUMABLE,
        row.cwd,
        row.created_at,
        row.started_at,
        row.ended_at,
        elapsed_ms / 1000,
        counts_of(row),
        ControlView(row.control, row.control_revision, row.control_by, row.control_why),
        row.result,
        row.error,
        prompts,
    )


def stage_durations(row: StageRow) -> StageDurations:
    """Return what the kept histogram tells: percentiles, and its buckets put together by octaves, ends left out."""
    counts = [sum(row.buckets[at : at + PER_OCTAVE]) for at in range(0, len(row.buckets), PER_OCTAVE)]
    filled = [index for index, count in enumerate(counts) if count]
    shown = range(filled[0], filled[-1] + 1) if filled else range(0)
    calls = sum(counts)
    return StageDurations(
        row.name,
        row.done,
        row.failed,
        row.total_ms / calls if calls else None,
        quantile_ms(row.buckets, 0.50),
        quantile_ms(row.buckets, 0.95),
        quantile_ms(row.buckets, 0.99),
        tuple((SMALLEST_MS * 2**index, SMALLEST_MS * 2 ** (index + 1), counts[index]) for index in shown),
    )


def stage_views(
    rows: Sequence[StageRow],
    active: Mapping[str, int],
    rates: Mapping[str, float] | None = None,
    waiting: Mapping[str, int] | None = None,
    paused: Sequence[str] = (),
) -> tuple[StageView, ...]:
    """Return the stages in order of first appearance; one that nothing has ended in yet stands at the end."""
    waiting = waiting or {}
    found = [
        StageView(
            row.name,
            waiting.get(row.name, 0),
            active.get(row.name, 0),
            row.done,
            row.failed,
            quantile_ms(row.buckets, 0.50),
            quantile_ms(row.buckets, 0.95),
            (rates or {}).get(row.name, 0.0),
            row.name in paused,
        )
        for row in rows
    ]
    known = {row.name for row in rows}
    found += [
        StageView(name, waiting.get(name, 0), active.get(name, 0), 0, 0, None, None, 0.0, name in paused)
        for name in dict.fromkeys([*active, *waiting, *paused])
        if name not in known
    ]
    return tuple(found)

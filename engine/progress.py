"""Makes the progress summary: kept counters from the journal, live facts from the coordinator's own memory."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

import psutil

from poolboard.journal.model import RunRow, StageRow
from poolboard.journal.sqlite import SqliteJournal

from .fleet import LocalFleet
from .identity import ProcessIdentity
from .pool import Pool
from .prompt_desk import PromptDesk
from .summary import SHORT_WINDOW_S, Rates, run_view, stage_views
from .views import ActiveView, CoordinatorView, LimitView, Summary, WorkerView
from .worker_desk import WorkerDesk

#: What a summary lists at most; it stays under 64 KiB (SPEC 1.22).
ACTIVE_LIMIT, STAGE_LIMIT, WORKER_LIMIT, LABEL_CACHE_LIMIT = 200, 100, 64, 4096
USAGE_INTERVAL_S = 1.0
#: A lock that is held longer than that is told.
BUSY_AFTER_S = 1.0


class Progress:
    """Builds summaries of one run. Cost does not grow with the number of children."""

    def __init__(
        self,
        journal: SqliteJournal,
        run_id: str,
        number: int,
        epoch: int,
        pool: Pool,
        desk: WorkerDesk,
        fleet: LocalFleet,
    ) -> None:
        self._journal, self._reader = journal, journal.reader
        self._run_id, self._number, self._epoch = run_id, number, epoch
        self._pool, self._desk, self._fleet = pool, desk, fleet
        self._own = ProcessIdentity.own()
        self._rates = Rates()
        self._stage_rates: dict[str, Rates] = {}
        self._labels: dict[int, str] = {}
        self._usage: dict[str, tuple[float, int, float]] = {}
        self.alerts: dict[str, str] = {}
        #: Who can tell what the limits are doing.
        self.limits: Callable[[], tuple[LimitView, ...]] = tuple
        self.prompts: PromptDesk | None = None

    async def summary(self) -> Summary:
        """Return the run as it is now."""
        row = await self._reader.run(self._run_id)
        stages = await self._reader.stages(self._number)
        now_s = time.monotonic()
        active = await self._active(now_s)
        self._sample(now_s, row, stages)
        done = row.completed + row.failed + row.cancelled
        in_flight = self._pool.in_flight
        asking = self.prompts if row.ended_at is None else None
        counted = Counter(item.stage for _, items in self._desk.activity.values() for item in items if item.stage)
        rates = {name: rate.per_s(now_s, SHORT_WINDOW_S) for name, rate in self._stage_rates.items()}
        return Summary(
            run=run_view(row, time.time_ns() // 1_000_000, True, asking.count if asking else 0),
            stages=stage_views(stages[:STAGE_LIMIT], dict(counted), rates),
            workers=self._workers(now_s),
            active=active,
            coordinator=CoordinatorView(self._own.pid, self._epoch, alive=True),
            rate_per_s=self._rates.per_s(now_s, SHORT_WINDOW_S),
            eta_s=self._rates.eta_s(now_s, row.total - done),
            parked=len(self._pool.parked),
            in_flight=in_flight,
            alerts=(*self._busy(), *self.alerts.values()),
            stamp=row.changed,
            limits=self.limits(),
            prompts=asking.views() if asking else (),
        )

    def _busy(self) -> list[str]:
        busy_s = self._journal.busy_s
        told = f"journal busy: another process has held its lock for {busy_s:.0f} s"
        return [told] if busy_s > BUSY_AFTER_S else []

    async def sample(self) -> None:
        """Note how far the run is."""
        row = await self._reader.run(self._run_id)
        self._sample(time.monotonic(), row, await self._reader.stages(self._number))

    def _sample(self, now_s: float, row: RunRow, stages: list[StageRow]) -> None:
        self._rates.add(now_s, row.completed + row.failed + row.cancelled)
        for stage in stages[:STAGE_LIMIT]:
            self._stage_rates.setdefault(stage.name, Rates()).add(now_s, stage.done + stage.failed)

    def _workers(self, now_s: float) -> tuple[WorkerView, ...]:
        found = []
        for member in sorted(self._fleet.members.values(), key=lambda m: m.place)[:WORKER_LIMIT]:
            place = self._pool.places.get(member.worker)
            rss, cpu = self._used(member.worker, member.identity.pid, now_s)
            found.append(
                WorkerView(
                    member.worker,
                    member.identity.pid,
                    place.slots if place else 0,
                    len(place.holding) if place else 0,
                    rss,
                    cpu,
                    member.restarts,
                    max(0.0, now_s - member.heard),
                )
            )
        return tuple(found)

    def _used(self, worker: str, pid: int, now_s: float) -> tuple[int, float]:
        """Return memory in bytes and CPU in percent, measured at most once a second: reading them is not free."""
        last = self._usage.get(worker)
        if last is not None and now_s - last[0] < USAGE_INTERVAL_S:
            return last[1], last[2]
        try:
            process = psutil.Process(pid)
            times = process.cpu_times()
            rss = process.memory_info().rss
        except psutil.Error:
            return 0, 0.0
        spent = times.user + times.system
        before = self._usage.get(f"{worker} cpu")
        percent = 100 * (spent - before[2]) / (now_s - before[0]) if before and now_s > before[0] else 0.0
        self._usage[f"{worker} cpu"] = (now_s, 0, spent)
        self._usage[worker] = (now_s, rss, percent)
        return rss, percent

    async def _active(self, now_s: float) -> tuple[ActiveView, ...]:
        found: list[ActiveView] = []
        for worker, (heard_s, items) in list(self._desk.activity.items()):
            if worker not in self._fleet.members:
                del self._desk.activity[worker]
                continue
            place = self._pool.places.get(worker)
            # A report may be older than the pool: a run that gave its slot back since is not in one.
            held = [item for item in items if place is not None and item.n in place.holding]
            for item in held[: ACTIVE_LIMIT - len(found)]:
                since_s = item.since_ms / 1000 + (now_s - heard_s)
                found.append(ActiveView(worker, item.n, await self._label(item.n), item.stage, since_s, item.note))
        return tuple(found)

    async def _label(self, n: int) -> str:
        label = self._labels.get(n)
        if label is None:
            row = await self._reader.work(self._number, n)
            label = row.label if row is not None else ""
            if len(self._labels) >= LABEL_CACHE_LIMIT:
                self._labels.clear()
            self._labels[n] = label
        return label

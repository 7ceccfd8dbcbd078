"""Makes the progress summary: kept counters from the journal, live facts from the coordinator's own memory."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

import psutil

from poolboard.journal.model import Lease, RunRow, StageRow
from poolboard.journal.sqlite import SqliteJournal

from .budget import OWN_NAMES, warnings
from .fleet import LocalFleet
from .hold_views import hold_views
from .identity import ProcessIdentity
from .pool import Pool
from .prompt_desk import PromptDesk
from .scopes import Scopes
from .spending import Spending
from .summary import SHORT_WINDOW_S, Rates, run_view, stage_views
from .views import ActiveView, CoordinatorView, LimitView, Summary, UsageView, WorkerView
from .worker_desk import WorkerDesk

#: What a summary lists at most; it stays under 64 KiB (SPEC 1.22).
ACTIVE_LIMIT, STAGE_LIMIT, WORKER_LIMIT, LABEL_CACHE_LIMIT = 200, 100, 64, 4096
USAGE_INTERVAL_S = 1.0
#: A lock that is held longer than that is told.
BUSY_AFTER_S = 1.0
#: A log that cannot be reused is told of from this size on, at which commits begin to wait for each other.
HELD_FROM_BYTES = 16 * 1024 * 1024


class Progress:
    """Builds summaries of one run. Cost does not grow with the number of children."""

    def __init__(
        self,
        journal: SqliteJournal,
        lease: Lease,
        pool: Pool,
        desk: WorkerDesk,
        fleet: LocalFleet,
        scopes: Scopes,
        spending: Spending,
    ) -> None:
        self._journal, self._reader = journal, journal.reader
        self._run_id, self._number, self._epoch = lease.run_id, lease.number, lease.epoch
        self._pool, self._desk, self._fleet = pool, desk, fleet
        self._scopes, self._spending = scopes, spending
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
        asking = self.prompts if row.ended_at is None else None
        parked = list(self._pool.parking.standing())
        counted = Counter(item.stage for _, items in self._desk.activity.values() for item in items if item.stage)
        rates = {name: rate.per_s(now_s, SHORT_WINDOW_S) for name, rate in self._stage_rates.items()}
        return Summary(
            run=run_view(row, True, asking.count if asking else 0),
            stages=stage_views(
                stages[:STAGE_LIMIT],
                dict(counted),
                rates,
                Counter(stage for _, stage in parked),
                self._scopes.stages[:STAGE_LIMIT],
            ),
            workers=self._workers(now_s),
            active=active,
            coordinator=CoordinatorView(self._own.pid, self._epoch, alive=True),
            rate_per_s=self._rates.per_s(now_s, SHORT_WINDOW_S),
            eta_s=self._rates.eta_s(now_s, row.total - done),
            parked=len(parked),
            in_flight=self._pool.holding + len(parked),
            alerts=(
                *self._busy(),
                *self.alerts.values(),
                *warnings(self._spending.limits, self._spending.used),
                *self._spending.children.alerts(),
            ),
            stamp=row.changed,
            limits=self.limits(),
            prompts=asking.views() if asking else (),
            holds=hold_views(self._scopes, self._pool, dict(counted), parked),
            concurrency=self._pool.most,
            usage=await self._usage_views(),
        )

    async def _usage_views(self) -> tuple[UsageView, ...]:
        limits = self._spending.limits
        used: dict[str, float] = dict(await self._reader.usage(self._number))
        if limits:
            await self._spending.measure()
            used = self._spending.used
        return tuple(
            UsageView(name, used.get(name, 0), limits.get(name))
            for name in sorted({*used, *limits})
            if name in limits or name not in OWN_NAMES
        )

    def _busy(self) -> list[str]:
        busy_s = self._journal.busy_s
        told = []
        if busy_s > BUSY_AFTER_S:
            told.append(f"journal busy: another process has held its lock for {busy_s:.0f} s")
        if (held := self._journal.held_bytes) > HELD_FROM_BYTES:
            told.append(
                f"the journal's log has {held >> 20} MiB: another program holds an old state of the journal open, and "
                "commits slow down until it lets go"
            )
        return told

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

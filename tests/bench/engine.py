"""What the engine costs around the children: enqueue, first start, resume, memory, losing processes, and its answers.

A start "imports apart" is what the coordinator does itself: from taking the lease until its pool is filled, and from
the first worker's word until the first run is handed out. The start of a Python process lies between: the whole is told
too.
"""

from __future__ import annotations

import asyncio
import json
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from poolboard.engine.client import Client
from poolboard.engine.folder import CoordinatorFile
from poolboard.engine.identity import ProcessIdentity
from poolboard.engine.monitor import Monitor
from poolboard.engine.wire_prompts import Why
from poolboard.journal.reader import Reader

from .executor import WORKERS
from .figure import Figure, Section, Unmeasured, percentile
from .path import HOOKS, Moments
from .scene import PATIENCE_S, Scene, run_of, scene, until_ended
from .usage import MIB

SLOTS: Final = 8
#: What the issue asks for, in the order of the figures that have a target.
NOTES: Final = (
    "targets: 100,000 children enqueued in 3 s; a first start within 200 ms; a first claim after 100 ms with 640 "
    "completed children and 500 ms with 10,000; a kill noticed in 1 s, work adopted in 2 s; an answer in 50 ms",
    "enqueue: by a run, through worker, socket and journal, while its first child runs",
    "starts of the coordinator: its own work, until the first run is handed out; the whole: from the command",
    "adopted: from the kill until the journal has every attempt under the successor, its process's start included",
    "answer: asked of a coordinator with every slot busy, there and back; its loop is never later than that",
)


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured."""

    enqueued: int = 100_000
    completed: tuple[int, int] = (640, 10_000)
    kills: int = 3
    slots: int = 80
    rest_s: float = 0.25
    questions: int = 200


FULL_SIZES: Final = Sizes()


@dataclass(frozen=True, slots=True)
class Start:
    """One start of a coordinator: its own work until a first claim, the whole, and until a child is handed out."""

    own_s: float
    whole_s: float
    child_s: float
    coordinator_mib: float
    worker_mib: float


async def measure(sizes: Sizes = FULL_SIZES) -> Section:
    """Return every figure; about a minute on two cores."""
    enqueue_s = await _enqueue(sizes.enqueued)
    first = await _first_start()
    few, many = [await _resume(count) for count in sizes.completed]
    noticed, adopted = await _kills(sizes.kills)
    answers = await _answers(sizes)
    grown = (sizes.completed[1] - sizes.completed[0]) / 10_000
    figures = [
        Figure(f"enqueue of {sizes.enqueued:,} children", "s", (enqueue_s,)),
        Figure("first start after run, imports apart", "ms", (first.own_s * 1000,)),
        Figure("first start after run, the whole", "ms", (first.whole_s * 1000,)),
    ]
    for count, one in zip(sizes.completed, (few, many), strict=True):
        figures += [
            Figure(f"resume with {count:,} completed children, first claim", "ms", (one.own_s * 1000,)),
            Figure(f"resume with {count:,} completed children, first child handed out", "ms", (one.child_s * 1000,)),
        ]
    coordinator_mib, worker_mib = many.coordinator_mib - few.coordinator_mib, many.worker_mib - few.worker_mib
    return Section(
        "engine",
        f"around the children: {WORKERS} workers x {SLOTS} slots, {WORKERS} x {sizes.slots} for answers",
        (
            *figures,
            Figure("memory of a worker", "MiB", (few.worker_mib,)),
            Figure("memory of the coordinator, per 10,000 children", "MiB (slope)", (coordinator_mib / grown,)),
            Figure("memory of the root's worker, per 10,000 children", "MiB (slope)", (worker_mib / grown,)),
            Figure("worker's kill to noticed", "ms", tuple(1000 * value for value in noticed)),
            Figure("coordinator's kill to adopted", "ms", tuple(1000 * value for value in adopted)),
            Figure(f"answer with {WORKERS * sizes.slots} slots busy, p50", "ms", (percentile(answers, 50),)),
            Figure(f"answer with {WORKERS * sizes.slots} slots busy, p99", "ms", (percentile(answers, 99),)),
        ),
        NOTES,
    )


# --- runs ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Live:
    """A run that goes on, and the ways to look at it."""

    here: Scene
    run_id: str
    monitor: Monitor
    reader: Reader
    gate: Path

    async def until(self, what: str, holds: Callable[[], Awaitable[bool]]) -> float:
        """Return the moment at which something holds; raises Unmeasured if that takes too long."""
        until = time.monotonic() + PATIENCE_S
        while not await holds():
            if time.monotonic() > until:
                raise Unmeasured(f"{what}: not within {PATIENCE_S:.0f} s; {self.here.last_words(self.run_id)}")
            await asyncio.sleep(0.005)
        return time.monotonic()

    def coordinator(self) -> CoordinatorFile:
        """Return who works on the run."""
        told = self.here.run_folder(self.run_id).read_coordinator()
        if told is None:
            raise Unmeasured("the coordinator has not announced itself")
        return told

    async def workers(self) -> dict[str, ProcessIdentity]:
        """Return the workers that the journal knows, by name; an adopted one is no child of its coordinator."""
        rows = await self.reader.workers(await self.number())
        return {row.worker: found for row in rows if (found := ProcessIdentity.parse(row.identity)) is not None}

    async def kill_all(self) -> None:
        """End the coordinator and its workers, and return when they are gone."""
        await _kill([self.coordinator().identity, *(await self.workers()).values()])

    async def number(self) -> int:
        """Return the run's number in the journal."""
        return (await self.reader.run(self.run_id)).number


@asynccontextmanager
async def _live(workflow: str, count: int, slots: int = SLOTS, *inputs: str) -> AsyncIterator[_Live]:
    with scene() as here:
        gate = here.folder / "gate"
        traces = here.folder / "traces"
        traces.mkdir()
        here.environment |= {"BENCH_TRACE": str(traces)}
        here.environment["PYTHONPATH"] = f"{HOOKS}:{here.environment['PYTHONPATH']}"
        given = inputs or (f"gate={gate}",)
        run_id = await here.fan_out(workflow, count, WORKERS, slots, *given)
        monitor, reader = await Monitor.open(str(here.journal)), await Reader.open(here.journal)
        live = _Live(here, run_id, monitor, reader, gate)
        try:
            yield live
        finally:
            with suppress(Unmeasured):
                await live.kill_all()
            await monitor.close()
            await reader.close()


async def _enqueue(count: int) -> float:
    async with _live("of_children_in_a_row", count) as live:

        async def begun() -> bool:
            return (await live.reader.run(live.run_id)).total > 0

        async def whole() -> bool:
            return (await live.reader.run(live.run_id)).total == count

        await live.until("enqueue", begun)
        events = await live.reader.events(await live.number(), 0, 1, ["ChildEnqueued"])
        root = await live.reader.work(await live.number(), 0)
        if not events or root.started_at is None:
            raise Unmeasured("enqueue: the root has not started")
        await live.until("enqueue", whole)
        last = await live.reader.boundary(await live.number(), count)
        return (last.at - root.started_at) / 1000


async def _first_start() -> Start:
    async with _live("of_one_stage_and_a_gate", 2) as live:
        live.gate.touch()
        return await _ended(live, 0.0)


async def _resume(completed: int) -> Start:
    async with _live("of_one_stage_and_a_gate", completed) as live:

        async def done() -> bool:
            return (await live.reader.run(live.run_id)).completed == completed

        await live.until("resume", done)
        workers = (await live.workers()).values()
        mib = _mib(live.coordinator().identity), max(_mib(worker) for worker in workers)
        await live.kill_all()
        started_s = time.monotonic()
        await live.here.ended(live.here.spawn("resume", live.run_id, "--detach"), "poolboard resume")
        live.gate.touch()
        return await _ended(live, started_s, mib)


async def _ended(live: _Live, started_s: float, mib: tuple[float, float] = (0.0, 0.0)) -> Start:
    """Return what the last coordinator noted, once it has ended: one that was killed noted nothing."""
    await until_ended(live.here, live.monitor, live.run_id)
    folder = live.here.folder / "traces"

    async def written() -> bool:
        return any(folder.glob("coordinator-*.json"))

    await live.until("trace of the coordinator", written)
    await asyncio.to_thread(psutil.wait_procs, _owners(folder.glob("coordinator-*.json")), PATIENCE_S)
    [path] = folder.glob("coordinator-*.json")
    moments: Moments = [tuple(one) for one in json.loads(path.read_text())]
    began, ready, hello = (_first(moments, what) for what in ("began", "ready", "WorkerHello in"))
    assigned = _first(moments, "Assign out")
    child = next((at for at, what, n, _ in moments if what == "Assign out" and n > 0), None)
    if child is None:
        raise Unmeasured("start: no child was handed out")
    own_s = (ready - began) + (assigned - max(hello, ready))
    return Start(own_s, assigned - (started_s or began), child - (started_s or began), *mib)


def _owners(paths: Iterable[Path]) -> list[psutil.Process]:
    found = []
    for path in paths:
        with suppress(psutil.Error):
            found.append(psutil.Process(int(path.stem.partition("-")[2])))
    return found


def _first(moments: Moments, what: str) -> float:
    for at, found, _, _ in moments:
        if found == what:
            return at
    raise Unmeasured(f"start: the coordinator noted no {what!r}")


# --- losses and answers --------------------------------------------------------------------------------------------


async def _kills(rounds: int) -> tuple[list[float], list[float]]:
    """Return the seconds until each worker's kill was noticed, and until as many takeovers had adopted the others."""
    async with _live("of_resting", 16, SLOTS, "rest_s=3600") as live:
        await live.until("all at rest", lambda: _all_held(live, 16))
        adopted = [await _adopted(live) for _ in range(rounds)]
        # Each worker once: what lost two starts with its worker gets its last one alone, and never all are at rest.
        noticed = [await _noticed(live, name, worker) for name, worker in (await live.workers()).items()]
    return noticed, adopted


async def _all_held(live: _Live, count: int) -> bool:
    number = await live.number()
    work = await live.reader.live_work(number)
    return (
        sum(item.state == "leased" and item.n > 0 for item in work) == count
        and len(await live.reader.workers(number)) == WORKERS
    )


async def _noticed(live: _Live, name: str, worker: ProcessIdentity) -> float:
    """Return how long after a worker's kill the journal does not know it any more."""

    async def forgotten() -> bool:
        return name not in await live.workers()

    killed_s = time.monotonic()
    worker.signal(signal.SIGKILL)
    return await live.until("a worker's kill", forgotten) - killed_s


async def _adopted(live: _Live) -> float:
    """Return how long after its kill everything is under the coordinator that is started in its place."""
    number = await live.number()
    coordinator = live.coordinator()

    async def taken_over() -> bool:
        return all(
            item.epoch > coordinator.epoch for item in await live.reader.live_work(number) if item.state != "ready"
        )

    killed_s = time.monotonic()
    await _kill([coordinator.identity])
    await live.monitor.resume(live.run_id)
    return await live.until("adoption", taken_over) - killed_s


async def _answers(sizes: Sizes) -> list[float]:
    """Return the ms of questions to a coordinator while all slots are busy with children that come and go."""
    count = 100_000 if sizes.questions > 50 else 2_000
    async with _live("of_resting", count, sizes.slots, f"rest_s={sizes.rest_s}") as live:

        async def busy() -> bool:
            return (await live.reader.run(live.run_id)).completed >= WORKERS * sizes.slots

        await live.until("answers", busy)
        found = []
        async with Client.connect(live.here.run_folder(live.run_id)) as client:
            for _ in range(sizes.questions):
                asked_s = time.perf_counter()
                await client.wish("why", lambda req: Why(req=req, n=1))
                found.append(1000 * (time.perf_counter() - asked_s))
                await asyncio.sleep(0.02)
        if (await run_of(live.monitor, live.run_id)).ended_at is not None:
            raise Unmeasured("answers: the run ended while it was asked")
        return found


async def _kill(processes: Iterable[ProcessIdentity]) -> None:
    left = [process for process in processes if process.signal(signal.SIGKILL)]
    until = time.monotonic() + PATIENCE_S
    while any(process.is_alive() for process in left) and time.monotonic() < until:
        await asyncio.sleep(0.002)


def _mib(process: ProcessIdentity) -> float:
    return psutil.Process(process.pid).memory_info().rss / MIB

"""What messages cost: counts first, then times. Only the last part has processes; the others have an office alone."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from poolboard.engine.address import path_of
from poolboard.engine.client import Client
from poolboard.engine.delivery import Delivery
from poolboard.engine.errors import CoordinatorGone
from poolboard.engine.monitor import Monitor
from poolboard.engine.wish import Wish
from poolboard.journal.driver import connect
from poolboard.journal.message_model import OpenMessage
from poolboard.journal.positions import base

from .figure import Figure, Section, Unmeasured, percentile
from .office import Office, office, reopened
from .scene import PATIENCE_S, Scene, scene

TALKERS: Final = Path(__file__).parent / "talkers.py"
SLOW_WRITE_S: Final = 0.04
#: Holds the write lock of a journal until it is told to let go, and says when it did.
HOLDER: Final = """
import sys, time
from pathlib import Path
from poolboard.journal.driver import connect
connection = connect(Path(sys.argv[1]), readonly=False)
for line in sys.stdin:
    connection.execute("BEGIN IMMEDIATE")
    print("held", flush=True)
    sys.stdin.readline()
    connection.execute("ROLLBACK")
    print(time.monotonic(), flush=True)
"""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured."""

    queued: tuple[int, ...] = (3_000, 8_000)
    children: int = 160
    receipts: int = 2_000
    messages: int = 8_000
    recipients: int = 25
    talkers: int = 150
    rounds: int = 6
    repeats: int = 5


async def measure(sizes: Sizes | None = None) -> Section:
    """Return every figure of messages."""
    of = sizes or Sizes()
    figures = [figure for queued in of.queued for figure in _one_delivery(queued, of.repeats)]
    figures += await _send_amid_starts(of)
    figures.append(await _persisted_behind_a_lock(of))
    figures += await _broadcast(of)
    figures.append(await _opening(of))
    figures += await _talk(of)
    return Section(
        "messages",
        f"patterns, receipts and sends in one run; {of.talkers} children that send {of.rounds} patterns each",
        tuple(figures),
        (
            "a delivery is a start of one run among patterns for others, and its receipt; checks are parts of patterns",
            f"amid starts: {of.children} children report what they got, and each commit takes 40 ms more",
            "behind a lock: from when another process lets go of the journal's lock to the acknowledgement",
        ),
    )


# --- counts in memory ---------------------------------------------------------------------------------------------


def _one_delivery(queued: int, repeats: int) -> list[Figure]:
    delivery = Delivery()
    for n in range(1, queued + 1):
        delivery.accept(OpenMessage(n, None, f"child-{n}/**", None, None, "steer"))
    checks, reads, times = [], [], []
    for n in range(queued // 2, queued // 2 + repeats):
        before = delivery.checks, delivery.reads
        started = time.perf_counter()
        found = delivery.start(n, path_of((n,)))
        delivery.deliver(n, [message.number for message in found])
        times.append((time.perf_counter() - started) * 1e6)
        checks.append(float(delivery.checks - before[0]))
        reads.append(float(delivery.reads - before[1]))
    return [
        Figure(f"one delivery among {queued:,}, checks", "checks", tuple(checks)),
        Figure(f"one delivery among {queued:,}, counts read", "reads", tuple(reads)),
        Figure(f"one delivery among {queued:,}", "us", tuple(times)),
    ]


# --- the office and its journal -------------------------------------------------------------------------------------


async def _send_amid_starts(of: Sizes) -> list[Figure]:
    """A person sends while so many children, which just started, say that they have their messages."""
    writes, waits = [], []
    with scene() as here:
        async with office(here.journal, of.children) as desk:
            for repeat in range(of.repeats):
                await desk.say("**", f"first {repeat}")
                number = await _newest(desk)
                await desk.settled()
                desk.counted.slow_s = SLOW_WRITE_S
                for n in range(1, of.children + 1):
                    desk.got(n, [number])
                    if n % 16 == 0:
                        await asyncio.sleep(0.002)
                    if n == of.children // 2:
                        asked = asyncio.create_task(_asked(desk, f"amid {repeat}"))
                wrote, took_ms = await asked
                writes.append(wrote)
                waits.append(took_ms)
                await desk.settled()
                desk.counted.slow_s = 0.0
    return [
        Figure("a send amid starts, writes until acknowledged", "writes", tuple(writes)),
        Figure("a send amid starts", "ms", tuple(waits)),
    ]


async def _asked(desk: Office, key: str) -> tuple[float, float]:
    """Send a message; return the writes and the ms until it was acknowledged."""
    before, started = desk.counted.commits, time.perf_counter()
    await desk.say("child-1", key)
    return float(desk.counted.commits - before), (time.perf_counter() - started) * 1000


async def _persisted_behind_a_lock(of: Sizes) -> Figure:
    """So many receipts, and a message, while another process has the journal's lock."""
    took = []
    with scene() as here:
        async with office(here.journal, of.children) as desk:
            holder = _hold(here)
            for repeat in range(of.repeats):
                each = max(1, of.receipts // of.children)
                for k in range(each):
                    await desk.say("**", f"for receipts {repeat} {k}")
                last = await _newest(desk)
                await _told(holder)
                for n in range(1, of.children + 1):
                    desk.got(n, list(range(last - each + 1, last + 1)))
                asked = asyncio.create_task(desk.say("child-1", f"behind {repeat}"))
                await asyncio.sleep(0.1)
                let_go = float(await _told(holder))
                await asked
                took.append((time.monotonic() - let_go) * 1000)
                await desk.settled()
    return Figure(f"a message with {of.receipts:,} receipts behind a lock", "ms", tuple(took))


def _hold(here: Scene) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-c", HOLDER, str(here.journal)]
    holder = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=here.environment)
    here.own(holder)
    return holder


async def _told(holder: subprocess.Popen[bytes]) -> str:
    assert holder.stdin is not None and holder.stdout is not None
    holder.stdin.write(b"go\n")
    holder.stdin.flush()
    return (await asyncio.to_thread(holder.stdout.readline)).decode().strip()


async def _broadcast(of: Sizes) -> list[Figure]:
    """One message of 10 kB to all children: what its receipts add to the journal's events."""
    with scene() as here:
        async with office(here.journal, of.children) as desk:
            await desk.say("**", "broadcast", 10_000)
            number = await _newest(desk)
            for n in range(1, of.children + 1):
                desk.got(n, [number])
                if n % 16 == 0:
                    await asyncio.sleep(0)
            await desk.settled()
            events = await desk.journal.reader.events(desk.lease.number, number, 10_000, ["MessageDelivered"])
    each = sum(len(event.event.payload) for event in events) / of.children
    return [
        Figure(f"a broadcast to {of.children}, bytes of events per receipt", "bytes", (each,)),
        Figure(f"a broadcast to {of.children}, events", "events", (float(len(events)),)),
    ]


async def _newest(desk: Office) -> int:
    return (await desk.journal.reader.messages.page(desk.lease.number, 1 << 40, 1))[0].number


async def _opening(of: Sizes) -> Figure:
    """What a new coordinator of a run with many messages, each with receipts, reads before it goes on."""
    times = []
    with scene() as here:
        async with office(here.journal, of.children) as desk:
            run, children = desk.lease.number, of.children
            await desk.say("**", "one")
            first = await _newest(desk)
        _fill(here.journal, run, first, of, children)
        for _ in range(of.repeats):
            async with reopened(here.journal, desk.lease) as post:
                started = time.perf_counter()
                await post.load(range(1, children + 1))
                times.append((time.perf_counter() - started) * 1000)
                if len(post.delivery) != of.messages + 1:
                    raise Unmeasured(f"opening found {len(post.delivery)} messages, not {of.messages + 1}")
    receipts = of.messages * of.recipients
    return Figure(f"opening a run with {receipts:,} receipts of {of.messages:,} messages", "ms", tuple(times))


def _fill(journal: Path, run: int, first: int, of: Sizes, children: int) -> None:
    """Add messages with receipts behind the first one, as the journal would hold them."""
    numbers = range(first + 1, first + 1 + of.messages)
    payload = json.dumps({"target": "**", "stage": None, "mode": "steer", "sender": None, "by": "b", "value": "x"})
    connection = connect(journal, readonly=False)
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(
            "INSERT INTO events (position, epoch, type, at, payload) VALUES (?, 1, 'MessageAccepted', 1, ?)",
            [(base(run) + number, payload) for number in numbers],
        )
        connection.executemany(
            "INSERT INTO messages (run, number, target, mode, delivered) VALUES (?, ?, '**', 'steer', ?)",
            [(run, number, of.recipients) for number in numbers],
        )
        connection.executemany(
            "INSERT INTO receipts (run, message, work, state, at) VALUES (?, ?, ?, 'delivered', 1)",
            [(run, number, (number + i) % children + 1) for number in numbers for i in range(of.recipients)],
        )
        connection.execute("UPDATE runs SET last_seq = ? WHERE number = ?", (numbers[-1], run))
        connection.execute("COMMIT")
    finally:
        connection.close()


# --- processes ------------------------------------------------------------------------------------------------------


async def _talk(of: Sizes) -> list[Figure]:
    """Children that send each other patterns; meanwhile somebody asks the coordinator for what it has already."""
    wanted = of.talkers * of.rounds
    with scene() as here:
        target = [f"{TALKERS}:of_talkers", "--input", f"count={of.talkers}", "--input", f"rounds={of.rounds}"]
        words = ["run", *target, "--workers", "2", "--slots", "8", "--detach", "--json"]
        process = here.spawn(*words, out=subprocess.PIPE)
        run_id = str(json.loads(await here.ended(process, "poolboard run"))["run_id"])
        started, answers = time.perf_counter(), []
        monitor = await Monitor.open(str(here.journal))
        try:
            async with asyncio.timeout(PATIENCE_S):
                try:
                    async with Client.connect(here.run_folder(run_id)) as client:
                        while True:
                            asked = time.perf_counter()
                            await client.control(Wish("resume", "bench"))
                            answers.append((time.perf_counter() - asked) * 1000)
                            await asyncio.sleep(0.01)
                except CoordinatorGone:
                    pass  # it has ended
                while (await monitor.status(run_id)).run.ended_at is None:
                    await asyncio.sleep(0.05)
            took_s = time.perf_counter() - started
            view = await monitor.messages(run_id)
        finally:
            await monitor.close()
    if view.taken != wanted:
        raise Unmeasured(f"{view.taken} of {wanted} messages were taken; {here.last_words(run_id)}")
    return [
        Figure(f"{of.talkers} children, messages delivered of {wanted}", "messages", (float(view.taken),)),
        Figure(f"{of.talkers} children, messages a second", "per second", (wanted / took_s,)),
        Figure("meanwhile the coordinator answers, p99", "ms", (percentile(answers, 99),)),
    ]

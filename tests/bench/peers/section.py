"""The same work through every system, in turns, and the tables of what each needed for it."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from tests.bench import budget
from tests.bench.figure import Figure, Section, Unmeasured

from . import grids, passes
from .catalog import OURS, PEERS, Peer
from .environment import python_of
from .passes import Pass

#: Items of a pass, and with FULL=1; slow peers get a quarter unless it is full.
COUNTS: Final = {"noop": 1000, "kill": 100, "steps": 200, "cpu": 100, "sleep": 200}
FULL_COUNTS: Final = {"noop": 2000, "kill": 400, "steps": 500, "cpu": 200, "sleep": 200}
ABOUT: Final = {
    "noop": "items that do nothing",
    "steps": "of three steps",
    "cpu": "of 20 ms CPU",
    "sleep": "that sleep 50 ms, a hundred at once",
    "kill": "of 20 ms while a worker is killed",
}
#: No-op items are measured in several rounds, the other kinds once, as long as there is time: on a slow machine the
#: last kinds are left out, and said to be, rather than the ten minutes.
ROUNDS, BUDGET_S = 3, 170.0

#: Every pass of every peer, by kind; a peer that is not here could not be installed.
Passes = dict[Peer, dict[str, list[Pass]]]


async def measure(peers: Sequence[Peer] = PEERS, counts: dict[str, int] | None = None, rounds: int = ROUNDS) -> Section:
    """Return the figures of every peer that is here; of the others, why they are not. Ours must be measured whole."""
    sizes = counts or (FULL_COUNTS if budget.is_full() else COUNTS)
    found: Passes = defaultdict(lambda: defaultdict(list))
    failed: dict[Peer, str] = {}
    pythons = _installed(peers, failed)
    started_s, left_out = time.monotonic(), list[str]()
    for kind in [*sizes, *["noop"] * (rounds - 1)]:
        if time.monotonic() - started_s > BUDGET_S and not budget.is_full():
            left_out.append(kind)
            continue
        for peer, python in pythons.items():
            if kind not in peer.without:
                await _pass(peer, python, kind, sizes[kind], found, failed)
    if not found[OURS]["noop"]:
        raise Unmeasured(failed.get(OURS, "ours was not asked for"))
    return Section(
        "peers",
        f"{', '.join(f'{count:,} {ABOUT[kind]}' for kind, count in sizes.items())}; two workers, each system in "
        "an environment of its own, one harness, in turns",
        tuple(_figures(found)),
        (
            *(f"{peer.name}: {why}" for peer, why in failed.items()),
            *_told(left_out),
            "items a second: from the first item handed over, workers ready, to the last result known and recorded",
            "CPU: of all processes of the system, brokers and callers too, over that time; memory: their shares (PSS) "
            "together at the highest of five looks a second",
            "first result: from the start of the command to the end of the first item; bytes: all files of the system",
            *(grids.TOLD if not budget.is_full() else ()),
        ),
        grids.all_of(found, failed, sizes),
    )


def _told(left_out: list[str]) -> list[str]:
    if not left_out:
        return []
    kinds = ", ".join(f"{kind} x {left_out.count(kind)}" for kind in dict.fromkeys(left_out))
    return [f"left out after {BUDGET_S:.0f} s, for this machine is slow or busy (FULL=1 measures them): {kinds}"]


def _installed(peers: Sequence[Peer], failed: dict[Peer, str]) -> dict[Peer, Path]:
    pythons: dict[Peer, Path] = {}
    for peer in peers:
        try:
            pythons[peer] = python_of(peer)
        except (Unmeasured, OSError) as error:
            failed[peer] = str(error)
    return pythons


async def _pass(peer: Peer, python: Path, kind: str, count: int, found: Passes, failed: dict[Peer, str]) -> None:
    few = peer.slow and not budget.is_full()
    try:
        found[peer][kind].append(await passes.run(peer, python, kind, max(count // 4, 2) if few else count))
    except Unmeasured as error:
        if peer is OURS:
            raise
        # That a peer could not do it is a result; it is told, and the peer's other numbers stand.
        failed[peer] = "; ".join(filter(None, [failed.get(peer), str(error).removeprefix(f"{peer.name}, ")]))
        print(f"bench: peers: {error}", file=sys.stderr, flush=True)


def _figures(found: Passes) -> list[Figure]:
    figures: list[Figure] = []
    ours = found[OURS]["noop"]
    for peer, kinds in found.items():
        for kind, ran in kinds.items():
            if ran:
                figures += [_figure(peer, kind, what, unit, ran, of) for what, unit, of in MEASURES]
        if peer is not OURS and kinds["noop"]:
            ratios = tuple(a.items_per_s / b.items_per_s for a, b in zip(ours, kinds["noop"], strict=False))
            figures.append(Figure(f"Poolboard / {peer.name}, noop", "ratio", ratios))
    return figures


def _figure(peer: Peer, kind: str, what: str, unit: str, ran: list[Pass], of: Callable[[Pass], float]) -> Figure:
    return Figure(f"{peer.name}, {kind}, {what}", unit, tuple(of(one) for one in ran))


MEASURES: Final[tuple[tuple[str, str, Callable[[Pass], float]], ...]] = (
    ("items", "per second", lambda one: one.items_per_s),
    ("CPU", "s per 1,000 items", lambda one: one.cpu_s_per_1000),
    ("memory of all processes, peak", "MiB", lambda one: one.peak_bytes / passes.MIB),
    ("first result", "s", lambda one: one.first_s),
    ("on disk", "bytes per item", lambda one: one.bytes_per_item),
    ("lost", "items", lambda one: float(one.lost)),
    ("done twice", "items", lambda one: float(one.twice)),
)

"""The peers' numbers side by side, as people compare them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import median
from typing import Final

from tests.bench.figure import Grid
from tests.bench.report import number

from .catalog import OURS, Peer
from .passes import MIB, WIDTHS, Pass

Found = Mapping[Peer, Mapping[str, list[Pass]]]
NONE: Final = "–"
TOLD: Final = ("slow peers do a quarter of the items; FULL=1 gives everybody the full counts and every round",)
_WANTED_OF_IDEAL: Final = 0.95


def all_of(found: Found, failed: Mapping[Peer, str], sizes: Mapping[str, int]) -> tuple[Grid, ...]:
    """Return every table; one for which nothing was measured is left out."""
    grids = (
        _noop(found, failed),
        _steps(found),
        _busy(found),
        _killed(found),
        _promises(found, failed),
    )
    return tuple(grid for grid in grids if grid.rows)


def _noop(found: Found, failed: Mapping[Peer, str]) -> Grid:
    rows: list[tuple[str, ...]] = []
    for peer, ran in _of(found, "noop"):
        rates = [one.items_per_s for one in ran]
        spread = f"{number(min(rates))} to {number(max(rates))}" if len(ran) > 1 else ""
        rows.append(
            (
                peer.name,
                number(median(rates)),
                spread,
                *_ratio(found, peer, "noop"),
                _middle(ran, lambda one: one.cpu_s_per_1000),
                _middle(ran, lambda one: one.peak_bytes / MIB),
                _middle(ran, lambda one: one.first_s),
                _middle(ran, lambda one: one.bytes_per_item),
            )
        )
    missing = [peer for peer in failed if not found.get(peer, {}).get("noop")]
    rows += [(peer.name, "not measured", *[NONE] * 7) for peer in missing]
    columns = ("system", "items/s", "min to max", "Poolboard / it", "asked for", "CPU s/1,000")
    return Grid("Items that do nothing", (*columns, "MiB, all", "first result s", "bytes/item"), tuple(rows))


def _steps(found: Found) -> Grid:
    rows = []
    for peer, ran in _of(found, "steps"):
        times = [found[OURS]["steps"][0].items_per_s / one.items_per_s for one in ran] if found[OURS]["steps"] else []
        rows.append(
            (
                peer.name,
                _middle(ran, lambda one: one.items_per_s),
                number(median(times)) if times and peer is not OURS else NONE,
                _middle(ran, lambda one: one.cpu_s_per_1000),
                _middle(ran, lambda one: one.bytes_per_item),
            )
        )
    columns = ("system", "items/s", "Poolboard / it", "CPU s/1,000", "bytes/item")
    return Grid("Items of three steps, one after the other", columns, tuple(rows))


def _busy(found: Found) -> Grid:
    asleep = dict(_of(found, "sleep"))
    rows = []
    for peer, ran in _of(found, "cpu"):
        slept = asleep.get(peer)
        rows.append(
            (
                peer.name,
                _middle(ran, lambda one: one.items_per_s),
                f"{100 * median(one.of_ideal for one in ran):.0f} %",
                _middle(slept, lambda one: one.items_per_s) if slept else NONE,
                f"{max(one.at_once for one in slept)} of {WIDTHS['sleep']}" if slept else NONE,
            )
        )
    columns = ("system", "20 ms CPU: items/s", "of the ideal", "sleep 50 ms: items/s", "most at once")
    return Grid(f"Items that compute (asked of us: {_WANTED_OF_IDEAL:.0%} of the ideal) or sleep", columns, tuple(rows))


def _killed(found: Found) -> Grid:
    rows = []
    for peer, ran in _of(found, "kill"):
        one = ran[-1]
        done = "yes" if one.known == one.count and not one.lost else f"{max(one.known, 0)} of {one.count} results"
        rows.append((peer.name, done, str(one.lost), str(one.twice)))
    return Grid("kill -9 of a worker, halfway", ("system", "finished", "lost", "done twice"), tuple(rows))


def _promises(found: Found, failed: Mapping[Peer, str]) -> Grid:
    rows = [
        (peer.name, " ".join(peer.needs) or "here already", peer.durable, peer.resumes) for peer in {**found, **failed}
    ]
    columns = ("system", "version", "on disk when a result is told", "left to do after everything was killed")
    return Grid("What each promises", columns, tuple(rows))


def _of(found: Found, kind: str) -> list[tuple[Peer, list[Pass]]]:
    return [(peer, kinds[kind]) for peer, kinds in found.items() if kinds.get(kind)]


def _middle(ran: list[Pass], of: Callable[[Pass], float]) -> str:
    return number(median(of(one) for one in ran))


def _ratio(found: Found, peer: Peer, kind: str) -> tuple[str, str]:
    """Return ours divided by theirs, round by round, and whether that is what was asked for."""
    if peer is OURS:
        return NONE, NONE
    pairs = zip(found[OURS][kind], found[peer][kind], strict=False)
    ratio = median(ours.items_per_s / theirs.items_per_s for ours, theirs in pairs)
    if peer.target is None:
        return number(ratio), NONE
    met = "met" if ratio >= peer.target else "missed"
    return number(ratio), f"{peer.target:g}: {met}"

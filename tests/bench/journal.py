"""How near the journal's group commit comes to the SQLite library alone, and what company and history cost it."""

from __future__ import annotations

from poolboard.journal.driver import Synchronous

from . import company, history
from .checkpoints import MEMBERS_PER_ROUND, checkpoints_per_second
from .figure import Figure, Section
from .scene import scene

CALLERS = (1, 16, 160)
DURABILITY: tuple[Synchronous, ...] = ("FULL", "NORMAL")


async def measure(rounds: int = 5, members: int = MEMBERS_PER_ROUND) -> Section:
    """Return the rates of 1, 16 and 160 callers that each wait for their receipt, then what slows them down."""
    figures: list[Figure] = []
    for synchronous in DURABILITY:
        for callers in CALLERS:
            figures += await _rates(callers, rounds, members, synchronous)
    small = members < MEMBERS_PER_ROUND
    with scene() as here:
        figures += await company.measure(here.folder, 20 if small else 400)
        figures += await history.commits(here.folder, (0, 50) if small else history.RECORDED, 40 if small else 400)
        figures += await history.looks(here.folder, 120 if small else history.MANY_RUNS)
    return Section(
        "journal",
        "checkpoints of about 250 bytes under a lease, synchronous=FULL, beside one loop that puts the same rows into "
        "the same commits",
        tuple(figures),
        (
            "raw waits for nobody: no loop, no thread, no receipt",
            "NORMAL: no fsync before a receipt; a power cut may take the newest commits back",
            "the file cache is warm: `a new process` is cold only as a process",
        ),
    )


async def _rates(callers: int, rounds: int, members: int, synchronous: Synchronous) -> list[Figure]:
    with scene() as here:
        rates = await checkpoints_per_second(here.folder, callers, rounds, members, synchronous)
    many = "1 caller" if callers == 1 else f"{callers} callers"
    mode = "" if synchronous == "FULL" else f", {synchronous}"
    return [
        Figure(f"checkpoints, {many}{mode}", "per second", rates.ours),
        Figure(f"raw SQLite, {callers} per commit{mode}", "per second", rates.raw),
        Figure(f"checkpoints / raw, {many}{mode}", "ratio", rates.ratios),
    ]

"""How near the journal's group commit comes to the SQLite library alone, with fsync, in the same minutes."""

from __future__ import annotations

from .checkpoints import MEMBERS_PER_ROUND, checkpoints_per_second
from .figure import Figure, Section
from .scene import scene

CALLERS = (1, 16, 160)


async def measure(rounds: int = 5, members: int = MEMBERS_PER_ROUND) -> Section:
    """Return the figures for 1, 16 and 160 callers that each wait for their receipt."""
    figures: list[Figure] = []
    for callers in CALLERS:
        with scene() as here:
            rates = await checkpoints_per_second(here.folder, callers, rounds, members)
        many = "1 caller" if callers == 1 else f"{callers} callers"
        figures += [
            Figure(f"checkpoints, {many}", "per second", rates.ours),
            Figure(f"raw SQLite, {callers} per commit", "per second", rates.raw),
            Figure(f"checkpoints / raw, {many}", "ratio", rates.ratios),
        ]
    return Section(
        "journal",
        "checkpoints of about 250 bytes under a lease, synchronous=FULL, beside one loop that puts the same rows into "
        "the same commits",
        tuple(figures),
        ("raw waits for nobody: no loop, no thread, no receipt",),
    )

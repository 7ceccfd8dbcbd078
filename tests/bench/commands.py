"""How long a script waits for an answer: the version, and how a run stands in a journal of very many runs."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from pathlib import Path

from poolboard.journal.model import NewRun
from poolboard.journal.sqlite import SqliteJournal

from .figure import Figure, Section
from .scene import Scene, scene

#: Runs that are recorded at once.
TOGETHER = 200


async def measure(runs: int = 10_000, rounds: int = 5) -> Section:
    """Return the figures of so many calls each, beside Python itself doing nothing."""
    with scene() as here:
        run_id = await _filled(here.journal, here.folder, runs)
        versions = [await _took(here, "--version") for _ in range(rounds)]
        newest = [await _took(here, "status", "--json") for _ in range(rounds)]
        named = [await _took(here, "status", run_id[:12], "--json") for _ in range(rounds)]
        lists = [await _took(here, "list", "--json") for _ in range(rounds)]
    return Section(
        "commands",
        f"commands on a journal of {runs:,} runs, from the start of the process to its end",
        (
            Figure("poolboard --version", "ms", tuple(versions)),
            Figure("poolboard status --json", "ms", tuple(newest)),
            Figure("poolboard status RUN --json", "ms", tuple(named)),
            Figure("poolboard list --json", "ms", tuple(lists)),
        ),
    )


async def _took(here: Scene, *words: str) -> float:
    started_s = time.perf_counter()
    if words == ("--version",):
        process = await asyncio.create_subprocess_exec(
            *here.words()[:-2], *words, env=here.environment, stdout=asyncio.subprocess.DEVNULL
        )
        await process.wait()
    else:
        await here.ended(here.spawn(*words), f"poolboard {words[0]}")
    return 1000 * (time.perf_counter() - started_s)


async def _filled(path: Path, folder: Path, runs: int) -> str:
    """Record so many runs that were never started; return the id of one in their middle."""
    journal = await SqliteJournal.open(path)
    header = json.dumps({"folder": str(folder)})
    ids = [uuid.uuid4().hex for _ in range(runs)]
    try:
        for start in range(0, runs, TOGETHER):
            made = (NewRun(run_id, "noop", str(folder), header) for run_id in ids[start : start + TOGETHER])
            await asyncio.gather(*(journal.create_run(run) for run in made))
    finally:
        await journal.close()
    return ids[runs // 2]

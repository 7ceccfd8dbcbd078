"""Makes ``recording.json``: starts real runs, and takes down what the monitor says of them at one moment.

Paths and the user of the machine that it is made on are replaced by others. Run it from the top of the repository:
``python screenshots/record.py``.
"""

from __future__ import annotations

import asyncio
import getpass
import os
import shutil
import sys
import sysconfig
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Final

from recording import FILE, Recording

from poolboard.engine.launch import RunRequest, start_run
from poolboard.engine.monitor import Monitor
from poolboard.engine.views import ChildRow, Cursor, Summary

HERE: Final = Path(__file__).parent
#: Parts of the standard library that are surveyed; the test data of lib2to3 holds files that cannot be parsed.
SURVEYED: Final = (
    "asyncio",
    "concurrent",
    "email",
    "html",
    "http",
    "importlib",
    "json",
    "lib2to3",
    "logging",
    "multiprocessing",
    "unittest",
    "urllib",
    "xml",
)
_HALF: Final = 0.55
_EVENTS_KEPT: Final = 100
_SECONDS_KEPT: Final = 12
_LOG_BYTES: Final = 20_000


async def main() -> None:
    with tempfile.TemporaryDirectory(prefix="pb") as folder:
        home = Path(folder)
        for name, part in (("STATE_HOME", "state"), ("RUNTIME_DIR", "run")):
            (home / part).mkdir(mode=0o700)
            os.environ[f"XDG_{name}"] = str(home / part)
        os.environ["PYTHONPATH"] = str(HERE.parent)
        project = home / "project"
        for package in SURVEYED:
            shutil.copytree(Path(sysconfig.get_path("stdlib")) / package, project / package)
        os.chdir(project)
        journal = str(home / "journal.sqlite")
        monitor = await Monitor.open(journal)
        try:
            await others(monitor, journal)
            recording = await survey(monitor, journal, project)
        finally:
            for run in await monitor.runs():
                if run.status in ("running", "waiting", "paused"):
                    await monitor.stop(run.run_id, now=True)
            await monitor.close()
        text = recording.model_dump_json(indent=0)
    FILE.write_text(neutral(text, folder) + "\n")


async def others(monitor: Monitor, journal: str) -> None:
    """Leave a completed, a failed, a paused and a stopped run in the journal."""
    target = str(HERE / "workflows.py")

    async def started(name: str, count: int) -> str:
        return await start_run(RunRequest(f"{target}:{name}", {"count": count}, journal, workers=1))

    await _until(monitor, await started("digest", 240), "completed")
    await _until(monitor, await started("nightly", 96), "failed")
    for verb, status in ((monitor.stop, "stopped"), (monitor.pause, "paused")):
        run_id = await started("crawl", 64)
        async for summary in monitor.follow(run_id):
            if summary.run.children.completed >= 20:
                break
        await verb(run_id, getpass.getuser(), "the link is needed")
        await _until(monitor, run_id, status)


async def _until(monitor: Monitor, run_id: str, status: str) -> None:
    async for summary in monitor.follow(run_id):
        if summary.run.status == status:
            return


async def survey(monitor: Monitor, journal: str, project: Path) -> Recording:
    """Start the demo's survey and take it down once half is done, something has failed, and all numbers agree."""
    from poolboard import demo

    request = RunRequest(f"{demo.__file__}:survey", {"folder": str(project)}, journal, workers=2)
    run_id = await start_run(request)
    cursor: Cursor = (0, -1)
    rows: dict[int, ChildRow] = {}
    kept: list[Summary] = []
    async for summary in monitor.follow(run_id):
        if not kept or summary.run.elapsed_s - kept[-1].run.elapsed_s >= 1.0:
            kept.append(summary)
        more = True
        while more:
            page = await monitor.children(run_id, cursor)
            rows |= {row.n: row for row in page.rows}
            cursor, more = page.cursor, page.more
        children = summary.run.children
        enough = children.total and children.settled / children.total >= _HALF and children.failed
        if enough and summary.stages and _agree(summary, rows):
            break
    failed = next(n for n, row in rows.items() if row.state == "failed")
    child = await monitor.child(run_id, failed)
    logs = {log.path: (await monitor.read_log(log.path, 0, _LOG_BYTES)).decode(errors="replace") for log in child.logs}
    return Recording(
        at_ms=time.time_ns() // 1_000_000,
        journal=journal,
        runs=await monitor.runs(),
        summaries=[*kept[-_SECONDS_KEPT:], summary],
        children=sorted(rows.values()),
        child=child,
        logs=logs,
        events=await monitor.events(run_id, max(0, await monitor.last_seq(run_id) - _EVENTS_KEPT), _EVENTS_KEPT),
        durations=[await monitor.stage(run_id, stage.name) for stage in summary.stages if stage.done + stage.failed],
    )


def _agree(summary: Summary, rows: dict[int, ChildRow]) -> bool:
    """Say whether the rows that were read are of the very moment of the summary."""
    states = Counter(row.state for row in rows.values())
    children = summary.run.children
    return states == {
        state: number
        for state in ("ready", "leased", "waiting", "completed", "failed", "cancelled")
        if (number := getattr(children, state))
    }


def neutral(text: str, folder: str) -> str:
    """Replace what belongs to the machine that recorded."""
    for mine, theirs in (
        (f"{folder}/project", "/home/ann/project"),
        (f"{folder}/state", "/home/ann/.local/state"),
        (folder, "/home/ann"),
        (str(HERE.parent.resolve()), "/home/ann/poolboard"),
        (sysconfig.get_path("stdlib"), "/usr/lib/python3"),
        (f'"by": "{getpass.getuser()}"', '"by": "ann"'),
    ):
        text = text.replace(mine, theirs)
    return text


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))

"""A place to measure in: folders of its own, the installed command, and the end of every process that was started."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from poolboard.engine.folder import RunFolder
from poolboard.engine.monitor import Monitor
from poolboard.engine.views import ChildRow, RunView

from .figure import Unmeasured

ROOT = Path(__file__).parent.parent.parent
NOOP = Path(__file__).parent / "noop.py"
#: Bounds, not expectations: what takes longer is reported as not measured.
PATIENCE_S = 120.0
POLL_S = 0.05
#: What a person's terminal and settings must not bring into the numbers.
_LEFT_OUT = ("NO_COLOR", "SSH_CONNECTION", "TERM_PROGRAM", "TMUX")


class Scene:
    """One temporary XDG_STATE_HOME with one journal."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.journal = folder / "journal.sqlite"
        self._started: list[subprocess.Popen[bytes]] = []
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if name not in _LEFT_OUT and not name.startswith("POOLBOARD_")
        }
        for name in ("STATE_HOME", "CONFIG_HOME", "CACHE_HOME", "RUNTIME_DIR"):
            place = folder / name.lower()
            place.mkdir(mode=0o700)
            self.environment[f"XDG_{name}"] = str(place)
        paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        self.environment |= {"PYTHONPATH": os.pathsep.join(paths), "TERM": "xterm-256color", "COLORTERM": "truecolor"}

    def words(self, *words: str) -> list[str]:
        """Return a command line: the installed ``poolboard`` of this interpreter, else its module."""
        script = Path(sys.executable).with_name("poolboard")
        command = [str(script)] if script.exists() else [sys.executable, "-m", "poolboard"]
        return [*command, *words, "--journal", str(self.journal)]

    def spawn(self, *words: str, out: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
        """Start a command without a terminal; stderr goes to a file."""
        with (self.folder / "stderr.txt").open("ab") as errors:
            process = subprocess.Popen(
                self.words(*words), stdin=subprocess.DEVNULL, stdout=out, stderr=errors, env=self.environment
            )
        self.own(process)
        return process

    def own(self, process: subprocess.Popen[bytes]) -> None:
        """End this process with the scene, if it still runs then."""
        self._started.append(process)

    async def ended(self, process: subprocess.Popen[bytes], name: str) -> bytes:
        """Return what the command of that name printed, once it ended well; raises Unmeasured."""
        try:
            out, _ = await asyncio.to_thread(process.communicate, timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            raise Unmeasured(f"{name} went on for more than {PATIENCE_S:.0f} s") from None
        if process.returncode != 0:
            last = (self.folder / "stderr.txt").read_text(errors="replace").strip().splitlines()[-1:]
            raise Unmeasured(f"{name} ended with {process.returncode}: {' '.join(last)}")
        return out or b""

    async def fan_out(self, workflow: str, count: int, workers: int, slots: int, *inputs: str) -> str:
        """Start a detached run of ``count`` children, as a person does, and return its id."""
        size = ["--workers", str(workers), "--slots", str(slots)]
        target = [f"{NOOP}:{workflow}", *(word for given in (f"count={count}", *inputs) for word in ("--input", given))]
        process = self.spawn("run", *target, *size, "--detach", "--json", out=subprocess.PIPE)
        return str(json.loads(await self.ended(process, "poolboard run"))["run_id"])

    def run_folder(self, run_id: str) -> RunFolder:
        """Return where a run keeps its socket and its coordinator's name."""
        return RunFolder(Path(self.environment["XDG_STATE_HOME"]) / "poolboard" / "runs" / run_id)

    def last_words(self, run_id: str) -> str:
        """Return the end of what a run's coordinator said."""
        log = self.run_folder(run_id).coordinator_log
        said = log.read_text(errors="replace").splitlines()[-3:] if log.exists() else []
        return f"its coordinator said: {' | '.join(said)[-500:] or 'nothing'}"

    def close(self) -> None:
        """End what was started here and still runs: commands, and the coordinators and workers of their runs."""
        for process in self._started:
            if process.poll() is None:
                process.kill()
            process.communicate()
        for folder in (Path(self.environment["XDG_STATE_HOME"]) / "poolboard" / "runs").glob("*"):
            found = RunFolder(folder).read_coordinator()
            if found is not None and found.identity.is_alive():
                with suppress(psutil.Error):
                    workers = psutil.Process(found.identity.pid).children(recursive=True)
                    found.identity.signal(signal.SIGKILL)
                    for worker in workers:
                        worker.kill()
                    psutil.wait_procs(workers, timeout=10)


@contextmanager
def scene() -> Iterator[Scene]:
    """Set up a scene, and clear it away whatever happened in it."""
    # A short name: the path of a Unix socket may have about 100 bytes.
    with tempfile.TemporaryDirectory(prefix="pb-", ignore_cleanup_errors=True) as folder:
        made = Scene(Path(folder))
        try:
            yield made
        finally:
            made.close()


async def until_ended(here: Scene, monitor: Monitor, run_id: str, look: Callable[[], None] = lambda: None) -> RunView:
    """Return the run once it has ended; ``look`` is called about 20 times a second meanwhile. Raises Unmeasured."""
    until = time.monotonic() + PATIENCE_S
    while (run := await run_of(monitor, run_id)).ended_at is None:
        if time.monotonic() > until:
            counts = run.children
            stands = f"{run.status} with {counts.settled:,} of {counts.total:,} children settled"
            raise Unmeasured(f"run {run_id[:8]} is {stands} after {PATIENCE_S:.0f} s; {here.last_words(run_id)}")
        look()
        await asyncio.sleep(POLL_S)
    return run


async def run_of(monitor: Monitor, run_id: str) -> RunView:
    """Return a run as the journal has it: one small read, and nothing asked of the coordinator that is measured."""
    for run in await monitor.runs():
        if run.run_id == run_id:
            return run
    raise Unmeasured(f"run {run_id[:8]} is not in the journal")


async def children_of(monitor: Monitor, run: RunView) -> list[ChildRow]:
    """Return every child of a run that completed; raises Unmeasured for one that did not, or if some are missing."""
    if run.status != "completed":
        raise Unmeasured(f"run {run.run_id[:8]} ended {run.status}: {run.error}")
    found: list[ChildRow] = []
    page = await monitor.children(run.run_id)
    found += page.rows
    while page.more:
        page = await monitor.children(run.run_id, page.cursor)
        found += page.rows
    if len(found) != run.children.total:
        raise Unmeasured(f"{len(found)} of {run.children.total} children were read")
    return found

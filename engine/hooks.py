"""A person's command for how a run ends: ``on_complete``, ``on_failure``, ``on_blocked``. At most once for each end.

1. The transaction that records the end records that a hook is due. 2. The coordinator gives the run back: from here on
it can be resumed or retried. 3. It starts the hook. Killed between 1 and 3 it leaves the hook unfired, for a successor
starts none that it has not recorded itself; killed after 3 it leaves a record that says so. Never is one started twice.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from poolboard.journal import log as journal_log
from poolboard.journal.model import Event, Lease, RunRow
from poolboard.journal.states import RunStatus
from poolboard.journal.transaction import Transaction

from . import secrets, spawn
from .config import Config
from .folder import make_private
from .header import RunHeader
from .hook_record import FOLDER, HookRecord
from .identity import ProcessIdentity
from .payload import dumps
from .summary import run_view

log = logging.getLogger("poolboard")
#: The version of the JSON that a hook gets; it grows when a field changes its meaning or goes.
VERSION: Final = 1
HOOK_OF: Final[dict[RunStatus, str]] = {"completed": "on_complete", "failed": "on_failure", "blocked": "on_blocked"}
#: What is kept of a hook's output.
OUTPUT_LIMIT_BYTES: Final = 1024 * 1024
#: A larger result is left out of the JSON; ``poolboard status`` has it.
RESULT_LIMIT: Final = 64 * 1024
KILL_AFTER_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class End:
    """A run that has come to rest, as the journal has it, and the hook that is due."""

    hook: str
    epoch: int
    journal: str
    row: RunRow
    header: RunHeader


def of_config(config: Config) -> dict[str, str]:
    """Return the hooks that the settings name."""
    named = {"on_complete": config.on_complete, "on_failure": config.on_failure, "on_blocked": config.on_blocked}
    return {name: command for name, command in named.items() if command}


def claim(tx: Transaction, lease: Lease, hooks: dict[str, str]) -> str | None:
    """Record that a hook is due, in the transaction that ended the run; return its name, None if there is none."""
    name = HOOK_OF.get(tx.authority(lease).status)
    if name is None or name not in hooks:
        return None
    outcome = journal_log.append(tx, lease, Event("HookDue", dumps({"hook": name})), dumps(["HookDue", lease.epoch]))
    return name if outcome.status == "appended" else None


def message(end: End) -> dict[str, Any]:
    """Return what the hook is told on its standard input."""
    run = run_view(end.row, coordinator_alive=False)
    counts = run.children
    result = run.result if run.result is None or len(run.result) <= RESULT_LIMIT else None
    return {
        "version": VERSION,
        "hook": end.hook,
        "run_id": run.run_id,
        "name": run.name,
        "status": run.status,
        "resumable": run.resumable,
        "error": run.error,
        "result_json": result,
        "children": {"total": counts.total, "completed": counts.completed, "failed": counts.failed},
        "created_at": _instant(run.created_at),
        "started_at": _instant(run.started_at),
        "ended_at": _instant(run.ended_at),
        "elapsed_s": round(run.elapsed_s, 3),
        "cwd": run.cwd,
        "folder": end.header.folder,
        "journal": end.journal,
    }


async def fire(end: End) -> None:
    """Run the hook to its end or its time limit; whatever goes wrong is recorded and logged, never raised."""
    folder = Path(end.header.folder)
    record = HookRecord(end.hook, end.epoch, str(ProcessIdentity.own()))
    try:
        make_private(folder / FOLDER)
        record.write(folder)
        ended, ok = await _run(end, record.path(folder, "log"))
        replace(record, ended=ended, ok=ok).write(folder)
    except Exception as error:
        ended, ok = f"{type(error).__name__}: {error}", False
        with suppress(OSError):
            replace(record, ended=ended).write(folder)
    if not ok:
        log.warning("hook %s: %s", end.hook, ended)


async def _run(end: End, output: Path) -> tuple[str, bool]:
    spawn.forget_import_root()
    process = await asyncio.create_subprocess_exec(
        "/bin/sh",
        "-c",
        end.header.hooks[end.hook],
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=end.row.cwd if Path(end.row.cwd).is_dir() else end.header.folder,
        env=secrets.without(os.environ),
        start_new_session=True,
    )
    reading = asyncio.create_task(_keep(process, output))
    telling = asyncio.create_task(_tell(process, dumps(message(end)).encode() + b"\n"))
    limit_s = end.header.hook_limit_s
    try:
        async with asyncio.timeout(limit_s):
            code = await process.wait()
        # What it left in the background may hold the pipe; what it wrote itself is there by now.
        await asyncio.wait({reading}, timeout=KILL_AFTER_S)
    except TimeoutError:
        await _kill(process)
        return f"ended after {limit_s:g} s, its limit (hook_limit_s)", False
    finally:
        for task in (reading, telling):
            task.cancel()
        await asyncio.gather(reading, telling, return_exceptions=True)
    if code < 0:
        return f"signal {-code}", False
    return f"exit code {code}", code == 0


async def _tell(process: asyncio.subprocess.Process, data: bytes) -> None:
    """Write the JSON; a hook that does not read it is fine."""
    assert process.stdin is not None
    with suppress(OSError):
        process.stdin.write(data)
        await process.stdin.drain()
        process.stdin.close()


async def _keep(process: asyncio.subprocess.Process, output: Path) -> None:
    """Copy the output to its file up to the limit; what is beyond is read and dropped, so that the hook goes on."""
    assert process.stdout is not None
    descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    left = OUTPUT_LIMIT_BYTES
    with os.fdopen(descriptor, "wb", buffering=0) as file:
        while data := await process.stdout.read(65536):
            file.write(data[:left])
            if left and len(data) >= left:
                file.write(b"\n[the rest is cut off]\n")
            left = max(0, left - len(data))


async def _kill(process: asyncio.subprocess.Process) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(TimeoutError):
            async with asyncio.timeout(KILL_AFTER_S):
                await process.wait()
                return


def _instant(at_ms: int | None) -> str | None:
    if at_ms is None:
        return None
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

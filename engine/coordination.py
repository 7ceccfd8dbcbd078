"""What a coordinator's process does: take the run by its errand, which comes on stdin, and work on it.

It says one line of JSON on stdout, that it is ready or why it cannot be; from then on stdout is its log, like stderr.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from contextlib import suppress
from pathlib import Path

from poolboard.journal.errors import JournalError, StorageUnavailable
from poolboard.journal.model import Event, Lease
from poolboard.journal.sqlite import SqliteJournal
from poolboard.journal.states import TERMINAL_RUN

from . import faults, hooks, logs, takeover
from .coordinator import Coordinator
from .definitions import digest_of, same_program
from .errors import ChangedCode, EngineError, UserMistake
from .header import RunHeader
from .intent import Errand
from .payload import dumps
from .threads import settle_in
from .worker_process import WorkerProcess

log = logging.getLogger("poolboard")
EXIT_REFUSED, EXIT_STORAGE, EXIT_BROKEN = 2, 5, 70


async def serve(journal_path: Path, run_id: str, errand: Errand, ahead: dict[int, WorkerProcess]) -> None:
    """Take the run and work on it until it ends; workers that were started ahead are the first ones, by place."""
    journal = await SqliteJournal.open(journal_path, create=False, fault=faults.fault)
    try:
        before = await journal.get_run(run_id)
        if before.status in TERMINAL_RUN and errand.intent != "retry":
            raise UserMistake(f"run {run_id} has ended: it is {before.status}")
        header = RunHeader.from_json(before.header)
        lease = await takeover.take_lease(journal, run_id)
        try:
            digest = await accepted_digest(journal, lease, header, errand.accept_code)
        except ChangedCode:
            await journal.release_lease(lease)
            raise
        coordinator = Coordinator(journal, lease, before, header, digest, errand, ahead)
        try:
            await coordinator.run(lambda: say({"ok": True}))
        except UserMistake:
            await journal.release_lease(lease)
            raise
        await journal.release_lease(lease)
        hook, row = coordinator.hook_due, await journal.get_run(run_id)
    finally:
        await journal.close()
    if hook is not None:
        faults.fault("hook due")
        await hooks.fire(hooks.End(hook, lease.epoch, str(journal_path), row, header))


async def accepted_digest(journal: SqliteJournal, lease: Lease, header: RunHeader, accept_code: bool) -> str:
    """Return the digest of the workflow's file as it is now, if the run may go on with it.

    Its source is recorded at the first start, so that comments and layout may change freely: programs are compared, not
    bytes. Raises ChangedCode naming the file.
    """
    path = Path(header.path)
    try:
        source = path.read_bytes()
    except OSError as error:
        raise ChangedCode(f"{path} cannot be read: {error.strerror}; put it back to resume") from None
    digest = digest_of(source)
    if await journal.reader.entry_of_key(lease.number, _key(digest)) is not None:
        return digest
    first = await journal.reader.entry_of_key(lease.number, _key(header.digest))
    if first is None and digest == header.digest:
        await _record(journal, lease, digest, source)
        return digest
    recorded = b"" if first is None else json.loads(first.event.payload)["source"].encode("utf-8", "surrogateescape")
    if accept_code or (first is not None and same_program(recorded, source)):
        await _record(journal, lease, digest, source)
        return digest
    raise ChangedCode(
        f"{path} has changed since the run started (version {header.digest[:8]}, now {digest[:8]}); "
        "put it back, or resume with --accept-code"
    )


async def _record(journal: SqliteJournal, lease: Lease, digest: str, source: bytes) -> None:
    payload = dumps({"digest": digest, "source": source.decode("utf-8", "surrogateescape")})
    await journal.append(lease, Event("DefinitionRecorded", payload), _key(digest))


def _key(digest: str) -> str:
    return json.dumps(["Definition", digest], separators=(",", ":"))


_said = False


def say(answer: dict[str, object]) -> None:
    """Write the one line that launch.py waits for, then make stdout the log."""
    global _said
    if _said:
        return
    _said = True
    with suppress(BrokenPipeError):  # whoever asked was killed meanwhile; the run goes on without being watched
        os.write(1, json.dumps(answer).encode() + b"\n")
    os.dup2(2, 1)


def _read_errand() -> Errand:
    told = sys.stdin.buffer.read()
    if not told:
        # Whoever started this process before its run was recorded has changed its mind, or is gone.
        os._exit(0)
    errand = Errand.decode(told)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return errand


def main(journal: Path, run_id: str, ahead: dict[int, WorkerProcess]) -> None:
    """Run one coordinator process; it never returns."""
    faults.arm("coordinator")
    logs.to_stderr()
    settle_in()
    asyncio.run(_live(journal, run_id, ahead))


async def _live(journal: Path, run_id: str, ahead: dict[int, WorkerProcess]) -> None:
    """Serve, and end this process from within its loop.

    Once it is over, nothing here may be waited for: a loop that closes waits for its threads, and goes on to answer
    peers meanwhile, as a coordinator that nobody can replace.
    """
    status = 0
    try:
        await serve(journal, run_id, _read_errand(), ahead)
    except (EngineError, JournalError) as error:
        say({"ok": False, "kind": type(error).__name__, "message": str(error)})
        log.error("%s", error)
        status = EXIT_STORAGE if isinstance(error, StorageUnavailable) else EXIT_REFUSED
    except BaseException as error:
        say({"ok": False, "kind": "EngineError", "message": f"the coordinator broke: {type(error).__name__}: {error}"})
        log.exception("the coordinator broke")
        status = EXIT_BROKEN
    sys.stderr.flush()
    os._exit(status)

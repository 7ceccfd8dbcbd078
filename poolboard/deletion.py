"""``poolboard delete``: a run's rows in the journal and its folder, for good."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from poolboard import exit_codes, run_folders, shapes
from poolboard.confirmation import confirm
from poolboard.console import complain, say
from poolboard.engine.errors import UserMistake
from poolboard.engine.folder import chosen_journal
from poolboard.headless import MOVING
from poolboard.journal.deleting import delete_run
from poolboard.journal.errors import JournalError, LeaseHeld, RunNotFound
from poolboard.journal.sqlite import SqliteJournal
from poolboard.selection import Selection, chosen
from poolboard.session import opened
from poolboard.words import shown

if TYPE_CHECKING:
    from poolboard.engine.views import RunView


def delete(journal: str | None, selection: Selection, *, yes: bool, as_json: bool) -> int:
    """Forget runs and their folders after asking; raises UserMistake, before anything is done, if one is live."""
    if selection.is_empty:
        raise UserMistake("which run? write its id, or choose runs by --failed, --older-than, --name")
    return asyncio.run(_delete(journal, selection, yes, as_json))


def _is_live(run: RunView) -> bool:
    return run.status == "paused" or (run.status in MOVING and run.status not in ("pending", "crashed"))


async def _delete(journal: str | None, selection: Selection, yes: bool, as_json: bool) -> int:
    async with opened(journal) as monitor:
        runs = await chosen(monitor, selection, lambda run: not _is_live(run))
    for run in runs:
        if _is_live(run):
            raise UserMistake(f"run {run.run_id[:8]} is {run.status}: stop or cancel it first")
    if not runs:
        complain("no run to delete")
        return exit_codes.COMPLETED
    if not confirm("delete", runs, yes=yes):
        complain("nothing was deleted")
        return exit_codes.COMPLETED
    store = await SqliteJournal.open(chosen_journal(journal).pool_path(), create=False)
    try:
        codes = [await _forget(store, run, as_json) for run in runs]
        # What the runs leave goes in small transactions; after a kill in between the next sweep takes it.
        await store.sweep()
    finally:
        await store.close()
    return max(codes)


async def _forget(store: SqliteJournal, run: RunView, as_json: bool) -> int:
    """Delete one run and tell of it. First the rows: a kill in between leaves a folder that nothing needs."""
    try:
        header = (await store.get_run(run.run_id)).header
        await store.transact(lambda tx: delete_run(tx, run.run_id))
    except RunNotFound:
        complain(f"poolboard: run {run.run_id[:8]} is gone already")
        return exit_codes.COMPLETED
    except LeaseHeld:
        complain(
            f"poolboard: run {run.run_id[:8]} had a coordinator some seconds ago: "
            "wait until that is over for sure, or stop the run"
        )
        return exit_codes.MISTAKE
    except JournalError as error:
        complain(f"poolboard: {shown(str(error))}")
        return exit_codes.STORAGE
    left = run_folders.forget(run.run_id, header)
    if as_json:
        say(shapes.line({"shape": shapes.VERSION, "run_id": run.run_id, "deleted": True, "folder_left": left}))
    else:
        say(f"{run.run_id}  deleted" + (f"; {shown(left)}" if left else ""))
    return exit_codes.COMPLETED

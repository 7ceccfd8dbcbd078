"""What ``poolboard journal …`` does. These work on the journal itself, below monitor and coordinator."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from poolboard import exit_codes, run_folders, shapes
from poolboard.ages import age_ms
from poolboard.console import complain, say, say_all
from poolboard.engine.errors import UserMistake
from poolboard.engine.folder import RunFolder, chosen_journal, make_private, state_folder
from poolboard.journal.errors import LeaseHeld, Refused
from poolboard.journal.pruning import OldRun, Pruned
from poolboard.session import opened
from poolboard.tui.units import count, several, size
from poolboard.words import shown

if TYPE_CHECKING:
    from poolboard.journal.importing import Imported

#: Runs that ``prune`` names one by one; ``--json`` names them all.
LISTED: Final = 100
COPY_BYTES: Final = 256 * 1024


def check(journal: str | None, *, as_json: bool) -> int:
    """Tell what is wrong with the journal; ends with 5 if anything is."""
    from poolboard.journal import check as checking

    with _chosen(journal) as path:
        report = checking.check(path)
    damaged = bool(report.findings)
    if as_json:
        found = [{"kind": f.kind, "run_id": f.run_id, "what": f.what} for f in report.findings]
        told: dict[str, object] = {"journal": str(report.path), "ok": not damaged, "runs": report.runs}
        told |= {"events": report.events, "size_bytes": report.size_bytes, "findings": found, "cut": report.cut}
        say(shapes.line(told | {"notes": list(report.notes)}))
        return exit_codes.STORAGE if damaged else exit_codes.COMPLETED
    say_all(shown(str(finding)) for finding in report.findings)
    if report.cut:
        say("… and more: the list was cut")
    say_all(f"note: {shown(note)}" for note in report.notes)
    looked = f"{several(report.runs, 'run')}, {several(report.events, 'event')}, {size(report.size_bytes)}"
    if damaged:
        say(f"journal damaged: {shown(str(report.path))} ({looked})")
        say("it was not changed; restore a copy, or export what can be read: poolboard journal export RUN")
        return exit_codes.STORAGE
    say(f"{shown(str(report.path))} is whole: {looked}")
    return exit_codes.COMPLETED


def backup(journal: str | None, file: str, *, as_json: bool) -> int:
    """Copy the journal to a new file."""
    from poolboard.journal import backup as copying

    with _chosen(journal) as path:
        made = copying.backup(path, Path(file).expanduser().absolute())
    if as_json:
        say(shapes.line({"backup": str(made.path), "size_bytes": made.size_bytes, "runs": made.runs}))
    else:
        say(f"{several(made.runs, 'run')} copied to {shown(str(made.path))} ({size(made.size_bytes)})")
    return exit_codes.COMPLETED


def prune(journal: str | None, *, older_than: str, keep: int, dry_run: bool, as_json: bool) -> int:
    """Forget old ended runs and their folders."""
    older_than_ms = age_ms(older_than, "--older-than")
    left: dict[str, str] = {}

    def forget(run: OldRun) -> None:
        if (why := run_folders.forget(run.run_id, run.header)) is not None:
            left[run.run_id] = why

    with _chosen(journal) as path:
        pruned = asyncio.run(_prune(path, older_than_ms, keep, dry_run, forget))
    if as_json:
        say(shapes.line(_of_pruned(pruned, left, dry_run)))
        return exit_codes.COMPLETED
    say_all(_pruned_words(pruned, dry_run))
    for run, why in pruned.kept:
        complain(f"kept {shown(run.run_id)}: {shown(why)}")
    for run_id, why in left.items():
        complain(f"forgot {shown(run_id)}, but {shown(why)}")
    return exit_codes.COMPLETED


async def _prune(path: Path, older_than_ms: int, keep: int, dry_run: bool, forget: Callable[[OldRun], None]) -> Pruned:
    from poolboard.journal import pruning
    from poolboard.journal.sqlite import SqliteJournal

    journal = await SqliteJournal.open(path, create=False)
    try:
        return await pruning.prune(journal, older_than_ms=older_than_ms, keep=keep, dry_run=dry_run, forget=forget)
    finally:
        await journal.close()


def _of_pruned(pruned: Pruned, left: dict[str, str], dry_run: bool) -> dict[str, object]:
    def of_run(run: OldRun) -> dict[str, object]:
        told: dict[str, object] = {"run_id": run.run_id, "name": run.name, "status": run.status}
        return told | {"ended_at": shapes.instant(run.ended_at), "children": run.children, "events": run.events}

    return {
        "dry_run": dry_run,
        "forgotten": [of_run(run) for run in pruned.forgotten],
        "kept": [of_run(run) | {"why": why} for run, why in pruned.kept],
        "folders_left": left,
        "more": pruned.more,
    }


def _pruned_words(pruned: Pruned, dry_run: bool) -> Iterator[str]:
    for run in pruned.forgotten[:LISTED]:
        ended = shapes.instant(run.ended_at)
        children = several(max(run.children, 0), "child", "children")
        yield f"{shown(run.run_id)}  {shown(run.name)}  {run.status}  ended {ended}  {children}"
    if len(pruned.forgotten) > LISTED:
        yield f"… and {count(len(pruned.forgotten) - LISTED)} more (--json names them all)"
    yield f"{several(len(pruned.forgotten), 'run')} {'would be forgotten' if dry_run else 'forgotten'}"
    if pruned.more:
        yield "there are more: prune again"
    elif pruned.forgotten and not dry_run:
        yield "to give the disk back what they took: poolboard journal vacuum"


def vacuum(journal: str | None, *, as_json: bool) -> int:
    """Write the journal's file anew without its free pages."""
    from poolboard.journal import vacuum as vacuuming

    with _chosen(journal) as path:
        done = vacuuming.vacuum(path)
    if as_json:
        say(shapes.line({"before_bytes": done.before_bytes, "after_bytes": done.after_bytes}))
    else:
        say(f"{size(done.before_bytes)} before, {size(done.after_bytes)} now")
    return exit_codes.COMPLETED


def export(journal: str | None, prefix: str) -> int:
    """Print a run as JSON lines."""
    from poolboard.journal import exporting

    with _chosen(journal) as path:
        file = exporting.export(path, asyncio.run(_resolved(path, prefix)))
    with file:
        while data := file.read(COPY_BYTES):
            sys.stdout.write(data.decode("ascii"))
    sys.stdout.flush()
    return exit_codes.COMPLETED


async def _resolved(path: Path, prefix: str) -> str:
    async with opened(str(path)) as monitor:
        return await monitor.resolve(prefix)


def import_run(journal: str | None, file: str, *, as_json: bool) -> int:
    """Record an exported run."""
    from poolboard.journal import importing

    with _chosen(journal) as path:
        if path.parent == state_folder():
            make_private(path.parent)
        if file == "-":
            done = importing.import_run(path, sys.stdin.buffer, "standard input", at_home=run_folders.at_home)
        else:
            done = _import_file(path, file)
        RunFolder.of(done.run_id).create()
    if as_json:
        say(shapes.line({"run_id": done.run_id, "events": done.events, "children": done.children}))
    else:
        children = several(done.children, "child", "children")
        say(f"run {shown(done.run_id)} imported: {children}, {several(done.events, 'event')}")
    return exit_codes.COMPLETED


def _import_file(path: Path, file: str) -> Imported:
    from poolboard.journal import importing

    try:
        source = Path(file).open("rb")  # noqa: SIM115 - only opening it is the person's mistake
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UserMistake(f"cannot read {file}: {reason}") from None
    with source:
        return importing.import_run(path, source, file, at_home=run_folders.at_home)


@contextmanager
def _chosen(journal: str | None) -> Iterator[Path]:
    """Give the file of the journal in force; errors say who chose it, and a refusal is the mistake that it is here."""
    selection = chosen_journal(journal)
    path = selection.pool_path()
    try:
        with selection.named():
            yield path
    except (LeaseHeld, Refused) as error:
        raise UserMistake(str(error)) from error

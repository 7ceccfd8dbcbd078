"""``poolboard journal …``: words and options. What they do is in ``upkeep``, imported when asked for."""

from __future__ import annotations

from typing import Annotated

import typer

from poolboard import completion
from poolboard.cli_options import Deed, Journal, Json

app = typer.Typer(help="Look after the journal: check, copy, thin out, take a run elsewhere.", add_completion=False)


@app.command()
def check(journal: Journal = None, as_json: Json = False) -> Deed:
    """Look for damage: pages, rows that belong to nothing, counters, recorded values. Never writes.

    Ends with 0 if all is well and with 5 if anything is damaged, a line for each finding.
    """

    def act() -> int:
        from poolboard import upkeep

        return upkeep.check(journal, as_json=as_json)

    return act


@app.command()
def backup(
    file: Annotated[str, typer.Argument(help="The copy's name; a file that is there is never overwritten.")],
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Copy the journal to one file, also while runs go on.

    Example: poolboard journal backup ~/journal-2025-01-31.sqlite
    """

    def act() -> int:
        from poolboard import upkeep

        return upkeep.backup(journal, file, as_json=as_json)

    return act


@app.command()
def prune(
    older_than: Annotated[
        str, typer.Option(help="Forget runs that ended longer ago: 12h, 30d, 8w.", metavar="AGE")
    ] = "30d",
    keep: Annotated[int, typer.Option(help="Keep that many runs, those that ended last, however old.", min=0)] = 50,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell which runs would go.")] = False,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Forget old ended runs, with their logs; what could still go on is never touched.

    Example: poolboard journal prune --older-than 30d --keep 50 --dry-run
    """

    def act() -> int:
        from poolboard import upkeep

        return upkeep.prune(journal, older_than=older_than, keep=keep, dry_run=dry_run, as_json=as_json)

    return act


@app.command()
def vacuum(journal: Journal = None, as_json: Json = False) -> Deed:
    """Give the disk back what forgotten runs took; only while no run is worked on."""

    def act() -> int:
        from poolboard import upkeep

        return upkeep.vacuum(journal, as_json=as_json)

    return act


@app.command("export")
def export_run(
    run: Annotated[
        str, typer.Argument(help="A run's id, or the beginning of it.", metavar="RUN", autocompletion=completion.runs)
    ],
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Print a run as JSON lines, everything that is recorded for it (with or without --json).

    Example: poolboard journal export 3f2a > run.jsonl
    """

    def act() -> int:
        from poolboard import upkeep

        return upkeep.export(journal, run)

    return act


@app.command("import")
def import_run(
    file: Annotated[str, typer.Argument(help="What export printed; - for standard input.")],
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Record an exported run in this journal; nothing is written unless all of it is whole."""

    def act() -> int:
        from poolboard import upkeep

        return upkeep.import_run(journal, file, as_json=as_json)

    return act

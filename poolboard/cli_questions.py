"""``poolboard status``, ``list``, ``wait``, ``events``, ``logs``, ``export``: their words and options."""

from __future__ import annotations

from typing import Annotated

import typer

from poolboard import completion
from poolboard.cli_options import Child, Deed, Failed, Journal, Json, Name, NewestRuns, OlderThan, Run


def status(
    runs: NewestRuns = None,
    failed: Failed = False,
    older_than: OlderThan = None,
    name: Name = None,
    watch: Annotated[bool, typer.Option("--watch", help="Tell again at each change, until the run rests.")] = False,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="End as the run did (see the table of exit status).")
    ] = False,
    prometheus: Annotated[
        bool, typer.Option("--prometheus", help="Print the figures in Prometheus' text format.")
    ] = False,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Tell how runs stand: progress, stages, workers, result or error.

    \b
    poolboard status 3f2a --watch
    poolboard status --exit-code || echo "not well"
    """

    def act() -> int:
        from poolboard import cli_status
        from poolboard.selection import Selection

        asking = cli_status.Asking(as_json, watch, exit_code, prometheus)
        return cli_status.status(journal, Selection.of(runs, failed, older_than, name), asking)

    return act


def list_runs(
    failed: Failed = False,
    older_than: OlderThan = None,
    name: Name = None,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """List the runs of the journal: those that go on first, then newest first.

    Example: poolboard list --failed --name 'train*'
    """

    def act() -> int:
        from poolboard import cli_status
        from poolboard.selection import Selection

        return cli_status.list_runs(journal, Selection.of(None, failed, older_than, name), as_json=as_json)

    return act


def wait(
    runs: Annotated[
        list[str],
        typer.Argument(
            help="Ids of runs, or the beginnings of them.", metavar="RUN...", autocompletion=completion.runs
        ),
    ],
    timeout: Annotated[
        float | None, typer.Option(help="Wait so many seconds at most; then end with 124.", metavar="SECONDS", min=0)
    ] = None,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Wait until runs come to rest, and end as they did: of several, as the one that fared worst.

    Example: poolboard wait "$(poolboard run count.py --detach)" --timeout 3600
    """

    def act() -> int:
        from poolboard import waiting

        return waiting.wait(journal, runs, timeout, as_json=as_json)

    return act


def events(
    run: Run,
    types: Annotated[
        list[str] | None, typer.Option("--type", help="Only events of this type; may come several times.")
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the run rests.")] = False,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Print what the journal recorded of a run, event by event.

    Example: poolboard events 3f2a -f --type WorkFailed
    """

    def act() -> int:
        from poolboard import event_lines

        return event_lines.events(journal, run, types or [], follow=follow, as_json=as_json)

    return act


def logs(
    run: Run,
    child: Child,
    stage: Annotated[str | None, typer.Argument(help="Only this stage.", metavar="[STAGE]")] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the child has ended.")] = False,
    merge: Annotated[
        bool, typer.Option("--merge", help="All attempts, in the order of their beginning; each line says which.")
    ] = False,
    raw: Annotated[bool, typer.Option("--raw", help="The bytes as they are, also what drives a terminal.")] = False,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Print what a child wrote: for each stage, the newest attempt.

    Example: poolboard logs 3f2a 17 -f
    """

    def act() -> int:
        from poolboard import cli_logs

        return cli_logs.logs(journal, run, child, stage, follow=follow, form=cli_logs.Form(merge, raw, as_json))

    return act


def export(
    run: Run,
    form: Annotated[
        str, typer.Option("--format", help="jsonl, csv: a line for each child; html: a page.", metavar="FORMAT")
    ] = "jsonl",
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Write to this file; default: standard output.", metavar="FILE")
    ] = None,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Hand a run on: its children as JSON lines or CSV, or a report page that needs no network (--json: jsonl).

    \b
    poolboard export 3f2a --format html -o report.html
    poolboard export 3f2a --format csv | column -ts,
    """

    def act() -> int:
        from poolboard import run_export

        return run_export.export(journal, run, "jsonl" if as_json else form, output)

    return act

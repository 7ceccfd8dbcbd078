"""``poolboard run``: its words and options; the work is in ``cli_run``, ``input_help`` and ``rerunning``."""

from __future__ import annotations

from typing import Annotated

import typer

from poolboard import cli_budget, cli_limits
from poolboard.cli_hooks import OnBlocked, OnComplete, OnFailure
from poolboard.cli_options import Deed, Detach, Grace, Headless, Journal, Json, Notify, Quiet, Workers


def run(
    target: Annotated[
        str, typer.Argument(help="A Python file, and which of its workflows.", metavar="FILE.py[:workflow]")
    ],
    given: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            help="An argument of the workflow; may come several times. NAME alone: from POOLBOARD_INPUT_NAME.",
            metavar="NAME=VALUE",
        ),
    ] = None,
    input_json: Annotated[str | None, typer.Option(help="Arguments as one JSON object.", metavar="OBJECT")] = None,
    input_file: Annotated[
        str | None, typer.Option(help="A file with such an object; - is standard input.", metavar="FILE")
    ] = None,
    help_inputs: Annotated[
        bool, typer.Option("--help-inputs", help="Tell what the workflow takes, and run nothing.")
    ] = False,
    workers: Workers = None,
    slots: Annotated[int | None, typer.Option(help="Runs at once in each worker; default: 4.", min=1, max=4096)] = None,
    name: Annotated[str | None, typer.Option(help="What to call the run; default: the workflow's name.")] = None,
    max_duration: cli_budget.MaxDuration = None,
    max_failures: cli_budget.MaxFailures = None,
    max_usage: cli_budget.MaxUsage = None,
    limit: cli_limits.Limits = None,
    shared_limit: cli_limits.SharedLimits = None,
    journal: Journal = None,
    headless: Headless = False,
    detach: Detach = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Whenever the file is saved, cancel the run and start a fresh one.")
    ] = False,
    grace: Grace = None,
    on_complete: OnComplete = None,
    on_failure: OnFailure = None,
    on_blocked: OnBlocked = None,
    notify: Notify = None,
    quiet: Quiet = None,
    as_json: Json = False,
) -> Deed:
    """Run a file's workflow (the last one defined, if none is named).

    \b
    poolboard run count.py:many_files --input 'paths=["a.txt", "b.txt"]' --workers 2
    poolboard run count.py:many_files --input-file arguments.json --detach
    poolboard run count.py:many_files --help-inputs
    """

    def act() -> int:
        if help_inputs:
            from poolboard import input_help

            return input_help.told(target, as_json=as_json)
        from poolboard import budget_words, cli_run, inputs, limit_words
        from poolboard.engine.launch import RunRequest
        from poolboard.hook_words import named_hooks
        from poolboard.showing import Showing

        inputs.hide(given or [], target)
        found = inputs.gathered(given or [], input_json, input_file)
        limits = limit_words.table(limit or [], shared_limit or [])
        budget = budget_words.table(max_duration, max_failures, max_usage or [])
        hooks = named_hooks(on_complete, on_failure, on_blocked)
        request = RunRequest(
            target, found, journal, workers, slots, name, limits=limits, budget=budget, grace_s=grace, hooks=hooks
        )
        showing = Showing(notify=notify, quiet=quiet)
        if watch:
            from poolboard import rerunning

            return rerunning.rerun(request, detach=detach, as_json=as_json, showing=showing)
        return cli_run.run(request, headless=headless, detach=detach, as_json=as_json, showing=showing)

    return act

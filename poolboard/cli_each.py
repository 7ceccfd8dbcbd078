"""``poolboard each``: its words and options. What it does is in ``each_run``, imported when asked for."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperCommand

from poolboard import completion
from poolboard.cli_budget import MaxDuration, MaxFailures
from poolboard.cli_hooks import OnBlocked, OnComplete, OnFailure
from poolboard.cli_limits import Limits, SharedLimits

if TYPE_CHECKING:
    from poolboard.each_job import Job
    from poolboard.each_run import Manners
    from poolboard.each_source import Source

ITEMS: Final = ":::"
#: Words of GNU parallel that mean something else there than here; a silent difference would be the worst.
FOREIGN: Final = frozenset({"::::", ":::+", "::::+"})
_META: Final = "poolboard.items"


class EachCommand(TyperCommand):
    """Takes the items off the line before anything looks for options in them: they may begin with dashes."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        if ITEMS in args:
            at = args.index(ITEMS)
            ctx.meta[_META] = args[at + 1 :]
            args = args[:at]
        return super().parse_args(ctx, args)


#: How the command line declares this command.
SETTINGS: Final[dict[str, Any]] = {"cls": EachCommand, "context_settings": {"allow_interspersed_args": False}}


def each(
    context: typer.Context,
    command: Annotated[
        list[str] | None,
        typer.Argument(
            help="The command; {} is the item, {.} without extension, {/} its name, {//} its folder, {/.} its name "
            "without extension, {#} its number, {%} the place (1 to -j) where it runs. Without one {} is added.",
            metavar="COMMAND... [::: ITEM...]",
        ),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", help="Commands at once; default: one per core.", min=1, max=4096)
    ] = None,
    csv: Annotated[
        str | None, typer.Option(help="Items are the rows of this file (-: stdin); {name} is a cell.", metavar="FILE")
    ] = None,
    null: Annotated[bool, typer.Option("--null", "-0", help="Items on stdin end with NUL bytes.")] = False,
    max_args: Annotated[int, typer.Option("--max-args", "-n", help="Items per command.", min=1, max=100_000)] = 1,
    argv: Annotated[bool, typer.Option("--argv", help="Run the words themselves, without a shell.")] = False,
    retries: Annotated[
        int | None, typer.Option(help="Tries more for a command that fails; default: 0.", min=0, max=1000)
    ] = None,
    timeout: Annotated[
        str | None, typer.Option(help="End a command after so long (90, 1.5, 2m, 1h).", metavar="TIME")
    ] = None,
    halt: Annotated[
        str | None,
        typer.Option(
            help="Give up after so many failures: soon lets running commands end, now ends them.",
            metavar="soon|now,fail=N[%]",
        ),
    ] = None,
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", help="Give up at the first failure: --halt now,fail=1.")
    ] = False,
    allow_failures: Annotated[
        int | None, typer.Option(help="So many may fail, and it still ends with 0; default: 0.", min=0)
    ] = None,
    keep_order: Annotated[
        bool | None, typer.Option("--keep-order/--no-keep-order", "-k", help="Print in the order of the items.")
    ] = None,
    results: Annotated[
        str | None, typer.Option(help="Copy what each item wrote to DIR/NUMBER/stdout and stderr.", metavar="DIR")
    ] = None,
    joblog: Annotated[
        str | None, typer.Option(help="Write a line per item, in GNU parallel's columns.", metavar="FILE")
    ] = None,
    max_duration: MaxDuration = None,
    max_failures: MaxFailures = None,
    limit: Limits = None,
    shared_limit: SharedLimits = None,
    env: Annotated[
        list[str] | None,
        typer.Option(help="A variable that the commands need; its value is recorded nowhere.", metavar="NAME[=VALUE]"),
    ] = None,
    cwd: Annotated[str | None, typer.Option(help="The folder to run in; default: this one.", metavar="DIR")] = None,
    name: Annotated[str | None, typer.Option(help="What to call the run; default: the command.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the commands and run nothing.")] = False,
    resume: Annotated[
        str | None,
        typer.Option(
            help="Go on with a run; a list that was cut off is given again.",
            metavar="RUN",
            autocompletion=completion.runs,
        ),
    ] = None,
    retry_failed: Annotated[
        str | None,
        typer.Option(
            help="Try again what failed in a run, and what was not run.",
            metavar="RUN",
            autocompletion=completion.runs,
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Worker processes at most; default: one per core.", min=1, max=1024)
    ] = None,
    headless: Annotated[
        bool, typer.Option("--headless", help="Print the commands' output instead of opening the screen.")
    ] = False,
    detach: Annotated[bool, typer.Option("--detach", help="Return once the list is read; the run goes on.")] = False,
    on_complete: OnComplete = None,
    on_failure: OnFailure = None,
    on_blocked: OnBlocked = None,
    quiet: Annotated[bool | None, typer.Option("--quiet/--no-quiet", "-q", help="No progress on stderr.")] = None,
    notify: Annotated[
        bool | None, typer.Option("--notify/--no-notify", help="Ring the terminal when the run comes to rest.")
    ] = None,
    journal: Annotated[
        str | None,
        typer.Option(
            help="The journal file; default: POOLBOARD_JOURNAL, else the one in the state folder.", metavar="PATH"
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines on stdout and nothing else.")] = False,
) -> Callable[[], int]:
    """Run a shell command for every item, durably, on the pool. Options come before the command.

    \b
    poolboard each 'gzip -k {}' ::: *.log
    find . -name '*.avi' | poolboard each -j 8 'ffmpeg -i {} {.}.webm'
    poolboard each --csv jobs.csv 'train --lr {lr} --seed {seed}'
    """
    given: list[str] | None = context.meta.get(_META)

    def act() -> int:
        from poolboard import budget_words, cli_run, each_run, limit_words
        from poolboard.engine.config_loading import load
        from poolboard.hook_words import named_hooks
        from poolboard.showing import Showing

        words = command or []
        source = _source(words, given, csv, null, max_args)
        log = None if joblog is None else Path(joblog).absolute()
        showing = Showing(notify=notify, quiet=quiet)
        manners = each_run.Manners(journal, workers, name, headless, detach, as_json, showing, bool(keep_order), log)
        manners = replace(
            manners,
            budget=budget_words.table(max_duration, max_failures, []),
            hooks=named_hooks(on_complete, on_failure, on_blocked),
        )
        _check_manners(manners)
        give_up = _give_up(halt, fail_fast)
        config = load().config
        manners = replace(
            manners,
            workers=workers or config.workers,
            in_order=config.keep_order and not detach if keep_order is None else keep_order,
            showing=cli_run.settled(showing, headless=headless or detach or as_json),
            cwd=_folder(cwd),
        )
        _take_environment(env or [])
        if resume is not None or retry_failed is not None:
            _check_again(resume, retry_failed, jobs, timeout, give_up, results, cwd, name, retries, max_args, argv)
            prefix = resume or retry_failed or ""
            return each_run.again("resume" if resume is not None else "retry", prefix, words, source, manners)
        job = _job(
            words,
            jobs or config.jobs,
            max_args,
            argv,
            config.retries if retries is None else retries,
            timeout or config.timeout,
            give_up or config.halt,
            config.allow_failures if allow_failures is None else allow_failures,
            results,
            env or [],
        )
        job = replace(job, limits=limit_words.table(limit or [], shared_limit or []) or None)
        return (each_run.dry_run if dry_run else each_run.start)(job, source, manners)

    return act


def _source(command: list[str], given: list[str] | None, table: str | None, nul: bool, max_args: int) -> Source:
    from poolboard.each_source import Source
    from poolboard.engine.errors import UserMistake

    for word in FOREIGN.intersection([*command, *(given or [])]):
        raise UserMistake(f"{word} is not known here; items come after :::, through stdin or from --csv")
    if ITEMS in (given or []):
        raise UserMistake("a second ::: is not known here; for combinations write a table and use --csv")
    if table is not None and (given is not None or nul or max_args > 1):
        raise UserMistake("--csv goes with none of :::, -0 and --max-args")
    if nul and given is not None:
        raise UserMistake("-0 is for items on stdin, not after :::")
    path = None if table is None else Path(table) if table == "-" else Path(table).absolute()
    return Source(given, path, nul)


def _check_manners(manners: Manners) -> None:
    from poolboard.engine.errors import UserMistake

    if manners.detach and (manners.headless or manners.in_order or manners.joblog):
        raise UserMistake("--detach leaves the run alone: no --headless, --keep-order or --joblog with it")


def _check_again(resume: str | None, retry: str | None, *fixed: object) -> None:
    from poolboard.engine.errors import UserMistake

    if resume is not None and retry is not None:
        raise UserMistake("--resume and --retry-failed exclude each other")
    if any(value not in (None, 0, 1, False) or value is True for value in fixed):
        raise UserMistake("how a run works was said when it was started; it cannot be said again with its resume")


def _job(
    command: list[str],
    jobs: int | None,
    max_args: int,
    argv: bool,
    retries: int,
    timeout: str | None,
    halt: str | None,
    allow_failures: int,
    results: str | None,
    env: list[str],
) -> Job:
    from poolboard.each_job import Halt, Job, names_of, seconds
    from poolboard.inputs import as_text

    return Job(
        template=[as_text(word, "the command") for word in command],
        jobs=jobs or os.cpu_count() or 1,
        argv=argv,
        max_args=max_args,
        timeout_s=None if timeout is None else seconds(timeout, "--timeout"),
        retries=retries,
        halt=None if halt is None else Halt.parse(halt),
        allow_failures=allow_failures,
        results=None if results is None else as_text(str(Path(results).absolute()), "--results"),
        env=names_of(env) or None,
    )


def _give_up(halt: str | None, fail_fast: bool) -> str | None:
    from poolboard.engine.errors import UserMistake

    if halt is not None and fail_fast:
        raise UserMistake("--halt and --fail-fast both say when to give up: give one of them")
    return "now,fail=1" if fail_fast else halt


def _folder(folder: str | None) -> str | None:
    """Return the folder to run in, absolute. Raises UserMistake if nothing can be run there."""
    from poolboard.engine.errors import UserMistake

    if folder is None:
        return None
    try:
        path = Path(folder).resolve(strict=True)
        (path / ".").stat()
    except OSError as error:
        raise UserMistake(f"--cwd {folder}: {error.strerror}") from None
    return str(path)


def _take_environment(settings: list[str]) -> None:
    """Put the values where only this user's processes can see them, and begin anew without them on the line.

    The arguments of a process are everybody's to read; its environment is not.
    """
    from poolboard.each_job import names_of
    from poolboard.engine.errors import UserMistake
    from poolboard.hiding import begin_anew_without

    for name, setting in zip(names_of(settings), settings, strict=True):
        if "=" in setting:
            os.environ[name] = setting.partition("=")[2]
        elif name not in os.environ:
            raise UserMistake(f"--env {name}: it is not in the environment; give its value: --env {name}=…")
    begin_anew_without("--env", settings)

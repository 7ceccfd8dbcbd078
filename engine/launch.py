"""Starts runs and coordinators. The one place that writes a journal without being a coordinator: a new run's row."""

from __future__ import annotations

import asyncio
import json
import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from poolboard.journal.model import NewRun
from poolboard.journal.select import DEFAULT
from poolboard.journal.sqlite import SqliteJournal

from . import errors, hooks, secrets, spawn
from .budget import changed
from .config_loading import load
from .coordinator_process import Begun, CoordinatorProcess
from .definitions import OWN_PACKAGE, read_source, split_target
from .errors import CoordinatorGone, UserMistake
from .folder import RunFolder, chosen_journal, make_private
from .header import RunHeader
from .intent import Errand
from .limit_spec import check_needs, parse_limits

T = TypeVar("T")
PROBE_LIMIT_S = 60.0
LOG_TAIL_BYTES = 8192


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A run to start. ``inputs`` are JSON values by parameter name; strings are read by the parameter's type.

    What is None is taken from the settings in force. ``cwd`` is the folder to run in, None for this one.
    """

    target: str
    inputs: dict[str, Any] = field(default_factory=dict)
    journal: str | None = None
    workers: int | None = None
    slots: int | None = None
    name: str | None = None
    lease_s: float = 30.0
    grace_s: float | None = None
    cwd: str | None = None
    #: Budget by name, see budget.py.
    budget: dict[str, float] = field(default_factory=dict)
    #: Named limits as a table of the configuration has them; they go before the workflow's own.
    limits: Mapping[str, int | str] = field(default_factory=dict)
    #: Hooks by name (``on_complete``, …), before those of the configuration; an empty command takes one away.
    hooks: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Taken:
    """One parameter of a workflow, for a person: type and default as text."""

    name: str
    annotation: str
    required: bool
    default: str


@dataclass(frozen=True, slots=True)
class Described:
    """What a workflow takes, and its docstring."""

    workflow: str
    doc: str
    parameters: tuple[Taken, ...]


def workflow_file(target: str) -> Path:
    """Return the file of ``FILE.py[:workflow]``; raises UserMistake if it is not there."""
    return split_target(target)[0]


async def describe(target: str) -> Described:
    """Return what a workflow takes; raises UserMistake."""
    path, workflow = split_target(target)
    read_source(path)
    told = await _ask_probe(path, {"path": str(path), "workflow": workflow, "describe": True})
    return Described(told["workflow"], told["doc"], tuple(Taken(**parameter) for parameter in told["parameters"]))


async def start_run(request: RunRequest, begun: Begun | None = None) -> str:
    """Record a new run, start its coordinator, and return the run's id once that one answers.

    Everything is checked before anything is made; what is ``begun`` is taken back if anything is wrong. Raises
    UserMistake, JournalUnusable, StorageUnavailable.
    """
    try:
        journal, run_id, folder = await _recorded(request, begun)
    except BaseException:
        if begun is not None:
            begun.forget()
        raise
    await start_coordinator(journal, run_id, folder, Errand("resume"), None if begun is None else begun.process)
    return run_id


async def _recorded(request: RunRequest, begun: Begun | None) -> tuple[Path, str, str]:
    """Check everything, then record the run; return its journal, its id and its folder."""
    path, workflow = split_target(request.target)
    read_source(path)
    config = load().config
    workers = _first(request.workers, config.workers, os.cpu_count() or 1)
    slots = _first(request.slots, config.slots)
    if not 1 <= workers <= 1024 or not 1 <= slots <= 4096:
        raise UserMistake(f"workers must be 1 to 1024 and slots 1 to 4096, not {workers} and {slots}")
    run_id = uuid.uuid4().hex if begun is None else begun.run_id
    folder = RunFolder.of(run_id)
    folder.socket_path()
    told = await probe(path, workflow, request.inputs)
    limits = _limits(told, _over(config.limits, request.limits))
    header = RunHeader(
        path=str(path),
        workflow=told["workflow"],
        digest=told["digest"],
        inputs=told["inputs"],
        workers=workers,
        slots=slots,
        folder=str(folder.path),
        lease_s=request.lease_s,
        grace_s=_first(request.grace_s, config.grace_s),
        hooks={name: told for name, told in (hooks.of_config(config) | dict(request.hooks)).items() if told},
        hook_limit_s=config.hook_limit_s,
        max_depth=told["max_depth"],
        concurrency=told["concurrency"],
        budget=changed(told["budget"], request.budget),
        limits=limits,
    )
    for name in told["secrets"]:
        # Kept here too, for the coordinator that may have to be started again.
        if isinstance(value := request.inputs.get(name), str):
            os.environ[secrets.variable(run_id, name)] = value
    return await _record(request, run_id, header, folder), run_id, str(folder.path)


def _first(*given: T | None) -> T:
    """Return the first that was given."""
    return next(one for one in given if one is not None)


def _over(configured: Mapping[str, int | str], given: Mapping[str, int | str]) -> dict[str, int | str]:
    """Return the settings' limits and those that were given; one that was given is given whole, with its burst."""
    named = {name for name in given if "." not in name}
    return {**{key: value for key, value in configured.items() if key.partition(".")[0] not in named}, **given}


def _limits(told: Mapping[str, Any], given: Mapping[str, int | str]) -> dict[str, str]:
    """Return the run's limits, in words; raises UserMistake where a stage of the file could never get what it needs."""
    specs = parse_limits({**told["limits"], **given})
    for stage, needs in told["needs"].items():
        if (why := check_needs(needs, specs, f"stage {stage}")) is not None:
            raise UserMistake(why)
    return {name: str(spec) for name, spec in specs.items()}


async def _record(request: RunRequest, run_id: str, header: RunHeader, folder: RunFolder) -> Path:
    chosen = chosen_journal(request.journal)
    path = chosen.pool_path()
    if chosen.source == DEFAULT:
        make_private(path.parent)
    with chosen.named():
        journal = await SqliteJournal.open(path)
    try:
        folder.create()
        name = request.name or header.workflow
        await journal.create_run(NewRun(run_id, name, request.cwd or str(Path.cwd()), header.to_json()))
    finally:
        await journal.close()
    return path


async def probe(path: Path, workflow: str | None, inputs: dict[str, Any]) -> dict[str, Any]:
    """Return what the file says of the workflow, with its inputs as JSON; raises UserMistake."""
    words = {name: value for name, value in inputs.items() if isinstance(value, str)}
    values = {name: value for name, value in inputs.items() if name not in words}
    if path.parent == OWN_PACKAGE:
        # Ours, and known to be harmless: a process of its own would only make every start slower.
        from .probe import answer

        return answer(str(path), workflow, words, values)
    asked = {
        "path": str(path),
        "workflow": workflow,
        "words": words,
        "values": values,
    }
    return await _ask_probe(path, asked)


async def _ask_probe(path: Path, asked: dict[str, Any]) -> dict[str, Any]:
    process = await asyncio.create_subprocess_exec(
        *spawn.command("probe"),
        env=spawn.environment(),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(PROBE_LIMIT_S):
            out, err = await process.communicate(json.dumps(asked).encode())
    except TimeoutError:
        process.kill()
        await process.wait()
        raise UserMistake(
            f"{path} was still importing after {PROBE_LIMIT_S:.0f} s; move slow work into stages"
        ) from None
    try:
        told: dict[str, Any] = json.loads(out)
    except ValueError:
        last = err.decode("utf-8", "replace").strip().splitlines()[-1:] or ["it said nothing"]
        raise UserMistake(f"{path} ended the process that imports it: {last[0]}") from None
    if not told["ok"]:
        raise UserMistake(told["message"])
    return told


async def start_coordinator(
    journal: Path, run_id: str, folder: str, errand: Errand, process: CoordinatorProcess | None = None
) -> None:
    """Start a detached coordinator and return once it is ready; raises what it says instead, or CoordinatorGone.

    ``process`` is one that was started already.
    """
    if process is None:
        RunFolder(Path(folder)).create()
        process = CoordinatorProcess.start(RunFolder(Path(folder)), [str(journal), run_id])
    line = await asyncio.to_thread(process.answer, errand.encode())
    if not line:
        raise CoordinatorGone(f"the coordinator of run {run_id} was not ready in time or ended: {_tail(folder)}")
    told = json.loads(line)
    if not told["ok"]:
        kind = getattr(errors, told["kind"], None)
        raise (kind if isinstance(kind, type) else CoordinatorGone)(told["message"])


def _tail(folder: str) -> str:
    try:
        data = RunFolder(Path(folder)).coordinator_log.read_bytes()[-LOG_TAIL_BYTES:]
    except OSError:
        return "its log cannot be read"
    return data.decode("utf-8", "replace").strip() or "its log is empty"

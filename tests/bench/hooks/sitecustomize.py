"""Loaded by every Python that finds this folder on its path: notes moments of a child's life, or profiles the process.

``BENCH_TRACE=FOLDER``: coordinator and workers write when what was said, heard and durable. ``BENCH_CPROFILE=FOLDER``:
coordinator, workers and screen are profiled. Each process writes one file when it ends. Without either, nothing.
Moments are those of the monotonic clock, which all processes of a machine share.
"""

from __future__ import annotations

import atexit
import cProfile
import importlib.util
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

#: A moment is about 100 bytes; more are not kept.
MOST_MOMENTS = 400_000
SAID = ("Assign", "CompleteRun", "Recorded", "WorkerHello")
_moments: list[tuple[float, str, int, int]] = []


def role() -> str:
    """Return which of our processes this is."""
    words = " ".join(sys.orig_argv)
    if "poolboard.engine.coordinate" in words:
        return "coordinator"
    if "poolboard.engine.worker" in words:
        return "worker"
    return "screen" if words.split()[1:2] and words.split()[1].endswith("poolboard") else ""


def _note(what: str, n: int, req: int) -> None:
    if len(_moments) < MOST_MOMENTS:
        _moments.append((time.monotonic(), what, n, req))


def _note_all(way: str, messages: Sequence[Any]) -> None:
    for message in messages:
        name = type(message).__name__
        if name in SAID:
            _note(f"{name} {way}", getattr(message, "n", -1), getattr(message, "req", -1))


def _hook_wire(wire: Any) -> None:
    encode, feed = wire.encode, wire.Decoder.feed

    def encoding(messages: Sequence[Any]) -> Any:
        _note_all("out", messages)
        return encode(messages)

    def feeding(decoder: Any, data: bytes) -> Any:
        messages = feed(decoder, data)
        _note_all("in", messages)
        return messages

    wire.encode, wire.Decoder.feed = encoding, feeding


def _hook_dispatch(dispatch: Any) -> None:
    settle = dispatch.Dispatcher.settle

    def settling(dispatcher: Any, n: int, *others: Any, **named: Any) -> Any:
        _note("durable", n, -1)
        return settle(dispatcher, n, *others, **named)

    dispatch.Dispatcher.settle = settling


def _hook_journal(journal: Any) -> None:
    submit = journal.SqliteJournal.submit

    def submitting(held: Any, members: Sequence[Any]) -> Any:
        future = submit(held, members)
        _note("submitted", len(members), id(future))
        future.add_done_callback(lambda done: _note("committed", len(members), id(done)))
        return future

    journal.SqliteJournal.submit = submitting


def _hook_takeover(takeover: Any) -> None:
    take = takeover.take_lease

    async def taking(*values: Any) -> Any:
        _note("began", -1, -1)
        return await take(*values)

    takeover.take_lease = taking


def _hook_folder(folder: Any) -> None:
    write = folder.RunFolder.write_coordinator

    def writing(*values: Any) -> Any:
        _note("ready", -1, -1)
        return write(*values)

    folder.RunFolder.write_coordinator = writing


HOOKS: dict[str, Callable[[Any], None]] = {
    "poolboard.engine.wire": _hook_wire,
    "poolboard.engine.dispatch": _hook_dispatch,
    "poolboard.engine.takeover": _hook_takeover,
    "poolboard.engine.folder": _hook_folder,
    "poolboard.journal.sqlite": _hook_journal,
}


class _Finder(MetaPathFinder):
    """Lets a module be found as always, and hooks it once it is loaded."""

    def find_spec(self, fullname: str, path: object, target: ModuleType | None = None) -> ModuleSpec | None:
        hook = HOOKS.pop(fullname, None)
        if hook is None:
            return None
        spec = importlib.util.find_spec(fullname)
        loader: Any = None if spec is None else spec.loader
        if loader is not None:
            execute = loader.exec_module

            def executing(module: ModuleType) -> None:
                execute(module)
                hook(module)

            loader.exec_module = executing
        return spec


def _at_end(write: Callable[[], None]) -> None:
    """Have it written however the process ends, if it ends by itself: ours leave by ``os._exit``."""
    leave = os._exit

    def leaving(status: int) -> None:
        write()
        leave(status)

    os._exit = leaving  # type: ignore[assignment]
    atexit.register(write)


def _trace(folder: Path) -> None:
    sys.meta_path.insert(0, _Finder())

    def write() -> None:
        (folder / f"{role()}-{os.getpid()}.json").write_text(json.dumps(_moments))

    _at_end(write)


def _profile(folder: Path) -> None:
    profiler = cProfile.Profile()

    def write() -> None:
        profiler.disable()
        profiler.dump_stats(str(folder / f"{role()}-{os.getpid()}.pstats"))

    _at_end(write)
    profiler.enable()


if role() in ("coordinator", "worker") and "BENCH_TRACE" in os.environ:
    _trace(Path(os.environ["BENCH_TRACE"]))
if role() and "BENCH_CPROFILE" in os.environ:
    _profile(Path(os.environ["BENCH_CPROFILE"]))

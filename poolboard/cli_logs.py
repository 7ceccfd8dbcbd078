"""``poolboard logs``: what a child wrote, file by file or merged, to its end or as it comes."""

from __future__ import annotations

import asyncio
import codecs
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from poolboard import exit_codes, shapes
from poolboard.console import say
from poolboard.engine.errors import UserMistake
from poolboard.session import opened
from poolboard.tui.text import visible

if TYPE_CHECKING:
    from poolboard.engine.monitor import Monitor
    from poolboard.engine.views import ChildView, LogFile

POLL_S: Final = 0.2
READ_BYTES: Final = 256 * 1024
#: A line without an end is told in pieces of this length.
LINE_LIMIT: Final = 64 * 1024
_SETTLED: Final = frozenset({"completed", "failed", "cancelled"})


@dataclass(frozen=True, slots=True)
class Form:
    """How to print: raw bytes, JSON, or text; ``merged``: every attempt, each line with where it is from."""

    merged: bool = False
    raw: bool = False
    as_json: bool = False


def logs(journal: str | None, run: str, child: int, stage: str | None, *, follow: bool, form: Form) -> int:
    """Print a child's log; return the exit status."""
    if form.raw and (form.merged or form.as_json):
        raise UserMistake("--raw prints bytes as they are: no --merge or --json with it")
    return asyncio.run(_logs(journal, run, child, stage, follow, form))


async def _logs(journal: str | None, prefix: str, n: int, stage: str | None, follow: bool, form: Form) -> int:
    async with opened(journal) as monitor:
        run_id = await monitor.resolve(prefix)
        printer = _Printer(form)
        while True:
            run = (await monitor.status(run_id)).run if follow else None
            at_rest = run is None or exit_codes.of_status(run.status) is not None
            view = await _child(monitor, run_id, n, at_rest)
            if view is None:
                await monitor.wait_for_change(POLL_S)
                continue
            # Looked at before the files are read, so that what was written last is read too.
            over = at_rest or view.row.state in _SETTLED
            wanted = _wanted(view, stage, form.merged)
            if over and stage is not None and not wanted:
                raise UserMistake(_no_stage(run_id, view, stage))
            for log in wanted:
                await printer.read_on(monitor, log, several=len(wanted) > 1, over=over)
            if over:
                return exit_codes.COMPLETED
            await monitor.wait_for_change(POLL_S)


async def _child(monitor: Monitor, run_id: str, n: int, at_rest: bool) -> ChildView | None:
    """Return the child; None for one that may still come. Raises UserMistake for one that will not."""
    try:
        return await monitor.child(run_id, n)
    except UserMistake:
        if at_rest:
            raise
        return None


def _wanted(view: ChildView, stage: str | None, merged: bool) -> Sequence[LogFile]:
    """Return the files to print: of the newest attempt of each stage, unless all are wanted."""
    found = [log for log in view.logs if stage is None or log.stage == stage]
    if merged:
        return found
    newest = {log.stage: log.attempt for log in found}
    return [log for log in found if log.attempt == newest[log.stage]]


def _no_stage(run_id: str, view: ChildView, stage: str) -> str:
    known = ", ".join(dict.fromkeys(log.stage for log in view.logs)) or "none"
    return f"child {view.row.n} of run {run_id[:8]} has no log of a stage {stage!r}; logs: {known}"


class _Printer:
    """Remembers how far each file was printed."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._files: dict[str, _Lines] = {}
        self._last = ""

    async def read_on(self, monitor: Monitor, log: LogFile, *, several: bool, over: bool) -> None:
        """Print what is new in a file; ``over``: and its last line, though it has no newline."""
        lines = self._files.setdefault(log.path, _Lines(log))
        while data := await monitor.read_log(log.path, lines.offset, READ_BYTES):
            lines.offset += len(data)
            if self._form.raw:
                if sys.stdout is not None:
                    sys.stdout.buffer.write(data)
                    sys.stdout.buffer.flush()
                continue
            if several and not self._form.merged and not self._form.as_json and self._last != log.path:
                say(f"==> {visible(log.stage)}, attempt {log.attempt} <==")
            self._last = log.path
            self._print(lines, lines.take(data))
        if over:
            self._print(lines, lines.rest())

    def _print(self, lines: _Lines, texts: Iterator[str]) -> None:
        log = lines.log
        for text in texts:
            if self._form.as_json:
                say(shapes.line({"shape": shapes.VERSION, "stage": log.stage, "attempt": log.attempt, "text": text}))
            elif self._form.merged:
                say(f"{visible(log.stage)}.{log.attempt} | {visible(text)}")
            else:
                say(visible(text))


class _Lines:
    """A file's bytes, cut into lines as they come; bytes that are not UTF-8 are replaced."""

    def __init__(self, log: LogFile) -> None:
        self.log, self.offset = log, 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._partial = ""

    def take(self, data: bytes) -> Iterator[str]:
        *whole, self._partial = (self._partial + self._decoder.decode(data)).split("\n")
        for text in whole:
            yield text.removesuffix("\r")
        while len(self._partial) > LINE_LIMIT:
            yield self._partial[:LINE_LIMIT]
            self._partial = self._partial[LINE_LIMIT:]

    def rest(self) -> Iterator[str]:
        last, self._partial = self._partial + self._decoder.decode(b"", True), ""
        if last:
            yield last

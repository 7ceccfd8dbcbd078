"""``poolboard export``: a run as JSON lines, as CSV, or as a page."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing, nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from poolboard import exit_codes, report_page, shapes
from poolboard.console import complain
from poolboard.engine.errors import UserMistake
from poolboard.engine.folder import chosen_journal
from poolboard.journal.reader import Reader
from poolboard.run_facts import ChildFacts, RunFacts
from poolboard.session import opened

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from poolboard.engine.views import Summary

FORMATS: Final = ("jsonl", "csv", "html")
COLUMNS: Final = (
    *("n", "parent", "workflow", "label", "status", "starts", "worker", "started_at", "ended_at", "elapsed_s"),
    *("stages_done", "error", "input", "result"),
)


def export(journal: str | None, prefix: str, form: str, output: str | None) -> int:
    """Write a run in one of the formats to a file or standard output; raises UserMistake."""
    if form not in FORMATS:
        raise UserMistake(f"--format {form!r}: there are {', '.join(FORMATS)}")
    return asyncio.run(_export(journal, prefix, form, output))


async def _export(journal: str | None, prefix: str, form: str, output: str | None) -> int:
    async with opened(journal) as monitor:
        summary = await monitor.status(await monitor.resolve(prefix))
    reader = await Reader.open(chosen_journal(journal).pool_path())
    try:
        facts = await RunFacts.of(reader, summary.run.run_id)
        with _opened(output) as file:
            async with aclosing(_parts(form, summary, facts)) as parts:
                async for part in parts:
                    file.write(part)
            file.flush()
    finally:
        await reader.close()
    if output is not None:
        complain(f"run {summary.run.run_id[:8]} written to {Path(output).name}")
    return exit_codes.COMPLETED


def _parts(form: str, summary: Summary, facts: RunFacts) -> AsyncGenerator[str]:
    if form == "html":
        return report_page.page(summary, facts)
    return _csv(facts) if form == "csv" else _json_lines(summary, facts)


async def _json_lines(summary: Summary, facts: RunFacts) -> AsyncGenerator[str]:
    yield shapes.line({"type": "run"} | shapes.of_summary(summary)) + "\n"
    async for child in facts.children():
        told = {"shape": shapes.VERSION, "type": "child", "run_id": summary.run.run_id} | _cells(child)
        told |= {"input": json.loads(child.input), "result": None if child.result is None else json.loads(child.result)}
        yield shapes.line(told) + "\n"


async def _csv(facts: RunFacts) -> AsyncGenerator[str]:
    line = io.StringIO()
    writer = csv.DictWriter(line, COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    async for child in facts.children():
        writer.writerow({name: _harmless(value) for name, value in _cells(child).items()})
        yield line.getvalue()
        line.seek(0)
        line.truncate()
    yield line.getvalue()


def _harmless(value: object) -> object:
    """Keep a spreadsheet from taking data for a formula: a quote before what would begin one."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


def _cells(child: ChildFacts) -> dict[str, object]:
    row = child.row
    both = row.started_at is not None and row.ended_at is not None
    return {
        "n": row.n,
        "parent": row.parent,
        "workflow": row.workflow,
        "label": row.label,
        "status": row.state,
        "starts": row.starts,
        "worker": row.worker,
        "started_at": shapes.instant(row.started_at),
        "ended_at": shapes.instant(row.ended_at),
        "elapsed_s": ((row.ended_at or 0) - (row.started_at or 0)) / 1000 if both else None,
        "stages_done": row.stages_done,
        "error": row.error,
        "input": child.input,
        "result": child.result,
    }


def _opened(output: str | None) -> AbstractContextManager[IO[str]]:
    """Return where to write. A file is made for its owner alone: results may be anybody's data."""
    if output is None:
        return nullcontext(sys.stdout if sys.stdout is not None else io.StringIO())
    try:
        descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise UserMistake(f"--output {output}: {error.strerror}") from None
    return os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace", newline="")

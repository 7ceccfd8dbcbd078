"""``metrics --otlp``: a run as OpenTelemetry spans, one for the run, for each child and each stage, from the journal.

Ids are made from the run's: who exports twice sends the same spans again, and none of other ids. What has not ended has
no span yet. Inputs, results and logs are not sent.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Final

from poolboard import exit_codes, shapes
from poolboard.console import say
from poolboard.engine.errors import UserMistake
from poolboard.engine.folder import chosen_journal
from poolboard.journal.event_types import CHECKPOINT_RECORDED
from poolboard.journal.reader import Reader
from poolboard.session import opened
from poolboard.words import shown

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import SpanContext

    from poolboard.journal.model import JournalEntry, RunRow, WorkRow

BATCH: Final = 512
TIMEOUT_S: Final = 10
ENVIRONMENT: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
MISSING: Final = "OpenTelemetry is not installed: pip install 'poolboard[metrics]'"


def export(journal: str | None, prefixes: list[str], url: str | None, *, as_json: bool) -> int:
    """Send the spans of the runs, or of the newest; raises UserMistake if there is nowhere to send them."""
    if url is None and not any(os.environ.get(name) for name in ENVIRONMENT):
        raise UserMistake("say what to do: --port N for Prometheus, --otlp URL for OpenTelemetry")
    if url is not None and not url.startswith(("http://", "https://")):
        raise UserMistake(f"--otlp {url!r}: write http://HOST:PORT of a collector that speaks OTLP over HTTP")
    return asyncio.run(_export(journal, prefixes, url, as_json))


async def _export(journal: str | None, prefixes: list[str], url: str | None, as_json: bool) -> int:
    exporter = _exporter(url)
    async with opened(journal) as monitor:
        wanted: list[str | None] = [*prefixes] or [None]
        ids = dict.fromkeys([await monitor.resolve(prefix) for prefix in wanted])
    reader = await Reader.open(chosen_journal(journal).pool_path())
    try:
        for run_id in ids:
            sent = await _send(exporter, Recorded(reader, await reader.run(run_id)))
            told = {"shape": shapes.VERSION, "run_id": run_id, "spans": sent}
            say(shapes.line(told) if as_json else f"{run_id}  {sent} spans sent")
    finally:
        await reader.close()
        await asyncio.to_thread(exporter.shutdown)
    return exit_codes.COMPLETED


def _exporter(url: str | None) -> SpanExporter:
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    except ImportError:
        raise UserMistake(MISSING) from None
    # It tells each failed try; we tell the end of it in one line.
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
    if url is None:
        return OTLPSpanExporter(timeout=TIMEOUT_S)
    path = "/v1/traces"
    return OTLPSpanExporter(endpoint=url if url.endswith(path) else url.rstrip("/") + path, timeout=TIMEOUT_S)


async def _send(exporter: SpanExporter, recorded: Recorded) -> int:
    from opentelemetry.sdk.trace.export import SpanExportResult

    sent = 0
    batch: list[ReadableSpan] = []

    async def flush() -> None:
        nonlocal sent
        if batch and await asyncio.to_thread(exporter.export, tuple(batch)) is not SpanExportResult.SUCCESS:
            raise UserMistake(f"the collector did not take the spans ({sent} were sent): is its address right?")
        sent += len(batch)
        batch.clear()

    async for span in recorded.spans():
        batch.append(span)
        if len(batch) >= BATCH:
            await flush()
    await flush()
    return sent


class Recorded:
    """One run's spans."""

    def __init__(self, reader: Reader, run: RunRow) -> None:
        from opentelemetry.sdk.resources import Resource

        self._reader, self._run = reader, run
        self._resource = Resource.create({"service.name": "poolboard"})
        digest = hashlib.sha256(run.run_id.encode()).hexdigest()[:32]
        self._trace = int(run.run_id if len(run.run_id) == 32 and _is_hex(run.run_id) else digest, 16)

    async def spans(self) -> AsyncIterator[ReadableSpan]:
        """Yield the spans of all that has ended, page by page."""
        run = self._run
        if run.started_at is not None and run.ended_at is not None:
            ok = run.status in ("completed", "skipped")
            told: dict[str, str | int] = {"poolboard.run_id": run.run_id, "poolboard.status": run.status}
            error = None if ok else run.error or run.status
            yield self._span(run.name, (0, 0), None, run.started_at, run.ended_at, told, error)
        after = 0
        while rows := await self._reader.work_page(run.number, after, BATCH):
            after = rows[-1].n
            for row in rows:
                if row.started_at is not None and row.ended_at is not None:
                    yield self._of_child(row)
        seq = 0
        while entries := await self._reader.events(run.number, seq, BATCH, [CHECKPOINT_RECORDED]):
            seq = entries[-1].seq
            for entry in entries:
                if (span := self._of_stage(entry)) is not None:
                    yield span

    def _of_child(self, row: WorkRow) -> ReadableSpan:
        told: dict[str, str | int] = {
            "poolboard.run_id": self._run.run_id,
            "poolboard.child": row.n,
            "poolboard.label": shown(row.label),
            "poolboard.status": row.state,
            "poolboard.starts": row.starts,
        }
        error = None if row.state == "completed" else row.error or row.state
        parent = (row.parent or 0, 0)
        return self._span(row.workflow, (row.n, 0), parent, row.started_at or 0, row.ended_at or 0, told, error)

    def _of_stage(self, entry: JournalEntry) -> ReadableSpan | None:
        payload = json.loads(entry.event.payload)
        if payload.get("kind") != "stage":
            return None
        n, failure = entry.event.work or 0, payload.get("failure")
        told: dict[str, str | int] = {
            "poolboard.run_id": self._run.run_id,
            "poolboard.child": n,
            "poolboard.attempt": int(payload["attempt"]),
        }
        error = None if failure is None else f"{failure.get('type', '')}: {failure.get('message', '')}"
        started_at, ended_at = int(payload["started_at"]), int(payload["completed_at"])
        return self._span(str(payload["name"]), (n, entry.seq), (n, 0), started_at, ended_at, told, error)

    def _span(
        self,
        name: str,
        own: tuple[int, int],
        parent: tuple[int, int] | None,
        started_at: int,
        ended_at: int,
        told: dict[str, str | int],
        error: str | None,
    ) -> ReadableSpan:
        """Return a span; ``own`` and ``parent`` are a child's number and a stage's seq, times in ms."""
        from opentelemetry.sdk.trace import ReadableSpan
        from opentelemetry.trace import Status, StatusCode

        return ReadableSpan(
            name=name,
            context=self._context(own),
            parent=None if parent is None else self._context(parent),
            resource=self._resource,
            attributes=told,
            status=Status(StatusCode.OK) if error is None else Status(StatusCode.ERROR, shown(error)),
            start_time=started_at * 1_000_000,
            end_time=max(started_at, ended_at) * 1_000_000,
        )

    def _context(self, of: tuple[int, int]) -> SpanContext:
        from opentelemetry.trace import SpanContext, TraceFlags

        digest = hashlib.sha256(f"{self._run.run_id}:{of[0]}:{of[1]}".encode()).digest()
        return SpanContext(self._trace, int.from_bytes(digest[:8]) or 1, False, TraceFlags(TraceFlags.SAMPLED))


def _is_hex(text: str) -> bool:
    return all(letter in "0123456789abcdef" for letter in text) and int(text, 16) != 0

"""``poolboard metrics``: its words and options; the work is in ``scraping`` and ``spans``."""

from __future__ import annotations

from typing import Annotated

import typer

from poolboard.cli_options import Deed, Journal, Json, NewestRuns


def metrics(
    runs: NewestRuns = None,
    port: Annotated[
        int | None,
        typer.Option(help="Serve Prometheus on this port of 127.0.0.1 until ^C; 0: a free one.", min=0, max=65535),
    ] = None,
    otlp: Annotated[
        str | None,
        typer.Option(
            help="Send spans of run, children and stages there; default: OTEL_EXPORTER_OTLP_ENDPOINT.", metavar="URL"
        ),
    ] = None,
    journal: Journal = None,
    as_json: Json = False,
) -> Deed:
    """Let other programs measure: a page for Prometheus, or what the journal recorded as OpenTelemetry spans.

    \b
    poolboard metrics --port 9464
    poolboard metrics 3f2a --otlp http://127.0.0.1:4318
    """

    def act() -> int:
        if port is not None:
            from poolboard import scraping
            from poolboard.engine.errors import UserMistake

            if otlp is not None or runs:
                raise UserMistake("--port serves every run of the journal: no RUN or --otlp with it")
            return scraping.serve(journal, port, as_json=as_json)
        from poolboard import spans

        return spans.export(journal, runs or [], otlp, as_json=as_json)

    return act

"""``poolboard metrics``: what Prometheus and a collector of spans get, from real runs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from poolboard import exit_codes

if TYPE_CHECKING:
    from tests.conftest import Answer

Poolboard = Callable[..., "Answer"]

FLOW = """
from poolboard import Context, stage, workflow

@stage
def check(n: int) -> int:
    if n == 2:
        raise ValueError("two")
    return n

@workflow
async def one(ctx: Context, n: int) -> int:
    return await ctx.stage(check, n)

@workflow
async def three(ctx: Context) -> int:
    return sum(found.ok for found in await ctx.map(one, [1, 2, 3], on_error="collect"))
"""


@pytest.fixture
def ended(poolboard: Poolboard, tmp_path: Path) -> str:
    """Return a run that has ended."""
    (tmp_path / "flow.py").write_text(FLOW)
    answer = poolboard("run", str(tmp_path / "flow.py"), "--workers", "1", "--json")
    return str(json.loads(answer.out.splitlines()[-1])["run_id"])


@pytest.fixture
def collector() -> Iterator[tuple[str, list[bytes]]]:
    """Return the address of a collector, and the bodies that it gets."""
    got: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/v1/traces"
            got.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", got
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.slow
def test_a_collector_gets_a_span_for_the_run_each_child_and_each_stage(
    poolboard: Poolboard, ended: str, collector: tuple[str, list[bytes]]
) -> None:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    url, got = collector
    answer = poolboard("metrics", ended[:10], "--otlp", url, "--json")
    assert (answer.code, json.loads(answer.out)) == (0, {"shape": 1, "run_id": ended, "spans": 7}), answer.err
    again = poolboard("metrics", env={"OTEL_EXPORTER_OTLP_ENDPOINT": url})
    assert again.out == f"{ended}  7 spans sent\n"
    first, second = (ExportTraceServiceRequest.FromString(body) for body in got)
    spans = list(first.resource_spans[0].scope_spans[0].spans)
    root, *rest = spans
    assert (root.name, root.parent_span_id, root.trace_id.hex()) == ("three", b"", ended)
    children = [span for span in rest if span.parent_span_id == root.span_id]
    stages = [span for span in rest if span not in children]
    assert [span.name for span in children] == ["one"] * 3
    assert {span.parent_span_id for span in stages} == {child.span_id for child in children}
    assert [span.name for span in stages] == ["check"] * 3
    failed = [span for span in rest if span.status.code == 2]
    assert {span.status.message for span in failed} == {"stage check: ValueError: two", "ValueError: two"}
    assert all(root.start_time_unix_nano <= span.start_time_unix_nano <= span.end_time_unix_nano for span in rest)
    assert [s.span_id for s in second.resource_spans[0].scope_spans[0].spans] == [s.span_id for s in spans]


def test_prometheus_scrapes_this_machine_only_and_by_its_own_name(poolboard: Poolboard, ended: str) -> None:
    from prometheus_client.parser import text_string_to_metric_families

    command = [sys.executable, "-m", "poolboard", "metrics", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        told = re.match(r"serving (http://127\.0\.0\.1:(\d+)/metrics)", process.stdout.readline())
        assert told is not None
        with urllib.request.urlopen(told[1], timeout=30) as response:
            families = {family.name: family for family in text_string_to_metric_families(response.read().decode())}
        assert families["poolboard_runs"].samples[0].labels == {"status": "completed"}
        for request in (
            urllib.request.Request(told[1], headers={"Host": "elsewhere.example:80"}),
            urllib.request.Request(told[1].replace("metrics", "else")),
        ):
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(request, timeout=30)
            assert refused.value.code in (403, 404)
            refused.value.close()
        taken = poolboard("metrics", "--port", told[2])
        assert (taken.code, taken.err.count("\n")) == (exit_codes.MISTAKE, 1)
        process.send_signal(2)
        assert process.wait(timeout=60) == exit_codes.INTERRUPTED
        assert process.stderr.read() == ""


def test_what_is_missing_is_one_line(poolboard: Poolboard, ended: str) -> None:
    nowhere = poolboard("metrics", ended)
    assert (nowhere.code, nowhere.err.count("\n")) == (exit_codes.MISTAKE, 1)
    assert "--port N" in nowhere.err and "--otlp URL" in nowhere.err
    assert poolboard("metrics", ended, "--otlp", "collector:4318").code == exit_codes.MISTAKE
    assert poolboard("metrics", ended, "--port", "0").code == exit_codes.MISTAKE
    program = (
        "import sys\nsys.modules['opentelemetry'] = None\nfrom poolboard.__main__ import main\n"
        f"sys.exit(main(['metrics', '{ended}', '--otlp', 'http://127.0.0.1:9']))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == exit_codes.MISTAKE
    assert done.stderr == "poolboard: OpenTelemetry is not installed: pip install 'poolboard[metrics]'\n"

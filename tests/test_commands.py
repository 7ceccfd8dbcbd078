"""The commands that look at runs and steer them: several at once, by filters, and exact answers for scripts."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from poolboard import exit_codes
from tests.each_rig import until

if TYPE_CHECKING:
    from tests.conftest import Answer

Poolboard = Callable[..., "Answer"]

SHORT = """
import os, time
from poolboard import Context, stage, workflow

@stage
def check(n: int, word: str) -> str:
    if n == 3:
        raise ValueError(f"no <b>{word}</b> & '{n}'")
    return word

@stage
def behind(gate: str) -> int:
    while not os.path.exists(gate):
        time.sleep(0.02)
    return 1

@workflow
async def one(ctx: Context, n: int, word: str) -> str:
    return await ctx.stage(check, n, word)

@workflow
async def lenient(ctx: Context, upto: int) -> int:
    items = [{"n": n, "word": "=1+1"} for n in range(upto)]
    return sum(found.ok for found in await ctx.map(one, items, on_error="collect"))

@workflow
async def strict(ctx: Context, upto: int) -> int:
    return len(await ctx.map(one, [{"n": n, "word": "w"} for n in range(upto)]))

@workflow
async def gated(ctx: Context, gate: str) -> int:
    return await ctx.stage(behind, gate)
"""


class Runs:
    """Starts short runs of one worker."""

    def __init__(self, poolboard: Poolboard, folder: Path) -> None:
        self._poolboard, self._file = poolboard, folder / "short.py"
        self._file.write_text(SHORT)
        self.gate = folder / "gate"

    def start(self, workflow: str, *words: str) -> str:
        """Start a run and leave it alone; return its id."""
        given = ["--input", f"gate={self.gate}"] if workflow == "gated" else ["--input", "upto=5"]
        line = ["run", f"{self._file}:{workflow}", *given, "--workers", "1", "--slots", "1", "--detach", *words]
        answer = self._poolboard(*line)
        assert answer.code == 0, answer.err
        return answer.out.strip()

    def ended(self, workflow: str, *words: str) -> str:
        """Start a run and wait for its end."""
        run_id = self.start(workflow, *words)
        self._poolboard("wait", run_id)
        return run_id


@pytest.fixture
def runs(poolboard: Poolboard, tmp_path: Path) -> Runs:
    return Runs(poolboard, tmp_path)


def statuses(poolboard: Poolboard) -> dict[str, str]:
    return {run["run_id"]: run["status"] for run in json.loads(poolboard("list", "--json").out)}


@pytest.mark.slow
def test_wait_ends_as_the_run_did_and_of_several_as_the_one_that_fared_worst(poolboard: Poolboard, runs: Runs) -> None:
    good, bad = runs.start("lenient"), runs.start("strict")
    one = poolboard("wait", good, "--json")
    assert one.code == exit_codes.COMPLETED
    told = json.loads(one.out)
    assert (told["shape"], told["status"], told["result"], told["children"]["failed"]) == (1, "completed", 4, 1)
    both = poolboard("wait", good[:12], bad[:12])
    assert both.code == exit_codes.FAILED
    assert {line.split()[0] for line in both.out.splitlines()} == {good, bad}
    held = runs.start("gated")
    late = poolboard("wait", bad, held, "--timeout", "0")
    assert (late.code, late.err) == (exit_codes.GOES_ON, f"still going on: {held}\n")
    assert poolboard("stop", held, "--now").code == 0
    assert poolboard("wait", held).code == exit_codes.RESUMABLE
    assert poolboard("wait", good, "--timeout", "nan").code == exit_codes.MISTAKE
    assert poolboard("wait", "nothing").code == exit_codes.MISTAKE


@pytest.mark.slow
def test_a_beginning_that_names_several_runs_lists_them(poolboard: Poolboard, runs: Runs) -> None:
    ids = [runs.start("lenient") for _ in range(2)]
    poolboard("wait", *ids)
    answer = poolboard("status", "")
    assert answer.code == exit_codes.MISTAKE
    assert all(run_id[:8] in answer.err for run_id in ids)


@pytest.mark.slow
def test_filters_choose_runs_for_verbs_and_nothing_is_done_without_a_yes(poolboard: Poolboard, runs: Runs) -> None:
    first, second = runs.start("gated", "--name", "train a"), runs.start("gated", "--name", "train b")
    other = runs.start("gated", "--name", "test")
    unsaid = poolboard("pause", "--name", "train*")
    assert (unsaid.code, unsaid.out) == (exit_codes.MISTAKE, "")
    assert unsaid.err == "poolboard: to pause 2 runs without a terminal, say --yes\n"
    paused = poolboard("pause", "--name", "train*", "--yes", "--why", "lunch", "--json")
    answers = [json.loads(line) for line in paused.out.splitlines()]
    assert {answer["run_id"] for answer in answers} == {first, second}
    assert {(answer["shape"], answer["control"]["why"]) for answer in answers} == {(1, "lunch")}
    assert poolboard("pause", "--name", "nothing*", "--yes").err == "no run to pause\n"
    assert poolboard("pause").code == exit_codes.MISTAKE
    # Of several named runs each is asked, though one refuses.
    mixed = poolboard("resume", first, second, "--why", "eaten")
    assert (mixed.code, len(mixed.out.splitlines())) == (0, 2)
    runs.gate.touch()
    assert poolboard("wait", first, second, other).code == 0
    refused = poolboard("cancel", first, second)
    assert (refused.code, refused.err.count("has ended")) == (exit_codes.MISTAKE, 2)
    assert poolboard("cancel", "--older-than", "1d", "--yes").err == "no run to cancel\n"
    assert poolboard("cancel", "--older-than", "soon", "--yes").code == exit_codes.MISTAKE


@pytest.mark.slow
def test_the_list_is_narrowed_by_the_same_filters(poolboard: Poolboard, runs: Runs) -> None:
    good, bad = runs.ended("lenient", "--name", "fine"), runs.ended("strict", "--name", "poor")
    assert [run["run_id"] for run in json.loads(poolboard("list", "--failed", "--json").out)] == [bad]
    assert [run["run_id"] for run in json.loads(poolboard("list", "--name", "f*", "--json").out)] == [good]
    assert json.loads(poolboard("list", "--older-than", "1h", "--json").out) == []
    assert poolboard("list", "--name", "F*").out == "no run is like that\n"
    retried = poolboard("retry", "--failed", "--yes", "--json")
    assert json.loads(retried.out)["run_id"] == bad
    assert poolboard("wait", bad).code == exit_codes.FAILED


@pytest.mark.slow
def test_a_run_is_deleted_with_rows_and_folder_but_not_while_it_goes_on(
    poolboard: Poolboard, runs: Runs, own_folders: Path
) -> None:
    live, done = runs.start("gated"), runs.ended("lenient")
    folders = own_folders / "state_home" / "poolboard" / "runs"
    assert (folders / done).is_dir()
    refused = poolboard("delete", done, live, "--yes")
    assert refused.code == exit_codes.MISTAKE
    assert "stop or cancel it first" in refused.err
    assert set(statuses(poolboard)) == {live, done}
    assert poolboard("delete", done).code == exit_codes.MISTAKE
    deleted = poolboard("delete", done, "--yes", "--json")
    assert json.loads(deleted.out) == {"shape": 1, "run_id": done, "deleted": True, "folder_left": None}
    assert set(statuses(poolboard)) == {live}
    assert not (folders / done).exists()
    assert poolboard("journal", "check").code == 0
    # By filters, what goes on is left out.
    poolboard("delete", "--name", "*", "--yes")
    assert set(statuses(poolboard)) == {live}


@pytest.mark.slow
def test_a_question_is_asked_in_a_terminal_and_a_no_is_heard(poolboard: Poolboard, runs: Runs) -> None:
    import pty

    run_id = runs.ended("lenient")
    for reply, left in (("n", {run_id}), ("y", set())):
        outer, inner = pty.openpty()
        with subprocess.Popen(
            [sys.executable, "-m", "poolboard", "delete", run_id], stdin=inner, stdout=subprocess.DEVNULL, stderr=inner
        ) as process:
            os.close(inner)
            seen = b""
            while b"[y/N]" not in seen:
                seen += os.read(outer, 4096)
            os.write(outer, f"{reply}\n".encode())
            assert process.wait(timeout=60) == 0
        os.close(outer)
        assert run_id.encode() in seen and b"delete 1 run?" in seen
        assert set(statuses(poolboard)) == left


def test_events_come_in_order_by_type_and_as_they_are_recorded(poolboard: Poolboard, runs: Runs) -> None:
    run_id = runs.start("gated")
    command = [sys.executable, "-m", "poolboard", "events", run_id, "-f", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first = json.loads(process.stdout.readline())
        assert (first["shape"], first["seq"], first["run_id"]) == (1, 1, run_id)
        runs.gate.touch()
        rest = [json.loads(line) for line in process.stdout]
        assert process.wait(timeout=60) == 0
    assert [event["seq"] for event in rest] == list(range(2, len(rest) + 2))
    assert "RunEnded" in {event["type"] for event in rest}
    only = poolboard("events", run_id, "--type", "CheckpointRecorded", "--json").out.splitlines()
    assert [json.loads(line)["payload"]["name"] for line in only] == ["behind"]
    assert "CheckpointRecorded" in poolboard("events", run_id[:10]).out
    assert poolboard("events", run_id, "--type", "WorkFailed").code == 0, "there could have been one"
    strange = poolboard("events", run_id, "--type", "Nope")
    assert (strange.code, strange.out) == (2, "") and "no event is of type Nope" in strange.err


@pytest.mark.slow
def test_status_is_told_again_until_the_end_and_can_be_the_exit_status(poolboard: Poolboard, runs: Runs) -> None:
    run_id = runs.start("gated")
    assert poolboard("status", run_id, "--exit-code").code == exit_codes.GOES_ON
    command = [sys.executable, "-m", "poolboard", "status", run_id, "--watch", "--exit-code", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["status"] in ("pending", "running", "waiting")
        runs.gate.touch()
        assert json.loads(process.stdout.readlines()[-1])["status"] == "completed"
        assert process.wait(timeout=60) == exit_codes.COMPLETED
    bad = runs.ended("strict")
    assert poolboard("status", bad, "--exit-code").code == exit_codes.FAILED
    several = poolboard("status", run_id, bad, "--exit-code", "--json")
    assert [json.loads(line)["run_id"] for line in several.out.splitlines()] == [run_id, bad]
    assert several.code == exit_codes.FAILED
    assert poolboard("status", run_id, bad, "--watch").code == exit_codes.MISTAKE


def test_prometheus_can_read_the_figures_of_a_run_whatever_it_is_called(poolboard: Poolboard, runs: Runs) -> None:
    from prometheus_client.parser import text_string_to_metric_families

    name = 'quo"te\\ \n line'
    run_id = runs.ended("lenient", "--name", name)
    page = poolboard("status", run_id, "--prometheus")
    families = {family.name: family for family in text_string_to_metric_families(page.out)}
    info = families["poolboard_run_info"].samples[0]
    assert info.labels == {"run_id": run_id, "name": name, "status": "completed"}
    children = {s.labels["state"]: s.value for s in families["poolboard_children"].samples}
    assert (children["completed"], children["failed"]) == (4, 1)
    stages = {(s.labels["stage"], s.labels["outcome"]): s.value for s in families["poolboard_stages"].samples}
    assert (stages["check", "done"], stages["check", "failed"]) == (4, 1)
    assert families["poolboard_runs"].samples[0].value == 1
    assert poolboard("status", "--prometheus", "--json").code == exit_codes.MISTAKE


class Page(HTMLParser):
    """Collects a page's text and everything that it would load; complains of tags that do not close."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.words = ""
        self.tags: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loads += [value or "" for name, value in attrs if name in ("src", "href", "data", "action")]
        if tag not in ("meta", "rect", "line"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("rect", "line"):
            return
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


@pytest.mark.slow
def test_a_run_is_handed_on_as_lines_as_a_table_and_as_a_page_that_loads_nothing(
    poolboard: Poolboard, runs: Runs, tmp_path: Path
) -> None:
    run_id = runs.ended("lenient", "--name", "<script>alert(1)</script>")
    head, *children = [json.loads(line) for line in poolboard("export", run_id).out.splitlines()]
    assert (head["type"], head["result"], len(children)) == ("run", 4, 5)
    assert [child["n"] for child in children] == [1, 2, 3, 4, 5]
    assert children[0]["input"] == {"n": 0, "word": "=1+1"}
    assert (children[0]["result"], children[3]["status"]) == ("=1+1", "failed")

    rows = list(csv.DictReader(io.StringIO(poolboard("export", run_id, "--format", "csv").out)))
    assert [row["status"] for row in rows] == ["completed"] * 3 + ["failed", "completed"]
    assert json.loads(rows[0]["input"]) == {"n": 0, "word": "=1+1"}

    file = tmp_path / "report.html"
    answer = poolboard("export", run_id, "--format", "html", "-o", str(file))
    assert (answer.code, answer.out) == (0, "")
    assert file.stat().st_mode & 0o077 == 0
    page = Page()
    page.feed(file.read_text())
    page.close()
    assert (page.open, page.loads) == ([], [])
    assert "script" not in page.tags
    assert "<script>alert(1)</script>" in page.words and "no <b>=1+1</b> & '3'" in page.words
    assert page.tags.count("svg") == 2 and page.tags.count("rect") >= 6
    assert "1 child in 1 group" in page.words and "ValueError" in page.words

    assert poolboard("export", run_id, "--format", "xml").code == exit_codes.MISTAKE
    assert poolboard("export", run_id, "-o", str(tmp_path)).code == exit_codes.MISTAKE


# --- situations and catalogue -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_r3_a_root_that_was_killed_after_a_child_failed_goes_on_and_keeps_what_was_done(
    poolboard: Poolboard, tmp_path: Path
) -> None:
    """Catalogue R3: status and resume of a root killed while a child had failed."""
    trace, gate = tmp_path / "trace", tmp_path / "gate"
    (tmp_path / "root.py").write_text(
        "import os, time\nfrom poolboard import Context, stage, workflow\n"
        f"@stage\ndef work(n: int) -> int:\n    open({str(trace)!r}, 'a').write(f'{{n}}\\n')\n"
        "    if n == 2:\n        raise ValueError('broken')\n"
        f"    while n == 4 and not os.path.exists({str(gate)!r}):\n        time.sleep(0.02)\n    return n\n"
        "@workflow\nasync def one(ctx: Context, n: int) -> int:\n    return await ctx.stage(work, n)\n"
        "@workflow\nasync def root(ctx: Context) -> int:\n"
        "    return sum(r.value or 0 for r in await ctx.map(one, [1, 2, 3, 4], on_error='collect'))\n"
    )
    words = ["run", str(tmp_path / "root.py:root"), "--workers", "1", "--slots", "1", "--detach"]
    run_id = poolboard(*words).out.strip()
    until(lambda: trace.exists() and trace.read_text().split() == ["1", "2", "3", "4"], "the children")
    status = json.loads(poolboard("status", run_id, "--json").out)
    for pid in [status["coordinator"]["pid"], *(worker["pid"] for worker in status["workers"])]:
        os.kill(pid, signal.SIGKILL)
    until(lambda: json.loads(poolboard("status", run_id, "--json").out)["status"] == "crashed", "the crash to show")
    seen = json.loads(poolboard("status", run_id, "--json").out)
    assert (seen["resumable"], seen["children"]["completed"], seen["children"]["failed"]) == (True, 2, 1)
    gate.touch()
    resumed = poolboard("resume", run_id, "--json")
    assert (resumed.code, json.loads(resumed.out.splitlines()[-1])["result"]) == (0, 8)
    assert sorted(trace.read_text().split()) == ["1", "2", "3", "4", "4"]


@pytest.mark.slow
def test_r6_of_two_that_resume_one_run_exactly_one_starts_its_coordinator(poolboard: Poolboard, runs: Runs) -> None:
    """Catalogue R6: the loser is told who has it, or asks the winner, and the run is worked on once."""
    run_id = runs.start("gated")
    assert poolboard("stop", run_id, "--now").code == 0
    assert poolboard("wait", run_id).code == exit_codes.RESUMABLE
    until(lambda: not json.loads(poolboard("status", run_id, "--json").out)["coordinator"]["alive"], "its end")
    before = json.loads(poolboard("status", run_id, "--json").out)["coordinator"]["epoch"]
    command = [sys.executable, "-m", "poolboard", "resume", run_id, "--detach"]
    racers = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    ends = [(process.communicate(timeout=90), process.returncode) for process in racers]
    assert any(code == 0 for _, code in ends)
    for (_, err), code in ends:
        assert code in (0, exit_codes.MISTAKE, exit_codes.RESUMABLE), err
        assert "Traceback" not in err and err.count("\n") == (code != 0)
    status = json.loads(poolboard("status", run_id, "--json").out)
    assert (status["coordinator"]["alive"], status["coordinator"]["epoch"]) == (True, before + 1)
    runs.gate.touch()
    assert poolboard("wait", run_id).code == 0
    checkpoints = poolboard("events", run_id, "--type", "CheckpointRecorded", "--json").out.splitlines()
    assert len(checkpoints) == 1


@pytest.mark.slow
def test_r7_a_run_that_is_alive_is_not_taken_over_by_a_resume(poolboard: Poolboard, runs: Runs) -> None:
    """Catalogue R7: with a living coordinator, resume asks that one; status never says crashed."""
    run_id = runs.start("gated")
    owner = json.loads(poolboard("status", run_id, "--json").out)["coordinator"]
    assert poolboard("resume", run_id, "--detach").code == 0
    after = json.loads(poolboard("status", run_id, "--json").out)
    assert (after["coordinator"]["pid"], after["coordinator"]["epoch"]) == (owner["pid"], owner["epoch"])
    assert after["status"] != "crashed"
    os.kill(owner["pid"], signal.SIGKILL)
    until(lambda: statuses(poolboard)[run_id] == "crashed", "the crash to show")


@pytest.mark.slow
def test_c10_runs_whose_definition_is_gone_are_listed_and_only_their_resume_is_refused(
    poolboard: Poolboard, runs: Runs, tmp_path: Path
) -> None:
    """Catalogue C10: a workflow file that does not load any more keeps nobody from looking at runs."""
    gone, fine = runs.start("gated"), runs.ended("lenient")
    assert poolboard("stop", gone, "--now").code == 0
    assert poolboard("wait", gone).code == exit_codes.RESUMABLE
    until(lambda: not json.loads(poolboard("status", gone, "--json").out)["coordinator"]["alive"], "its end")
    (tmp_path / "short.py").rename(tmp_path / "away.py")
    assert statuses(poolboard) == {gone: "stopped", fine: "completed"}
    refused = poolboard("resume", gone)
    assert (refused.code, refused.err.count("\n")) == (exit_codes.MISTAKE, 1)
    assert "short.py cannot be read" in refused.err
    (tmp_path / "away.py").rename(tmp_path / "short.py")
    runs.gate.touch()
    assert poolboard("resume", gone, "--json").code == 0


@pytest.mark.slow
def test_b52_bytes_that_are_not_utf8_and_characters_across_reads_are_shown_and_kept(
    poolboard: Poolboard, tmp_path: Path
) -> None:
    """Situation B52: three-byte characters straddle 4, 8 and 64 KB; bad bytes are marks; raw is byte-identical."""
    written = bytearray()
    for offset in (4096, 8192, 65536):
        written += b"x" * (offset - len(written) - 2) + b"\n" + "€".encode()
    written += b"\n\xff\xfe\x00 caf\xe9\n" + "\udcff".encode("utf-8", "surrogatepass") + b"\nlast"
    (tmp_path / "bytes").write_bytes(written)
    # In two writes, so that the reader may come between the bytes of the last character.
    cut = 65536
    script = f"head -c {cut} {tmp_path}/bytes; tail -c +{cut + 1} {tmp_path}/bytes; : {{}}"
    run_id = poolboard("each", "-q", "--detach", script, ":::", "a").out.strip()
    assert poolboard("wait", run_id).code == 0
    raw = subprocess.run(
        [sys.executable, "-m", "poolboard", "logs", run_id, "1", "stdout", "--raw"], capture_output=True, timeout=60
    )
    assert raw.stdout == bytes(written)
    shown = poolboard("logs", run_id, "1", "stdout").out
    assert shown.count("€") == 3
    assert "\ufffd\ufffd" in shown and "caf\ufffd" in shown and shown.endswith("last\n")
    told = [json.loads(line)["text"] for line in poolboard("logs", run_id, "1", "stdout", "--json").out.splitlines()]
    assert [text[0] for text in told[1:4]] == ["€", "€", "€"]

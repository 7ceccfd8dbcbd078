"""Taking a run elsewhere: the same run there, and nothing that was tampered with comes in."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from poolboard.journal.check import check
from poolboard.journal.errors import BadPayload, IdentityConflict, RunNotFound
from poolboard.journal.exporting import export
from poolboard.journal.importing import import_run
from poolboard.journal.positions import SPAN
from poolboard.journal.sqlite import SqliteJournal
from tests.journal.filled import end, fill, make, rows

if TYPE_CHECKING:
    from tests.journal.conftest import StartedRun


# --- export and import ------------------------------------------------------------------------------------------------


def exported(path: Path, run_id: str = "run-1") -> bytes:
    with export(path, run_id) as file:
        return file.read()


async def test_a_run_taken_elsewhere_is_the_same_run(run: StartedRun, path: Path, tmp_path: Path) -> None:
    await fill(run)
    data = exported(path)
    assert data.isascii()
    other = tmp_path / "other.sqlite"
    await make(other)
    done = import_run(other, BytesIO(data), "the export")
    assert (done.run_id, done.children) == ("run-1", 20)
    assert check(other).findings == ()
    before, after = rows(path), rows(other)
    assert [row[1:-1] for row in after["runs"]] == [row[1:-1] for row in before["runs"]]
    whole = ("control", "events", "operations", "results", "stages", "holds", "cuts", "usage", "messages", "receipts")
    for table in whole:
        assert before[table] and after[table] == before[table], table
    assert [row[:-1] for row in after["work"]] == [row[:-1] for row in before["work"]]
    assert before["workers"] and after["workers"] == []
    # Every table is either the same, or of what belongs to this file and this machine alone.
    assert before.keys() - {*whole, "runs", "work", "leases", "workers"} == {"journal_meta", "stamp"}
    assert exported(other) == data
    there = await SqliteJournal.open(other)
    assert (await there.lease_state("run-1")).holder is None
    was, now = run.journal.reader, there.reader
    assert await now.setting(1, "limit:gpu") == await was.setting(1, "limit:gpu") == "3"
    assert await now.open_prompts(1) == await was.open_prompts(1) != []
    assert await now.usage(1) == await was.usage(1)
    assert await now.messages.page(1, SPAN, 10) == await was.messages.page(1, SPAN, 10) != []
    assert (await there.acquire_lease("run-1", "somebody else")).epoch == 2
    await there.close()


async def test_a_run_comes_back_after_it_was_deleted_and_is_seen_as_another(run: StartedRun, path: Path) -> None:
    await fill(run)
    await end(run)
    data = exported(path)
    with pytest.raises(IdentityConflict, match="run-1"):
        await asyncio.to_thread(import_run, path, BytesIO(data), "the export")
    await run.journal.delete_run("run-1")
    stamp = await run.journal.reader.stamp()
    await asyncio.to_thread(import_run, path, BytesIO(data), "the export")
    [row] = await run.journal.reader.runs_changed(stamp)
    assert (row.run_id, row.number) == ("run-1", 2)
    assert check(path).findings == ()


def test_a_run_that_is_not_there_is_not_exported(path: Path) -> None:
    asyncio.run(make(path))
    with pytest.raises(RunNotFound, match="nope"):
        export(path, "nope")


def edited(data: bytes, edit: Callable[[list[Any]], object]) -> bytes:
    """Change an export's lines and give it a fitting end mark, as somebody would who means harm."""
    from hashlib import sha256

    values = [json.loads(line) for line in data.splitlines()[:-1]]
    edit(values)
    body = b"".join(json.dumps(value).encode() + b"\n" for value in values)
    return body + json.dumps({"end": {"lines": len(values), "sha256": sha256(body).hexdigest()}}).encode() + b"\n"


def first(values: list[Any], word: str) -> dict[str, Any]:
    found: dict[str, Any] = next(value[word] for value in values if word in value)
    return found


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda values: values[0].update(poolboard_export=2), "line 1: poolboard_export: Input should be 1"),
        (lambda values: values[0]["run"].update(surprise=1), "line 1: run.surprise: Extra inputs"),
        (lambda values: values[0]["run"].update(last_seq=7), "no whole run"),
        (lambda values: values[0].update(lease=None), "written under epoch 1, the lease is at 0"),
        (lambda values: first(values, "event").update(seq=-1), "line 2: seq: Input should be greater"),
        (lambda values: first(values, "event").update(seq=1 << 70), "line 2: seq: Input should be less"),
        (lambda values: first(values, "event").update(seq="1"), "line 2: seq: Input should be a valid integer"),
        (lambda values: first(values, "event").update(payload="{"), "event 1 is not JSON"),
        (lambda values: first(values, "event").update(payload="\ud800"), "line 2: payload: Input should be"),
        (lambda values: first(values, "work").update(state="done"), "state: Input should be 'ready'"),
        (lambda values: first(values, "work").update(parent=99), "or a root with one: 0"),
        (lambda values: first(values, "result").update(value="2"), "is not what was recorded"),
        (lambda values: first(values, "usage").update(amount=9), "no whole run: usage: 'cost' of work item 0"),
        (lambda values: first(values, "hold").update(name="99"), "no whole run: held, and no row says so: child 15"),
        (
            lambda values: first(values, "receipt").update(state="delivered"),
            "kept counts are not those of their receipts",
        ),
        (lambda values: values.insert(3, values[3]), "no whole run: UNIQUE constraint failed: events.position"),
        (lambda values: values.pop(5), "is the first missing"),
        (lambda values: values.insert(3, {"attachment": {}}), "line 4: 'attachment' is no kind of line"),
        (lambda values: values.insert(3, {}), "line 4: '' is no kind of line"),
        (lambda values: values.insert(3, [1]), "line 4: not a JSON object"),
    ],
)
async def test_lines_that_were_tampered_with_are_refused_whole(
    run: StartedRun, path: Path, tmp_path: Path, edit: Callable[[list[Any]], object], said: str
) -> None:
    await fill(run)
    other = tmp_path / "other.sqlite"
    await make(other)
    before = other.read_bytes()
    with pytest.raises(BadPayload) as refused:
        import_run(other, BytesIO(edited(exported(path), edit)), "run.jsonl")
    assert said in str(refused.value) and str(refused.value).startswith("run.jsonl")
    assert "\n" not in str(refused.value)
    assert other.read_bytes() == before


async def test_an_export_that_was_cut_or_has_flipped_is_refused(run: StartedRun, path: Path, tmp_path: Path) -> None:
    await fill(run)
    data = exported(path)
    lines = data.splitlines(keepends=True)
    for bad, said in (
        (b"", "was cut: it ends after line 0"),
        (data[: len(data) // 2], "not JSON"),
        (b"".join(lines[:-1]), "without an end mark"),
        (b"".join(lines[:4] + lines[5:]), "not those that were exported"),
        (data.replace(b"lunch", b"munch"), "not those that were exported"),
        (data + lines[0], "behind the end mark"),
        (b"[" * 100_000 + b"\n", "not JSON"),
        (b"\xff\xfe\n", "not JSON"),
        (b"{" + b" " * 7_000_000 + b"}\n", "longer than"),
    ):
        with pytest.raises(BadPayload, match=said):
            import_run(tmp_path / "other.sqlite", BytesIO(bad), "run.jsonl")
    assert not (tmp_path / "other.sqlite").exists()

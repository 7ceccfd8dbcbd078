"""Events: dense numbers, keys that are recorded once, batches, and knowing that something changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from poolboard.journal import protocol, queue
from poolboard.journal.errors import BadPayload, IdentityConflict, RunNotFound, StaleLease
from poolboard.journal.model import Event, NewRun, RunVersion
from poolboard.journal.payload import MAX_PAYLOAD_BYTES
from poolboard.journal.sqlite import SqliteJournal

if TYPE_CHECKING:
    from tests.journal.conftest import StartedRun, Starter


def note(text: str = "hello") -> Event:
    return Event("Note", json.dumps({"text": text}))


def test_the_sqlite_journal_has_every_verb_also_the_optional_ones() -> None:
    _: type[protocol.Journal] = SqliteJournal  # the type checker compares the signatures
    for optional in (protocol.BatchAppends, protocol.ChangeTracking):
        members = [name for name in vars(optional) if not name.startswith("_")]
        assert members and all(callable(getattr(SqliteJournal, name)) for name in members)


async def test_a_new_run_is_pending_and_free(journal: SqliteJournal, path: Path) -> None:
    row = await journal.create_run(NewRun("run-1", "survey", "/somewhere", '{"a": 1}'))
    assert (row.run_id, row.name, row.cwd, row.header) == ("run-1", "survey", "/somewhere", '{"a": 1}')
    assert (row.status, row.control, row.total, row.last_seq) == ("pending", "running", 0, 0)
    assert (row.lease_holder, row.lease_epoch, row.lease_age_ms) == (None, 0, None)
    assert await journal.get_run("run-1") == row
    assert journal.descriptor == f"sqlite at {path}"


async def test_one_id_is_one_run(journal: SqliteJournal) -> None:
    await journal.create_run(NewRun("run-1", "first", "/", "{}"))
    with pytest.raises(IdentityConflict, match="run-1"):
        await journal.create_run(NewRun("run-1", "second", "/", "{}"))
    assert [row.name for row in await journal.list_runs()] == ["first"]


async def test_an_unknown_run_is_named(journal: SqliteJournal) -> None:
    for asked in (journal.get_run("nope"), journal.lease_state("nope"), journal.read_key("nope", "k")):
        with pytest.raises(RunNotFound, match="nope"):
            await asked
    with pytest.raises(RunNotFound, match="nope"):
        await journal.acquire_lease("nope", "me")


async def test_numbers_are_dense_per_run_and_start_at_one(journal: SqliteJournal, start: Starter) -> None:
    runs = [await start(journal, "run-1"), await start(journal, "run-2")]
    for n in range(3):
        for run in runs:
            await journal.append(run.lease, note(str(n)))
    for run in runs:
        entries = [entry async for entry in journal.read(run.lease.run_id)]
        assert [entry.seq for entry in entries] == [1, 2, 3, 4]
        assert [entry.event.type for entry in entries] == ["ChildEnqueued", "Note", "Note", "Note"]


async def test_a_long_history_is_read_whole_from_where_one_asks(run: StartedRun) -> None:
    journal = run.journal
    await journal.append_many(run.lease, [(note(str(n)), None) for n in range(600)])
    whole = [entry async for entry in journal.read("run-1")]
    assert [entry.seq for entry in whole] == list(range(1, 602))
    assert [entry async for entry in journal.read("run-1", 600)] == whole[599:]
    assert [entry async for entry in journal.read("run-1", 602)] == []


async def test_a_key_is_recorded_once_and_the_first_value_stays(run: StartedRun) -> None:
    """Catalogue J14."""
    first = await run.journal.append(run.lease, note("first"), "key")
    again = await run.journal.append(run.lease, note("first"), "key")
    other = await run.journal.append(run.lease, note("second"), "key")
    assert (first.status, again.status, other.status) == ("appended", "exists", "exists")
    assert first.entry == again.entry == other.entry == await run.journal.read_key("run-1", "key")
    assert await run.journal.read_key("run-1", "another key") is None
    assert (await run.row()).last_seq == first.entry.seq


async def test_of_five_appends_only_the_bad_one_is_refused_and_order_is_kept(run: StartedRun) -> None:
    """Catalogue J6."""
    events = [note(str(n)) for n in range(5)]
    events[2] = Event("Note", "{not json}")
    outcomes = await run.journal.append_many(run.lease, [(event, None) for event in events])
    assert isinstance(outcomes[2], BadPayload)
    kept = [outcome.entry.event for outcome in outcomes if not isinstance(outcome, Exception)]
    assert kept == [events[0], events[1], events[3], events[4]]
    assert [entry.event for entry in await run.journal.reader.events(1, 1, 10)] == kept


async def test_of_five_appends_under_a_lost_lease_none_is_written(run: StartedRun) -> None:
    """Catalogue J7."""
    await run.journal.acquire_lease("run-1", "coordinator 2", if_epoch=1)
    before = await run.row()
    with pytest.raises(StaleLease):
        await run.journal.append_many(run.lease, [(note(), None)] * 5)
    assert (await run.row()).last_seq == before.last_seq


@pytest.mark.parametrize(
    "payload",
    ["", "[1]", "1", '"text"', "{", "{}}", '{"a": NaN}', "{'a': 1}", '{"a": 1} ', '{"a": "\0"}', '{"a": "\ud800"}'],
)
async def test_what_is_not_a_json_object_is_refused(run: StartedRun, payload: str) -> None:
    with pytest.raises(BadPayload, match="Note"):
        await run.journal.append(run.lease, Event("Note", payload))
    assert (await run.row()).last_seq == 1


async def test_a_payload_over_the_limit_is_refused_with_advice(run: StartedRun) -> None:
    frame = len('{"text": ""}')
    await run.journal.append(run.lease, note("x" * (MAX_PAYLOAD_BYTES - frame)))
    with pytest.raises(BadPayload, match="1,048,577 bytes; the limit is 1,048,576: write it to a file"):
        await run.journal.append(run.lease, note("x" * (MAX_PAYLOAD_BYTES - frame + 1)))


async def test_text_of_any_kind_comes_back_as_it_was(run: StartedRun) -> None:
    text = 'tab\t newline\n escape \x1b[31m nul \0 emoji 🏊 rtl \u202e quote " backslash \\'
    appended = await run.journal.append(run.lease, note(text), key=text)
    entry = await run.journal.read_key("run-1", text)
    assert entry == appended.entry
    assert json.loads(entry.event.payload) == {"text": text}


async def test_the_change_token_moves_with_every_commit_of_anybody(journal: SqliteJournal, path: Path) -> None:
    """Catalogue J10."""
    still = await journal.change_token()
    assert await journal.change_token() == still
    await journal.create_run(NewRun("run-1", "n", "/", "{}"))
    own = await journal.change_token()
    assert own != still
    other = await SqliteJournal.open(path)
    assert await journal.change_token() == own
    await other.create_run(NewRun("run-2", "n", "/", "{}"))
    foreign = await journal.change_token()
    assert foreign not in (own, still)
    await other.close()
    await journal.get_run("run-1")
    with pytest.raises(IdentityConflict):
        await journal.create_run(NewRun("run-2", "n", "/", "{}"))
    after = await journal.change_token()
    assert await journal.change_token() == after


async def test_run_versions_tell_each_runs_newest_event(journal: SqliteJournal, start: Starter) -> None:
    await journal.create_run(NewRun("empty", "n", "/", "{}"))
    run = await start(journal)
    entry = (await journal.append(run.lease, note())).entry
    assert await journal.run_versions() == {"empty": RunVersion(0, 0), "run-1": RunVersion(entry.seq, entry.at)}


async def test_a_run_recorded_again_with_as_many_events_has_another_version(
    journal: SqliteJournal, start: Starter
) -> None:
    """Catalogue J9."""
    run = await start(journal)
    before = (await journal.run_versions())["run-1"]
    for table, column in (("events", "position"), ("operations", "run"), ("work", "id"), ("runs", "number")):
        await run.sql(f"DELETE FROM {table} WHERE {column} > 0")
    await start(journal)
    await run.sql("UPDATE events SET at = at + 5")  # as if some ms had passed
    after = (await journal.run_versions())["run-1"]
    assert (after.seq, after != before) == (before.seq, True)


async def test_a_lease_of_a_run_that_was_recorded_anew_is_worth_nothing(journal: SqliteJournal, start: Starter) -> None:
    run = await start(journal, "run-1")
    for table, column in (("events", "position"), ("operations", "run"), ("work", "id"), ("runs", "number")):
        await run.sql(f"DELETE FROM {table} WHERE {column} > 0")
    other = await start(journal, "run-2")
    assert other.lease.number == run.lease.number
    with pytest.raises(RunNotFound, match="run-1"):
        await journal.append(run.lease, note())


async def test_the_tail_is_the_end_without_the_history(run: StartedRun) -> None:
    journal = run.journal
    assert await journal.snapshot_tail("run-1") is None
    await run.do(queue.set_status, "running")
    token = await run.claimed_child()
    receipts = [await run.do(queue.commit, token, run.checkpoint(f"key {n}")) for n in range(3)]
    tail = await journal.snapshot_tail("run-1")
    assert tail is not None
    assert tail.snapshot.event.type == "StatusChanged"
    assert tail.version == (await journal.run_versions())["run-1"]
    assert (tail.later_checkpoints, tail.last_checkpoint_at) == (3, receipts[-1].at)

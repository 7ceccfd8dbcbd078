"""What every journal must do, as tests. An adapter's own test file says how to open it, and is done::

    from poolboard.journal.conformance import BatchConformance, JournalConformance

    class TestMine(JournalConformance, BatchConformance):
        parts = (BatchConformance,)

        @pytest.fixture
        def opener(self, tmp_path):
            return lambda: MyJournal.open(tmp_path / "store")

``opener()`` is awaited for a journal; called again it opens the same store again, as another process would. Nothing is
skipped: an optional part that the journal has needs its class too, and ``parts`` names them (``BatchConformance``,
``ChangeConformance``, ``DeletionConformance``). Needs pytest and nothing else.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable
from functools import partial
from typing import Any, Final

import pytest

from . import optional
from .conformance_parts import BatchConformance, ChangeConformance, DeletionConformance
from .errors import (
    BadPayload,
    IdentityConflict,
    JournalError,
    LeaseHeld,
    RunNotFound,
    StaleLease,
    StorageUnavailable,
)
from .event_types import CHECKPOINT_RECORDED
from .following import Follower
from .model import AppendOutcome, Event, Lease, LeaseState, NewRun
from .payload import MAX_PAYLOAD_BYTES
from .protocol import BatchAppends, ChangeTracking, RunDeletion
from .stories import Opener, Plain, Store, Stories, entries, note

__all__ = ["BatchConformance", "ChangeConformance", "DeletionConformance", "JournalConformance", "Opener"]

#: Texts that are no JSON object.
NO_OBJECTS: Final = ("", "[1]", "1", '"text"', "{", "{}}", '{"a": NaN}', "{'a': 1}", '{"a": "\0"}', '{"a": "\ud800"}')
#: A text that breaks whoever interprets it.
HOSTILE: Final = "Ω \U0001f600 '; DROP TABLE runs; -- %s \\ \x1b[2J \u202e"
PARTS: Final = (
    (BatchAppends, BatchConformance),
    (ChangeTracking, ChangeConformance),
    (RunDeletion, DeletionConformance),
)


class JournalConformance(Stories):
    """Every verb that a journal must have."""

    #: The classes of this adapter's tests for optional parts.
    parts: tuple[type[Stories], ...] = ()

    # --- runs ---------------------------------------------------------------------------------------------------------

    async def test_a_new_run_is_pending_free_and_kept_as_given(self, store: Store) -> None:
        journal = await store.open()
        row = await journal.create_run(NewRun("run-1", HOSTILE, "/some where", '{"a": 1}'))
        assert (row.run_id, row.name, row.cwd, row.header) == ("run-1", HOSTILE, "/some where", '{"a": 1}')
        assert (row.status, row.control, row.total, row.last_seq) == ("pending", "running", 0, 0)
        assert (row.lease_holder, row.lease_epoch, row.lease_age_ms) == (None, 0, None)
        assert row.created_at > 0
        assert await journal.get_run("run-1") == row
        assert await entries(journal) == []

    async def test_one_id_is_one_run(self, store: Store) -> None:
        journal, _ = await store.run()
        with pytest.raises(IdentityConflict, match="run-1"):
            await journal.create_run(NewRun("run-1", "another", "/", "{}"))
        assert [row.name for row in await journal.list_runs()] == ["survey"]

    async def test_runs_are_listed_newest_first(self, store: Store) -> None:
        for name in ("b", "a", "c"):
            journal, _ = await store.run(name)
        assert [row.run_id for row in await journal.list_runs()] == ["c", "a", "b"]

    async def test_an_unknown_run_is_named(self, store: Store) -> None:
        journal, _ = await store.run()
        asked: list[Awaitable[Any]] = [
            journal.get_run("nope"),
            journal.lease_state("nope"),
            journal.read_key("nope", "key"),
            journal.acquire_lease("nope", "me"),
            entries(journal, "nope"),
            journal.append(Lease("nope", 99, "me", 1), note()),
        ]
        for question in asked:
            with pytest.raises(RunNotFound, match="nope"):
                await question

    async def test_the_store_says_what_and_where_it_is(self, store: Store) -> None:
        journal = await store.open()
        assert " at " in journal.descriptor

    # --- events -------------------------------------------------------------------------------------------------------

    async def test_numbers_are_dense_for_each_run_and_start_at_one(self, store: Store) -> None:
        runs = [await store.run(name) for name in ("run-1", "run-2")]
        for n in range(5):
            for journal, lease in runs:
                outcome = await journal.append(lease, note(n))
                assert (outcome.status, outcome.entry.seq) == ("appended", n + 1)
        for journal, lease in runs:
            assert [entry.seq for entry in await entries(journal, lease.run_id)] == [1, 2, 3, 4, 5]
            assert (await journal.get_run(lease.run_id)).last_seq == 5

    async def test_what_is_read_is_what_was_appended(self, store: Store) -> None:
        journal, lease = await store.run()
        events = [Event("Type " + HOSTILE, json.dumps({"a": HOSTILE}, ensure_ascii=False)), Event("T", "{}", work=7)]
        appended = [(await journal.append(lease, event)).entry for event in events]
        assert [entry.event for entry in appended] == events
        assert [entry.epoch for entry in appended] == [1, 1]
        assert all(entry.at > 0 for entry in appended)
        assert await entries(journal) == appended

    async def test_a_long_history_is_read_whole_and_from_where_one_asks(self, store: Store) -> None:
        journal, lease = await store.run()
        await asyncio.gather(*(journal.append(lease, note(n)) for n in range(600)))
        whole = await entries(journal)
        assert [entry.seq for entry in whole] == list(range(1, 601))
        for start in (1, 2, 256, 257, 600):
            assert await entries(journal, from_seq=start) == whole[start - 1 :]
        assert await entries(journal, from_seq=601) == []

    async def test_a_reader_that_stops_early_does_not_disturb_the_store(self, store: Store) -> None:
        journal, lease = await store.run()
        for n in range(300):
            await journal.append(lease, note(n))
        async for entry in journal.read("run-1"):
            if entry.seq == 3:
                break
        assert (await journal.append(lease, note())).entry.seq == 301

    @pytest.mark.parametrize("payload", NO_OBJECTS)
    def test_what_is_no_json_object_is_refused(self, opener: Opener, payload: str) -> None:
        asyncio.run(_refuses(opener, payload))

    async def test_a_payload_may_be_as_large_as_the_limit_and_no_larger(self, store: Store) -> None:
        journal, lease = await store.run()
        frame = len('{"text": ""}')
        await journal.append(lease, note("x" * (MAX_PAYLOAD_BYTES - frame)))
        with pytest.raises(BadPayload, match=f"{MAX_PAYLOAD_BYTES:,}"):
            await journal.append(lease, note("x" * (MAX_PAYLOAD_BYTES - frame + 1)))
        assert (await journal.get_run("run-1")).last_seq == 1

    # --- keys ---------------------------------------------------------------------------------------------------------

    async def test_a_key_is_recorded_once_and_its_first_value_stays(self, store: Store) -> None:
        journal, lease = await store.run()
        first = await journal.append(lease, note("first"), "key")
        again = await journal.append(lease, note("first"), "key")
        other = await journal.append(lease, note("second"), "key")
        assert (first.status, again.status, other.status) == ("appended", "exists", "exists")
        assert first.entry == again.entry == other.entry == await journal.read_key("run-1", "key")
        assert await journal.read_key("run-1", "another key") is None
        assert await entries(journal) == [first.entry]

    async def test_a_key_belongs_to_its_run(self, store: Store) -> None:
        journal, one = await store.run("run-1")
        _, two = await store.run("run-2")
        await journal.append(one, note("one"), HOSTILE)
        assert (await journal.append(two, note("two"), HOSTILE)).status == "appended"
        assert (await journal.read_key("run-1", HOSTILE)).event == note("one")

    async def test_a_refused_append_leaves_its_key_free(self, store: Store) -> None:
        journal, lease = await store.run()
        with pytest.raises(BadPayload):
            await journal.append(lease, Event("Note", "[]"), "key")
        assert (await journal.append(lease, note(), "key")).status == "appended"

    async def test_of_many_that_append_under_one_key_exactly_one_does(self, store: Store) -> None:
        journal, lease = await store.run()
        other = await store.open()
        outcomes = await asyncio.gather(
            *((journal, other)[n % 2].append(lease, note(n), "key") for n in range(20)),
        )
        assert [outcome.status for outcome in outcomes].count("appended") == 1
        assert len({outcome.entry for outcome in outcomes}) == 1
        assert len(await entries(journal)) == 1

    # --- leases -------------------------------------------------------------------------------------------------------

    async def test_a_free_run_is_taken_with_the_first_epoch(self, store: Store) -> None:
        journal = await store.open()
        row = await journal.create_run(NewRun("run-1", "n", "/", "{}"))
        assert await journal.lease_state("run-1") == LeaseState(None, 0, None)
        assert await journal.acquire_lease("run-1", "me") == Lease("run-1", row.number, "me", 1)
        state = await journal.lease_state("run-1")
        assert (state.holder, state.epoch) == ("me", 1)
        assert state.age_ms is not None and state.age_ms >= 0

    async def test_a_held_run_is_not_taken_and_its_holder_is_named(self, store: Store) -> None:
        journal, _ = await store.run()
        for holder in ("holder 1", "holder 2"):
            with pytest.raises(LeaseHeld, match="holder 1"):
                await journal.acquire_lease("run-1", holder)
        assert (await journal.lease_state("run-1")).epoch == 1

    async def test_a_released_run_is_taken_with_the_next_epoch(self, store: Store) -> None:
        journal, lease = await store.run()
        await journal.release_lease(lease)
        state = await journal.lease_state("run-1")
        assert (state.holder, state.epoch) == (None, 1)
        assert (await journal.acquire_lease("run-1", "holder 2")).epoch == 2

    async def test_a_takeover_names_the_epoch_that_was_seen_dead(self, store: Store) -> None:
        journal, _ = await store.run()
        heir = await journal.acquire_lease("run-1", "heir", if_epoch=1)
        assert (heir.holder, heir.epoch) == ("heir", 2)
        with pytest.raises(LeaseHeld, match="heir"):
            await journal.acquire_lease("run-1", "late heir", if_epoch=1)

    async def test_of_many_heirs_exactly_one_wins(self, store: Store) -> None:
        journal, _ = await store.run()
        journals = [journal, await store.open(), await store.open()]
        races = [journals[n % 3].acquire_lease("run-1", f"heir {n}", if_epoch=1) for n in range(12)]
        ends = await asyncio.gather(*races, return_exceptions=True)
        winners = [end for end in ends if isinstance(end, Lease)]
        assert len(winners) == 1 and winners[0].epoch == 2
        assert [type(end) for end in ends if end not in winners] == [LeaseHeld] * 11
        assert (await journal.lease_state("run-1")).holder == winners[0].holder

    async def test_whoever_lost_the_lease_writes_nothing_any_more(self, store: Store) -> None:
        journal, old = await store.run()
        other = await store.open()
        await journal.append(old, note(), "key")
        await other.acquire_lease("run-1", "heir", if_epoch=1)
        for attempt in (
            journal.append(old, note()),
            journal.append(old, note(), "key"),
            journal.renew_lease(old),
            journal.release_lease(old),
        ):
            with pytest.raises(StaleLease) as refused:
                await attempt
            assert (refused.value.run_id, refused.value.given_epoch, refused.value.actual_epoch) == ("run-1", 1, 2)
        assert len(await entries(journal)) == 1
        assert (await journal.lease_state("run-1")).holder == "heir"

    async def test_a_released_lease_writes_nothing_any_more(self, store: Store) -> None:
        journal, lease = await store.run()
        await journal.release_lease(lease)
        with pytest.raises(StaleLease):
            await journal.append(lease, note())

    async def test_an_epoch_is_of_no_use_under_another_name(self, store: Store) -> None:
        journal, lease = await store.run()
        with pytest.raises(StaleLease):
            await journal.append(Lease(lease.run_id, lease.number, "thief", lease.epoch), note())

    async def test_a_renewed_lease_is_young_again_and_leaves_no_trace(self, store: Store) -> None:
        journal, lease = await store.run()
        for _ in range(20):
            await journal.renew_lease(lease)
        assert await entries(journal) == []
        assert (await journal.lease_state("run-1")).epoch == 1

    # --- several connections ------------------------------------------------------------------------------------------

    async def test_each_connection_sees_what_the_others_wrote(self, store: Store) -> None:
        journal, lease = await store.run()
        other = await store.open()
        for n in range(10):
            written = await (journal, other)[n % 2].append(lease, note(n), f"key {n}")
            assert await (other, journal)[n % 2].read_key("run-1", f"key {n}") == written.entry
        assert await entries(other) == await entries(journal)

    async def test_two_connections_at_once_leave_no_gap_and_lose_nothing(self, store: Store) -> None:
        journal, lease = await store.run()
        other = await store.open()
        outcomes = await asyncio.gather(*((journal, other)[n % 2].append(lease, note(n)) for n in range(100)))
        assert sorted(outcome.entry.seq for outcome in outcomes) == list(range(1, 101))
        assert {entry.event for entry in await entries(journal)} == {note(n) for n in range(100)}

    # --- who goes without the optional parts --------------------------------------------------------------------------

    async def test_who_follows_learns_of_every_run_that_moved(self, store: Store) -> None:
        journal, lease = await store.run()
        other = await store.open()
        follower = Follower(journal)
        assert (await follower.look()).changed == {"run-1"}
        assert not await follower.look()
        await other.create_run(NewRun("run-2", "n", "/", "{}"))
        await other.append(lease, note())
        assert (await follower.look()).changed == {"run-1", "run-2"}
        assert not await follower.look()

    async def test_the_optional_verbs_answer_the_same_without_the_journals_own(self, store: Store) -> None:
        journal, lease = await store.run()
        appends = [(note(1), "a"), (Event("Note", "[]"), None), (note(2), "a"), (note(3), None)]
        for whole in (journal, Plain(journal)):
            outcomes = await optional.append_many(whole, lease, appends)
            assert [type(outcome) for outcome in outcomes] == [AppendOutcome, BadPayload, AppendOutcome, AppendOutcome]
            assert [entry.event for entry in await entries(whole)][-1] == note(3)
            await journal.append(lease, Event(CHECKPOINT_RECORDED, "{}"))
            for verb in (optional.run_versions, partial(optional.snapshot_tail, run_id="run-1")):
                assert await verb(whole) == await verb(Plain(journal))
        assert [entry.seq for entry in await entries(journal)] == list(range(1, 6))
        with pytest.raises(RunNotFound):
            await optional.snapshot_tail(Plain(journal), "nope")

    # --- errors -------------------------------------------------------------------------------------------------------

    async def test_a_closed_journal_says_so(self, store: Store) -> None:
        _, lease = await store.run()
        other = await store.open()
        await other.close()
        for attempt in (other.append(lease, note()), other.get_run("run-1")):
            with pytest.raises(StorageUnavailable, match="Storage unavailable: "):
                await attempt

    def test_every_refusal_is_one_of_the_journals_own_errors(self) -> None:
        for kind in (BadPayload, IdentityConflict, LeaseHeld, RunNotFound, StaleLease, StorageUnavailable):
            assert issubclass(kind, JournalError)

    async def test_every_optional_part_that_it_has_is_tested(self, store: Store) -> None:
        journal = await store.open()
        had = {suite for protocol, suite in PARTS if isinstance(journal, protocol)}
        assert had == {suite for _, suite in PARTS if any(issubclass(part, suite) for part in self.parts)}


async def _refuses(opener: Opener, payload: str) -> None:
    store = Store(opener)
    try:
        journal, lease = await store.run()
        with pytest.raises(BadPayload, match="Note"):
            await journal.append(lease, Event("Note", payload))
        assert (await journal.get_run("run-1")).last_seq == 0
    finally:
        await store.close()

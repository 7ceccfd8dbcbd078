"""What the optional parts of a journal must do, a class each."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import pytest

from .errors import BadPayload, JournalError, LeaseHeld, RunNotFound, StaleLease
from .event_types import CHECKPOINT_RECORDED
from .model import Event, NewRun, RunVersion
from .stories import Store, Stories, entries, let_the_clock_move, note

#: Appends of each of two racing writers, in so many batches.
RACED: Final = 60


class BatchConformance(Stories):
    """``append_many``."""

    async def test_of_five_appends_only_the_bad_one_is_refused_and_order_is_kept(self, store: Store) -> None:
        journal, lease = await store.run()
        events = [note(n) for n in range(5)]
        events[2] = Event("Note", "{not json}")
        outcomes = await journal.append_many(lease, [(event, None) for event in events])
        assert isinstance(outcomes[2], BadPayload)
        kept = [outcome.entry for outcome in outcomes if not isinstance(outcome, Exception)]
        assert [(entry.seq, entry.event) for entry in kept] == [
            (seq + 1, events[n]) for seq, n in enumerate((0, 1, 3, 4))
        ]
        assert await entries(journal) == kept

    async def test_a_key_counts_inside_a_batch_and_across_batches(self, store: Store) -> None:
        journal, lease = await store.run()
        first = await journal.append(lease, note("first"), "a")
        outcomes = await journal.append_many(
            lease, [(note("second"), "a"), (note("third"), "b"), (note("fourth"), "b"), (note("fifth"), None)]
        )
        assert [outcome.status for outcome in outcomes] == ["exists", "appended", "exists", "appended"]
        assert outcomes[0].entry == first.entry
        assert outcomes[2].entry == outcomes[1].entry
        assert [entry.seq for entry in await entries(journal)] == [1, 2, 3]

    async def test_under_a_lost_lease_none_of_a_batch_is_written(self, store: Store) -> None:
        journal, lease = await store.run()
        await journal.acquire_lease("run-1", "heir", if_epoch=1)
        with pytest.raises(StaleLease):
            await journal.append_many(lease, [(note(n), None) for n in range(5)])
        assert await entries(journal) == []

    async def test_a_batch_of_nothing_is_nothing(self, store: Store) -> None:
        journal, lease = await store.run()
        assert await journal.append_many(lease, []) == []

    async def test_batches_and_single_appends_at_once_leave_no_gap(self, store: Store) -> None:
        journal, lease = await store.run()
        await asyncio.gather(
            *(journal.append_many(lease, [(note((n, m)), None) for m in range(5)]) for n in range(10)),
            *(journal.append(lease, note(n)) for n in range(10)),
        )
        assert [entry.seq for entry in await entries(journal)] == list(range(1, 61))


class ChangeConformance(Stories):
    """``change_token``, ``run_versions``, ``snapshot_tail``."""

    async def test_a_token_stays_while_nobody_writes(self, store: Store) -> None:
        journal, _ = await store.run()
        token = await journal.change_token()
        await journal.get_run("run-1")
        await entries(journal)
        assert await journal.change_token() == token

    async def test_a_token_moves_when_this_connection_writes(self, store: Store) -> None:
        journal, lease = await store.run()
        for write in (journal.append, journal.append):
            token = await journal.change_token()
            await write(lease, note())
            assert await journal.change_token() != token

    async def test_a_token_moves_when_another_connection_writes(self, store: Store) -> None:
        journal, lease = await store.run()
        other = await store.open()
        token = await journal.change_token()
        await other.append(lease, note())
        moved = await journal.change_token()
        assert moved != token
        await other.create_run(NewRun("run-2", "n", "/", "{}"))
        assert await journal.change_token() != moved

    async def test_no_token_ever_skips_what_was_committed(self, store: Store) -> None:
        journal, lease = await store.run()
        writers = [await store.open(), await store.open()]
        seen: dict[str, dict[str, RunVersion]] = {}

        async def write(writer: Any) -> None:
            for n in range(RACED):
                await writer.append(lease, note(n))

        writing = asyncio.gather(*map(write, writers))
        done = False
        while not done:
            done = writing.done()  # one more look after the last write
            before = await journal.change_token()
            versions = dict(await journal.run_versions())
            if await journal.change_token() == before:
                assert seen.setdefault(before, versions) == versions
        await writing
        assert versions["run-1"].seq == 2 * RACED

    async def test_versions_are_every_runs_newest_event(self, store: Store) -> None:
        journal, lease = await store.run()
        await journal.create_run(NewRun("run-2", "n", "/", "{}"))
        assert dict(await journal.run_versions()) == {"run-1": RunVersion(0, 0), "run-2": RunVersion(0, 0)}
        for n in range(3):
            last = (await journal.append(lease, note(n))).entry
        assert dict(await journal.run_versions()) == {
            "run-1": RunVersion(last.seq, last.at),
            "run-2": RunVersion(0, 0),
        }

    async def test_a_run_without_an_event_that_tells_how_it_stands_has_no_tail(self, store: Store) -> None:
        journal, lease = await store.run()
        assert await journal.snapshot_tail("run-1") is None
        await journal.append(lease, Event(CHECKPOINT_RECORDED, "{}"))
        assert await journal.snapshot_tail("run-1") is None
        with pytest.raises(RunNotFound):
            await journal.snapshot_tail("nope")

    async def test_a_tail_tells_the_end_without_the_history(self, store: Store) -> None:
        journal, lease = await store.run()
        for n in range(300):
            await journal.append(lease, note(n))
        stands = (await journal.append(lease, note("stands"))).entry
        for kind in (CHECKPOINT_RECORDED, "MessageSettled", CHECKPOINT_RECORDED):
            checkpoint = (await journal.append(lease, Event(kind, "{}"))).entry
        last = (await journal.append(lease, Event("MessageDelivered", "{}"))).entry
        tail = await journal.snapshot_tail("run-1")
        assert tail.version == RunVersion(last.seq, last.at)
        assert tail.snapshot == stands
        assert (tail.later_checkpoints, tail.last_checkpoint_at) == (2, checkpoint.at)
        newest = (await journal.append(lease, note("newest"))).entry
        tail = await journal.snapshot_tail("run-1")
        assert (tail.snapshot, tail.later_checkpoints, tail.last_checkpoint_at) == (newest, 0, None)


class DeletionConformance(Stories):
    """``delete_run``."""

    async def test_a_held_run_is_not_deleted(self, store: Store) -> None:
        journal, lease = await store.run()
        with pytest.raises(LeaseHeld, match="holder 1"):
            await journal.delete_run("run-1")
        assert (await journal.append(lease, note())).entry.seq == 1

    async def test_a_deleted_run_is_gone_everywhere_and_its_neighbour_is_not(self, store: Store) -> None:
        journal, lease = await store.run("run-1")
        _, neighbour = await store.run("run-2")
        for owner in (lease, neighbour):
            await journal.append(owner, note(owner.run_id), "key")
        await journal.release_lease(lease)
        await journal.delete_run("run-1")
        other = await store.open()
        for looked_at in (journal, other):
            assert [row.run_id for row in await looked_at.list_runs()] == ["run-2"]
            for question in (looked_at.get_run("run-1"), looked_at.read_key("run-1", "key"), entries(looked_at)):
                with pytest.raises(RunNotFound):
                    await question
            assert (await looked_at.read_key("run-2", "key")).event == note("run-2")
        with pytest.raises(RunNotFound):
            await journal.delete_run("run-1")

    async def test_a_run_recorded_again_begins_anew_and_old_leases_do_not_reach_it(self, store: Store) -> None:
        journal, old = await store.run()
        await journal.append(old, note("old"), "key")
        await journal.release_lease(old)
        await journal.delete_run("run-1")
        journal, new = await store.run()
        assert await journal.read_key("run-1", "key") is None
        assert (await journal.append(new, note("new"), "key")).entry.seq == 1
        with pytest.raises(JournalError):
            await journal.append(old, note("late"))
        assert [entry.event for entry in await entries(journal)] == [note("new")]

    async def test_a_run_recorded_again_with_as_many_events_has_another_version(self, store: Store) -> None:
        journal, old = await store.run()
        _, clock = await store.run("clock")
        before = (await journal.append(old, note("old"))).entry
        await journal.release_lease(old)
        await journal.delete_run("run-1")
        await let_the_clock_move(journal, clock)
        journal, new = await store.run()
        after = (await journal.append(new, note("new"))).entry
        assert (before.seq, after.seq) == (1, 1)
        assert RunVersion(before.seq, before.at) != RunVersion(after.seq, after.at)
        assert (await journal.get_run("run-1")).last_seq == 1

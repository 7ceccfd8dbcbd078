"""B70: a journal on a network, and two machines at one journal."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from poolboard.journal import lease as leases
from poolboard.journal.check import check
from poolboard.journal.driver import connect
from poolboard.journal.errors import JournalUnusable, LeaseHeld
from poolboard.journal.model import Event, NewRun
from poolboard.journal.sqlite import SqliteJournal

if TYPE_CHECKING:
    from tests.journal.conftest import StartedRun

KINDS = ["nfs", "nfs4", "cifs", "smb", "9p", "fuse.sshfs"]
HERE, THERE = "aaaa here", "bbbb there"


def network(folder: Path) -> str:
    return "nfs4"


@pytest.mark.parametrize("kind", KINDS)
async def test_on_a_network_nothing_is_made_and_the_way_out_is_named(path: Path, kind: str) -> None:
    with pytest.raises(JournalUnusable, match=rf"network file system \({kind}\).*local folder.*NETWORK_JOURNAL=1"):
        await SqliteJournal.open(path, probe=lambda folder: kind)
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("kind", ["", "ext4", "xfs", "overlay", "tmpfs", "apfs"])
async def test_a_local_file_system_has_its_log(path: Path, kind: str) -> None:
    journal = await SqliteJournal.open(path, probe=lambda folder: kind)
    assert Path(f"{path}-wal").exists()
    await journal.close()


@pytest.mark.parametrize("word", ["1", "true", "TRUE", " yes ", "on"])
async def test_who_allows_it_works_on_a_network_without_a_log(
    path: Path, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POOLBOARD_NETWORK_JOURNAL", word)
    journal = await SqliteJournal.open(path, probe=network)
    other = await SqliteJournal.open(path, probe=network)
    await journal.create_run(NewRun("run-1", "n", "/", "{}"))
    lease = await journal.acquire_lease("run-1", "me")
    for n in range(20):
        await (journal, other)[n % 2].append(lease, Event("Note", "{}"))
        assert not Path(f"{path}-wal").exists()
    with closing(connect(path, readonly=True)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal"
    assert (await other.get_run("run-1")).last_seq == 20
    await other.close()
    await journal.close()
    assert check(path).findings == ()


@pytest.mark.parametrize("word", ["0", "false", "no", "off", ""])
async def test_who_says_no_is_refused_as_who_says_nothing(
    path: Path, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POOLBOARD_NETWORK_JOURNAL", word)
    with pytest.raises(JournalUnusable, match="network file system"):
        await SqliteJournal.open(path, probe=network)


@pytest.mark.parametrize("word", ["maybe", "v1.0", "my_path", "2"])
async def test_a_word_that_is_neither_yes_nor_no_is_named(
    path: Path, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B61."""
    monkeypatch.setenv("POOLBOARD_NETWORK_JOURNAL", word)
    with pytest.raises(JournalUnusable, match=f"POOLBOARD_NETWORK_JOURNAL is '{word}': give 1, true"):
        await SqliteJournal.open(path, probe=network)
    assert not path.exists()


async def test_a_second_machine_takes_nothing_from_a_first_that_gives_signs_of_life(run: StartedRun) -> None:
    """Its processes cannot be looked for from here, so that not even a takeover may have seen it dead."""
    run_id, epoch = run.lease.run_id, run.lease.epoch
    await run.sql("UPDATE leases SET host = ?", THERE)
    for if_epoch in (None, epoch):
        with pytest.raises(LeaseHeld, match=r"worked on by the machine there \(last sign of life \d+ ms ago\): stop"):
            await run.journal.transact(lambda tx, e=if_epoch: leases.acquire(tx, run_id, "heir", e, HERE))  # type: ignore[misc]
    assert (await run.journal.lease_state(run_id)).epoch == epoch
    await run.sql("UPDATE leases SET renewed_at = renewed_at - ?", leases.OTHER_HOST_TTL_MS + 1_000)
    taken = await run.journal.transact(lambda tx: leases.acquire(tx, run_id, "heir", epoch, HERE))
    assert taken.epoch == epoch + 1


async def test_a_machine_that_was_renamed_is_the_same(run: StartedRun) -> None:
    run_id, epoch = run.lease.run_id, run.lease.epoch
    await run.sql("UPDATE leases SET host = 'aaaa another-name'")
    taken = await run.journal.transact(lambda tx: leases.acquire(tx, run_id, "heir", epoch, HERE))
    assert taken.epoch == epoch + 1


async def test_what_a_machine_gave_back_any_other_may_take(run: StartedRun) -> None:
    run_id = run.lease.run_id
    await run.sql("UPDATE leases SET host = ?", THERE)
    await run.journal.release_lease(run.lease)
    taken = await run.journal.transact(lambda tx: leases.acquire(tx, run_id, "heir", None, HERE))
    assert taken.epoch == run.lease.epoch + 1

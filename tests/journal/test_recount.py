"""What is kept of a run beside its events is told again from those: holds, limits, questions, messages, usage."""

from __future__ import annotations

import asyncio
import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from poolboard.journal import messages, prompts, queue
from poolboard.journal.check import check
from poolboard.journal.driver import connect
from poolboard.journal.event_types import HOLD_CHANGED
from poolboard.journal.holding import LISTED
from poolboard.journal.model import NewWork
from poolboard.journal.prompts import NewPrompt
from poolboard.journal.sqlite import SqliteJournal
from tests.journal.filled import end, fill

if TYPE_CHECKING:
    from tests.journal.conftest import StartedRun, Starter


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, start: Starter) -> bytes:
    """A journal with something of everything, made once."""
    path = tmp_path_factory.mktemp("made") / "journal.sqlite"

    async def make() -> None:
        journal = await SqliteJournal.open(path)
        await fill(await start(journal))
        await journal.close()

    asyncio.run(make())
    assert check(path).findings == ()
    return path.read_bytes()


@pytest.fixture
def whole(made: bytes, path: Path) -> Path:
    """A copy of it."""
    path.write_bytes(made)
    return path


def damaged(path: Path, statement: str) -> str:
    """Change the file behind everybody's back, and return what a check then says."""
    with closing(connect(path, readonly=False)) as connection:
        changed = connection.execute(statement).rowcount
        assert changed > 0 or statement.startswith("CREATE"), "the damage hit nothing"
    return "\n".join(map(str, check(path).findings))


OF_19 = "(SELECT number FROM messages WHERE direct = 19)"


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        # usage
        ("UPDATE usage SET amount = 5 WHERE work = 0 AND name = 'tokens'", "of work item 0 is kept as 5, 8 is"),
        ("UPDATE usage SET amount = amount * 2 WHERE work = 17", "'cost' of work item 17 is kept as 0.6"),
        ("DELETE FROM usage", "'cost' of work item 0 is kept as nothing"),
        ("INSERT INTO usage VALUES (1, 3, 'tokens', 4)", "of work item 3 is kept as 4, nothing is charged"),
        ("UPDATE work SET parent = NULL WHERE id % 1000 = (1 << 40) % 1000 + 17", "usage: 'cost' of work item 0"),
        # holds
        ("DELETE FROM holds WHERE name = '15'", "held, and no row says so: child 15"),
        ("INSERT INTO holds VALUES (1, 'child', '16', NULL, NULL, 1)", "kept as held, and nobody held it: child 16"),
        ("DELETE FROM cuts", "stopped, and no row says so: stage measure"),
        ("INSERT INTO cuts VALUES (1, 'child', '15')", "kept as stopped, and nobody stopped it: child 15"),
        ("INSERT INTO holds VALUES (1, 'worker', '1', NULL, NULL, 1)", "kept as held, and nobody held it: worker 1"),
        # limits, sizes, the budget
        ("DELETE FROM operations WHERE work = -1 AND seq = (SELECT max(position) % (1 << 40) FROM events "
         "WHERE type = 'SettingChanged')", "do not lead to their newest value: limit:gpu"),
        ("UPDATE operations SET seq = seq - 1 WHERE work = -1 AND seq = (SELECT max(position) % (1 << 40) FROM events "
         "WHERE type = 'SettingChanged')", "do not lead to their newest value: limit:gpu"),
        # control and status
        ("UPDATE control SET state = 'paused'", "control is kept as paused, revision 3; last told was running, rev"),
        ("UPDATE control SET revision = 9", "control is kept as running, revision 9"),
        ("DELETE FROM control", "control is kept as running, revision 1"),
        ("UPDATE runs SET status = 'waiting'", "its status is kept as waiting; last told was pending"),
        # questions
        ("DELETE FROM operations WHERE key >= x'70726f6d707400' AND key < x'70726f6d707401'", "not kept as open"),
        ("UPDATE operations SET key = key || x'00' WHERE seq = (SELECT min(position) % (1 << 40) FROM events "
         "WHERE type = 'PromptAsked')", "questions without their key"),
        ("DELETE FROM operations WHERE seq = (SELECT position % (1 << 40) FROM events WHERE type = 'PromptAnswered')",
         "questions that do not lead to their answer"),
        ("INSERT INTO operations (run, work, key, seq) SELECT 1, -1, x'70726f6d7074000000000000000000ff', "
         "min(position) % (1 << 40) FROM events WHERE type = 'PromptAsked'", "kept as open that were answered"),
        # messages
        ("DELETE FROM messages", "messages that were accepted and are not there"),
        ("DELETE FROM messages", "receipts of messages that are not there"),
        ("UPDATE messages SET target = 'child-3' WHERE direct IS NULL", "nothing was said, or something else"),
        ("UPDATE messages SET mode = 'steer'", "nothing was said, or something else"),
        ("UPDATE messages SET number = number + 500", "nothing was said, or something else"),
        ("UPDATE messages SET taken = taken + 1", "kept counts are not those of their receipts"),
        (f"UPDATE messages SET open = 1 WHERE number = {OF_19}", "open and settled, or neither"),
        ("UPDATE messages SET open = 0 WHERE direct = 20", "open and settled, or neither"),
        # receipts
        ("DELETE FROM receipts WHERE work = 1", "messages told as delivered, and no receipt says so"),
        ("DELETE FROM receipts WHERE work = 0", "messages told as taken, and no receipt says so"),
        ("UPDATE receipts SET state = 'delivered' WHERE work = 0", "messages told as taken, and no receipt says so"),
        (f"DELETE FROM receipts WHERE message = {OF_19}", "told as undeliverable, and no receipt says so"),
        ("UPDATE receipts SET state = 'undeliverable' WHERE work = 1", "2 receipts say undeliverable, 1 are told"),
        ("UPDATE receipts SET state = 'lost' WHERE work = 1", "receipts in a state that there is not"),
        ("UPDATE receipts SET work = 90 WHERE work = 1", "delivered to work items that are not there"),
    ],
)  # fmt: skip
def test_what_is_kept_beside_the_events_is_held_to_them(whole: Path, damage: str, found: str) -> None:
    assert found in damaged(whole, damage)


@pytest.mark.parametrize("payload", ["[]", "7", '{"names": 3, "prompts": {}, "name": [], "key": {}, "amounts": [[]]}'])
def test_events_that_make_no_sense_are_findings_not_a_crash(whole: Path, payload: str) -> None:
    assert damaged(whole, f"UPDATE events SET payload = '{payload}'") != ""


async def test_what_a_cut_list_of_names_leaves_open_is_not_called_damage(run: StartedRun, path: Path) -> None:
    await run.do(queue.set_holds, "child", [str(n) for n in range(LISTED + 50)], True, "ann", None)
    await run.do(queue.set_holds, "stage", ["fetch"], True, "ann", None)
    assert [e.event.type for e in await run.journal.reader.events(1, 0, 9, types=[HOLD_CHANGED])] == [HOLD_CHANGED] * 2
    assert check(path).findings == ()
    await run.sql("DELETE FROM holds WHERE scope = 'stage'")
    assert "no row says so: stage fetch" in str(check(path).findings)


async def test_a_run_that_ended_and_was_taken_up_again_is_whole_at_every_step(run: StartedRun, path: Path) -> None:
    await fill(run)
    await end(run)
    assert check(path).findings == ()
    lease = run.lease = await run.journal.acquire_lease("run-1", "heir")
    assert await run.journal.transact(lambda tx: queue.retry_failed(tx, lease)) != []
    assert (await run.row()).status == "pending"
    assert check(path).findings == ()
    await run.do(queue.set_status, "running")
    await run.do(messages.close_all)
    assert check(path).findings == ()


async def test_a_question_that_was_over_and_is_asked_again_is_open_and_no_damage(run: StartedRun, path: Path) -> None:
    new = NewPrompt("k", "confirm", "Go on?", (), None, None, None)
    asked = await run.do(prompts.ask, run.root, new)
    await run.do(prompts.close, [asked.prompt.id])
    assert (await run.do(prompts.ask, run.root, new)).prompt.id == asked.prompt.id
    assert check(path).findings == ()


async def test_a_grandchilds_charge_counts_for_all_above_it(run: StartedRun, path: Path) -> None:
    child = await run.claimed_child()
    [made] = await run.do(queue.enqueue, child, [NewWork("x", "w", "l", "{}", 2)])
    below = await run.claim(made.n)
    for number in range(50):  # a tenth is no sum of powers of two: the order of adding shows in the last digit
        await run.do(queue.charge, below, f"u{number}", {"cost": 0.1 * number})
    assert check(path).findings == ()
    await run.sql("UPDATE usage SET amount = amount + 0.1 WHERE work = ?", child.n)
    said = str(check(path).findings)
    assert f"of work item {child.n} is kept as" in said and json.dumps("cost").strip('"') in said

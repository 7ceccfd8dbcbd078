"""Messages between persons, runs and stages: accepted, delivered, settled. Functions of an open transaction.

Every fact is an event that holds only what changed, and a receipt is written once: whoever says again that a message
was delivered, taken or could not be delivered changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Final

from .errors import BadPayload, Refused
from .event_types import MESSAGE_ACCEPTED, MESSAGE_DELIVERED, MESSAGE_SETTLED
from .log import INSERT_KEY, SELECT_KEY
from .message_model import NewMessage, OpenMessage, ReceiptState
from .model import Checkpoint, Lease, Receipt, Token
from .open_run import OpenRun
from .payload import key_digest, not_json, value_bytes
from .positions import OF_THE_RUN
from .recording import commit
from .states import SETTLED_WORK, TERMINAL_RUN
from .transaction import Transaction
from .work import check_admitted

#: One message's value. More belongs in a file, whose path is sent.
MESSAGE_LIMIT_BYTES: Final = 64 * 1024
#: Messages that wait at once in one run; a program that sends in a loop is told, not served.
OPEN_LIMIT: Final = 20_000
FULL: Final = f"{OPEN_LIMIT:,} messages wait already, which is all that a run may have"
#: Pairs that one event lists.
LISTED: Final = 1_000

INSERT_MESSAGE: Final = """
INSERT INTO messages (run, number, sender, target, direct, stage, mode, notice) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
OPEN_COLUMNS: Final = "number, sender, target, direct, stage, mode, notice"
SELECT_OPEN: Final = f"SELECT {OPEN_COLUMNS} FROM messages WHERE run = ? AND number = ? AND open = 1"
SELECT_STATE: Final = "SELECT state FROM work WHERE id = ?"
SELECT_RECEIPT: Final = "SELECT state FROM receipts WHERE run = ? AND message = ? AND work = ?"
INSERT_RECEIPT: Final = """
INSERT INTO receipts (run, message, work, state, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
"""
MOVE_RECEIPT: Final = """
UPDATE receipts SET state = ?1, at = ?2 WHERE run = ?3 AND message = ?4 AND work = ?5 AND state = 'delivered'
"""
CLOSE: Final = "UPDATE messages SET open = 0 WHERE run = ? AND number = ? AND direct IS NOT NULL"
COUNT_OPEN: Final = "SELECT count(*) FROM messages WHERE run = ? AND open = 1"
SELECT_LEFT: Final = "SELECT number, direct FROM messages WHERE run = ? AND open = 1"
CLOSE_ALL: Final = "UPDATE messages SET open = 0 WHERE run = ? AND open = 1"


class Undeliverable(Refused):
    """The only recipient has ended; nothing was written."""


class TooManyWait(Refused):
    """The run has all the messages that may wait; nothing was written."""


def accept(tx: Transaction, lease: Lease, new: NewMessage, key: str) -> OpenMessage:
    """Record what a person sends, once under ``key``, and return it as it waits.

    Raises Undeliverable if its only recipient has ended, BadPayload, RootNotRunning.
    """
    run = tx.authority(lease)
    known = _known(tx, run, new, key)
    if known is None:
        check_admitted(run)
    return known or _accepted(tx, run, new, key)


def leave(tx: Transaction, lease: Lease, new: NewMessage, key: str) -> OpenMessage:
    """Record what a person sends to a run that nobody works on: it waits, like every message, for who goes on.

    Raises Undeliverable if the run, or its only recipient, has ended; TooManyWait, BadPayload.
    """
    run = tx.authority(lease)
    if run.status in TERMINAL_RUN:
        raise Undeliverable(f"{_named(0)} has ended: it is {run.status}")
    if (known := _known(tx, run, new, key)) is not None:
        return known
    if tx.execute(COUNT_OPEN, (run.number,)).fetchone()[0] >= OPEN_LIMIT:
        raise TooManyWait(FULL)
    return _accepted(tx, run, new, key)


def _known(tx: Transaction, run: OpenRun, new: NewMessage, key: str) -> OpenMessage | None:
    """Return the message that is recorded under the key."""
    row = tx.execute(SELECT_KEY, (run.base, run.number, OF_THE_RUN, key_digest(key))).fetchone()
    return None if row is None else _waiting(row[0], new)


def _accepted(tx: Transaction, run: OpenRun, new: NewMessage, key: str) -> OpenMessage:
    if new.direct is not None and (state := _ended(tx, run, new.direct)) is not None:
        raise Undeliverable(f"{_named(new.direct)} has ended: it is {state}")
    number = _insert(tx, run, new, None)
    tx.execute(INSERT_KEY, (run.number, OF_THE_RUN, key_digest(key), number))
    return _waiting(number, new)


def accept_from(
    tx: Transaction, lease: Lease, token: Token, new: NewMessage, checkpoint: Checkpoint
) -> OpenMessage | None:
    """Record what a run sends together with the checkpoint of its call; None if that is recorded already.

    Whether the recipient has ended is seen later, by ``give_back``: a call must come to the same on replay. Raises what
    ``commit`` raises.
    """
    run = tx.authority(lease)
    before = run.last_seq
    commit(tx, lease, token, checkpoint)
    return None if run.last_seq == before else _waiting(_insert(tx, run, new, None), new)


def deliver(tx: Transaction, lease: Lease, receipts: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Record that messages (number, n) are with their recipients; return those of which that was not known."""
    run = tx.authority(lease)
    fresh = [
        (number, n)
        for number, n in receipts
        if tx.execute(INSERT_RECEIPT, (run.number, number, n, "delivered", tx.now)).rowcount
    ]
    for start in range(0, len(fresh), LISTED):
        tx.append(run, MESSAGE_DELIVERED, _dumps({"delivered": fresh[start : start + LISTED]}), None)
    _count(tx, run, [number for number, _ in fresh], "delivered", None)
    return fresh


def take(tx: Transaction, lease: Lease, token: Token, checkpoint: Checkpoint, numbers: Sequence[int]) -> Receipt:
    """Record what a run's program took from its inbox together with the checkpoint that says so: both or neither.

    Raises what ``commit`` raises; the same again gets the same receipt.
    """
    run = tx.authority(lease)
    before = run.last_seq
    receipt = commit(tx, lease, token, checkpoint)
    if run.last_seq > before and numbers:
        _settle(tx, run, token.n, numbers, "taken")
        tx.append(run, MESSAGE_SETTLED, _dumps({"taken": list(numbers)}), token.n)
    return receipt


def give_back(tx: Transaction, lease: Lease, n: int, numbers: Iterable[int]) -> tuple[list[int], list[OpenMessage]]:
    """Settle messages to a recipient that has ended without taking them: they are undeliverable, once.

    Returns their numbers and the notices to the runs that sent them. One that was settled before is left out, and so is
    everything while the recipient has not ended.
    """
    run = tx.authority(lease)
    state = _ended(tx, run, n)
    if state is None:
        return [], []
    rows = [tx.execute(SELECT_OPEN, (run.number, number)).fetchone() for number in numbers]
    left = [OpenMessage(*row) for row in rows if row is not None and row[3] == n]
    left = [message for message in left if _receipt(tx, run, message.number, n) in (None, "delivered")]
    if not left:
        return [], []
    given = [message.number for message in left]
    _settle(tx, run, n, given, "undeliverable")
    why = f"{_named(n)} has ended: it is {state}"
    tx.append(run, MESSAGE_SETTLED, _dumps({"undeliverable": given, "why": why}), n)
    return given, [notice for message in left if (notice := _notice(tx, run, message, why)) is not None]


def close_all(tx: Transaction, lease: Lease) -> int:
    """The root ends: patterns leave the queue, and what waits for one recipient is undeliverable. Return how many."""
    run = tx.authority(lease)
    left = tx.execute(SELECT_LEFT, (run.number,)).fetchall()
    lost: dict[int, list[int]] = {}
    for number, direct in left:
        if direct is not None and _receipt(tx, run, number, direct) != "taken":
            lost.setdefault(direct, []).append(number)
    for n, numbers in lost.items():
        _settle(tx, run, n, numbers, "undeliverable")
    if left:
        told = {"ended": len(left), "undeliverable": sum(map(len, lost.values()))}
        tx.append(run, MESSAGE_SETTLED, _dumps(told), None)
        tx.execute(CLOSE_ALL, (run.number,))
    return len(left)


def _insert(tx: Transaction, run: OpenRun, new: NewMessage, notice: int | None) -> int:
    data = value_bytes(new.value, "message")
    if len(data) > MESSAGE_LIMIT_BYTES:
        raise BadPayload(
            f"message has {len(data):,} bytes; the limit is {MESSAGE_LIMIT_BYTES:,}: write it to a file, send its path"
        )
    if not tx.execute("SELECT json_valid(?)", (new.value,)).fetchone()[0]:
        raise not_json(new.value, "message")
    head = {"target": new.target, "stage": new.stage, "mode": new.mode, "sender": new.sender, "by": new.by}
    payload = f'{_dumps(head | {"notice": notice})[:-1]},"value":{new.value}}}'
    number = tx.append(run, MESSAGE_ACCEPTED, payload, new.sender)
    row = (run.number, number, new.sender, new.target, new.direct, new.stage, new.mode, notice)
    tx.execute(INSERT_MESSAGE, row)
    return number


def _notice(tx: Transaction, run: OpenRun, lost: OpenMessage, why: str) -> OpenMessage | None:
    """Tell the run that sent a message what became of it; nobody, if that has ended or was told something itself."""
    sender = lost.sender
    if sender is None or lost.notice is not None or _ended(tx, run, sender) is not None:
        return None
    told = NewMessage(f"child-{sender}" if sender else "", sender, None, "steer", _dumps({"undeliverable": why}))
    return _waiting(_insert(tx, run, told, lost.number), told, lost.number)


def _settle(tx: Transaction, run: OpenRun, n: int, numbers: Sequence[int], state: ReceiptState) -> None:
    """Move the receipts of one recipient to a state that is final, and close what was for it alone.

    One that is final already stays as it is: a second stage that a pattern means has read the message as well.
    """
    made, moved = [], []
    for number in numbers:
        if tx.execute(INSERT_RECEIPT, (run.number, number, n, state, tx.now)).rowcount:
            made.append(number)
        elif tx.execute(MOVE_RECEIPT, (state, tx.now, run.number, number, n)).rowcount:
            moved.append(number)
    _count(tx, run, moved, state, "delivered")
    _count(tx, run, made, state, None)
    tx.executemany(CLOSE, [(run.number, number) for number in numbers])


def _count(tx: Transaction, run: OpenRun, numbers: Sequence[int], to: ReceiptState, of: ReceiptState | None) -> None:
    """Keep the counts of messages: a receipt each goes to a state, from another one or anew."""
    away = "" if of is None else f", {of} = {of} - 1"
    statement = f"UPDATE messages SET {to} = {to} + 1{away} WHERE run = ? AND number = ?"
    tx.executemany(statement, [(run.number, number) for number in numbers])
    run.dirty = run.dirty or bool(numbers)


def _receipt(tx: Transaction, run: OpenRun, number: int, n: int) -> str | None:
    row = tx.execute(SELECT_RECEIPT, (run.number, number, n)).fetchone()
    return None if row is None else str(row[0])


def _ended(tx: Transaction, run: OpenRun, n: int) -> str | None:
    """Return the state in which a work item has ended; None if it has not, or does not exist yet."""
    row = tx.execute(SELECT_STATE, (run.base + n,)).fetchone()
    return str(row[0]) if row is not None and row[0] in SETTLED_WORK else None


def _waiting(number: int, new: NewMessage, notice: int | None = None) -> OpenMessage:
    return OpenMessage(number, new.sender, new.target, new.direct, new.stage, new.mode, notice)


def _named(n: int) -> str:
    return f"child {n}" if n else "the root run"


def _dumps(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))

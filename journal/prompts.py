"""Questions that a run asks a person, and their answers: each asked once and answered once.

Functions of an open transaction. A prompt's id is the seq of the event that asked it. Which are open is a range of the
run's keys: ``prompt\\0\\0`` and the seq, deleted with the answer, so that a look at them costs what is open.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from .control import set_status
from .errors import Refused
from .event_types import PROMPT_ANSWERED, PROMPT_ASKED, PROMPT_CLOSED
from .model import JournalEntry, Lease, Token
from .open_run import OpenRun
from .payload import key_digest, object_bytes
from .positions import OF_THE_RUN, SPAN
from .states import RunStatus
from .transaction import Transaction
from .work import check_admitted, check_current, find

OPEN_PREFIX: Final = b"prompt\0\0"
OPEN_FIRST: Final = OPEN_PREFIX + bytes(8)
OPEN_LAST: Final = OPEN_PREFIX + b"\xff" * 8

INSERT_KEY = "INSERT OR IGNORE INTO operations (run, work, key, seq) VALUES (?, ?, ?, ?)"
DELETE_KEY = "DELETE FROM operations WHERE run = ? AND work = ? AND key = ?"
SELECT_KEY = """
SELECT o.seq, e.at, e.payload FROM operations o JOIN events e ON e.position = ? + o.seq
WHERE o.run = ? AND o.work = ? AND o.key = ?
"""
#: Of a run's open prompts those whose work item has not ended. Also what the reader asks, with more columns.
FROM_OPEN = f"""
FROM operations o JOIN events e ON e.position = o.run * {SPAN} + o.seq JOIN work w ON w.id = o.run * {SPAN} + e.work
WHERE o.run = ? AND o.work = {OF_THE_RUN} AND o.key BETWEEN ? AND ? AND w.ended_at IS NULL
"""
SELECT_ANY_OPEN = f"SELECT 1 {FROM_OPEN} LIMIT 1"
SELECT_PROMPT = """
SELECT e.type, e.work, e.payload, w.state, w.ended_at FROM events e LEFT JOIN work w ON w.id = ? + e.work
WHERE e.position = ?
"""


@dataclass(frozen=True, slots=True)
class NewPrompt:
    """A question. ``key`` is the call's replay key; ``default`` JSON, None where there is none."""

    key: str
    kind: str
    message: str
    choices: tuple[str, ...]
    default: str | None
    stage: str | None
    timeout_ms: int | None


@dataclass(frozen=True, slots=True)
class Prompt:
    """A question as recorded; ``asked_at`` and ``until_at`` are the store's clock, in ms."""

    id: int
    n: int
    asked_at: int
    key: str
    kind: str
    message: str
    choices: tuple[str, ...]
    default: str | None
    stage: str | None
    until_at: int | None


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered first, and by whom. ``value`` is JSON, None where the time ran out without a default."""

    value: str | None
    by: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What became of asking: the prompt, and its answer if it has one already."""

    prompt: Prompt
    answer: Answer | None


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer in force; ``first`` says that it is the one just given."""

    answer: Answer
    first: bool


class NoSuchPrompt(Refused):
    """The run has no such question, or its child has ended."""


def ask(tx: Transaction, lease: Lease, token: Token, new: NewPrompt) -> Asked:
    """Record a question once; the same again is the same prompt, with its answer if that was given meanwhile.

    Raises StaleWorkLease, RootNotRunning, BadPayload.
    """
    run = tx.authority(lease)
    check_current(run, find(tx, run, token.n), token)
    check_admitted(run)
    row = tx.execute(SELECT_KEY, (run.base, run.number, token.n, asked_key(new.key))).fetchone()
    if row is None:
        prompt = _record(tx, run, token.n, new)
    else:
        prompt = prompt_of(row[0], token.n, row[1], row[2])
        given = _answer(tx, run, token.n, new.key)
        if given is not None:
            return Asked(prompt, given)
    # Also where it was asked before: its child may have ended and been taken up again.
    tx.execute(INSERT_KEY, (run.number, OF_THE_RUN, _open_key(prompt.id), prompt.id))
    run.dirty = True
    if run.status == "running":
        set_status(tx, lease, "awaiting_input")
    return Asked(prompt, None)


def answer(tx: Transaction, lease: Lease, id: int, value: str | None, by: str) -> Answered:
    """Record an answer (JSON; None: the time ran out), or return the one that was first. Raises NoSuchPrompt."""
    run = tx.authority(lease)
    n, payload, state, ended_at = _find(tx, run, id)
    key = json.loads(payload)["key"]
    given = _answer(tx, run, n, key)
    if given is not None:
        return Answered(given, False)
    if ended_at is not None:
        raise NoSuchPrompt(f"question {id} is over: its child is {state}")
    told = {"prompt": id, "value": None if value is None else json.loads(value), "by": by, "timed_out": value is None}
    text = json.dumps(told)
    object_bytes(text, "answer")
    seq = tx.append(run, PROMPT_ANSWERED, text, n)
    tx.execute(INSERT_KEY, (run.number, n, answered_key(key), seq))
    _close(tx, run, [id])
    _go_on(tx, lease, run)
    return Answered(Answer(value, by), True)


def given(tx: Transaction, lease: Lease, id: int) -> Answer | None:
    """Return the answer that a question has, None if it has none. Raises NoSuchPrompt."""
    run = tx.authority(lease)
    n, payload, _, _ = _find(tx, run, id)
    return _answer(tx, run, n, json.loads(payload)["key"])


def close(tx: Transaction, lease: Lease, ids: Iterable[int]) -> None:
    """Nobody waits for these any more: their child has ended."""
    run = tx.authority(lease)
    closed = list(ids)
    tx.append(run, PROMPT_CLOSED, json.dumps({"prompts": closed}), None)
    _close(tx, run, closed)
    _go_on(tx, lease, run)


def status_beside(tx: Transaction, lease: Lease, status: RunStatus) -> RunStatus:
    """Return the status of a run that is to be ``running``: ``awaiting_input`` while it asks something."""
    return "awaiting_input" if status == "running" and _any_open(tx, tx.authority(lease)) else status


def prompt_of(id: int, n: int, at: int, payload: str) -> Prompt:
    """Return a recorded question."""
    told: dict[str, Any] = json.loads(payload)
    default = None if "default" not in told else json.dumps(told["default"])
    return Prompt(
        id, n, at, told["key"], told["kind"], told["message"], tuple(told["choices"]), default, told["stage"],
        told["until_at"],
    )  # fmt: skip


def prompt_of_entry(entry: JournalEntry) -> Prompt:
    """Return the question that an event asked."""
    return prompt_of(entry.seq, entry.event.work or 0, entry.at, entry.event.payload)


def _record(tx: Transaction, run: OpenRun, n: int, new: NewPrompt) -> Prompt:
    until_at = None if new.timeout_ms is None else tx.now + new.timeout_ms
    told: dict[str, Any] = {
        "key": new.key,
        "kind": new.kind,
        "message": new.message,
        "choices": list(new.choices),
        "stage": new.stage,
        "until_at": until_at,
    }
    if new.default is not None:
        told["default"] = json.loads(new.default)
    payload = json.dumps(told)
    object_bytes(payload, "question")
    seq = tx.append(run, PROMPT_ASKED, payload, n)
    tx.execute(INSERT_KEY, (run.number, n, asked_key(new.key), seq))
    return prompt_of(seq, n, tx.now, payload)


def _find(tx: Transaction, run: OpenRun, id: int) -> tuple[int, str, str, int | None]:
    row = tx.execute(SELECT_PROMPT, (run.base, run.base + id)).fetchone() if 0 < id < SPAN else None
    if row is None or row[0] != PROMPT_ASKED:
        raise NoSuchPrompt(f"there is no question {id}")
    _, n, payload, state, ended_at = row
    return n, payload, state, ended_at


def _answer(tx: Transaction, run: OpenRun, n: int, key: str) -> Answer | None:
    row = tx.execute(SELECT_KEY, (run.base, run.number, n, answered_key(key))).fetchone()
    if row is None:
        return None
    told = json.loads(row[2])
    return Answer(None if told["timed_out"] else json.dumps(told["value"]), told["by"])


def _close(tx: Transaction, run: OpenRun, ids: Iterable[int]) -> None:
    for id in ids:
        tx.execute(DELETE_KEY, (run.number, OF_THE_RUN, _open_key(id)))
    run.dirty = True


def _go_on(tx: Transaction, lease: Lease, run: OpenRun) -> None:
    if run.status == "awaiting_input" and not _any_open(tx, run):
        set_status(tx, lease, "running")


def _any_open(tx: Transaction, run: OpenRun) -> bool:
    return tx.execute(SELECT_ANY_OPEN, (run.number, OPEN_FIRST, OPEN_LAST)).fetchone() is not None


def asked_key(key: str) -> bytes:
    """Return the key, of the work item that asks, which leads to the question."""
    return key_digest(json.dumps(["Prompt", key]))


def answered_key(key: str) -> bytes:
    """Return the key, of the work item that asks, which leads to the first answer."""
    return key_digest(json.dumps(["PromptAnswer", key]))


def _open_key(id: int) -> bytes:
    return OPEN_PREFIX + id.to_bytes(8, "big")

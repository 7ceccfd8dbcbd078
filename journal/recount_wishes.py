"""What was asked of a run and what it asks itself, as rows keep it, against the events that brought it about.

Control, status, holds, settings (sizes, limits, the budget) and questions: each is told again from its events.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterator
from typing import Any, Final

from .control import UNTOUCHED, setting_key
from .driver import Connection
from .event_types import (
    CONTROL_CHANGED,
    HOLD_CHANGED,
    PROMPT_ANSWERED,
    PROMPT_ASKED,
    PROMPT_CLOSED,
    RUN_ENDED,
    SETTING_CHANGED,
    STATUS_CHANGED,
    WORK_RETRIED,
)
from .finding import Findings, examples
from .positions import OF_THE_RUN, SPAN, base
from .prompts import OPEN_FIRST, OPEN_LAST, answered_key, asked_key

SELECT_TOLD: Final = """
SELECT position - ?1, type, work, payload FROM events
WHERE position > ?1 AND position < ?2 AND type IN (SELECT value FROM json_each(?3)) AND json_valid(payload)
ORDER BY position
"""
SELECT_KEY: Final = "SELECT seq FROM operations WHERE run = ? AND work = ? AND key = ?"
SELECT_OPEN: Final = "SELECT seq FROM operations WHERE run = ? AND work = ? AND key BETWEEN ? AND ?"


def recount_wishes(connection: Connection, number: int, run_id: str, types: Container[str], findings: Findings) -> None:
    """Compare the rows with what is told, inside an open transaction; ``types`` are those of the run's events."""
    _check_control(connection, number, run_id, findings)
    _check_status(connection, number, run_id, findings)
    _check_holds(connection, number, run_id, findings)
    if SETTING_CHANGED in types:
        _check_settings(connection, number, run_id, findings)
    if PROMPT_ASKED in types:
        _check_questions(connection, number, run_id, findings)


def _told(connection: Connection, number: int, *types: str) -> Iterator[tuple[int, str, int | None, dict[str, Any]]]:
    """Yield seq, type, n and payload of the run's events of some types; one that is no JSON is found by content.py."""
    start = base(number)
    for seq, type_, n, payload in connection.execute(SELECT_TOLD, (start, start + SPAN, json.dumps(types))).fetchall():
        try:
            value = json.loads(payload)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield seq, type_, n, value


def _listed(value: object) -> list[Any]:
    """Return a list of the payload without what could not be in it: nobody vouches for these values."""
    return [one for one in value if isinstance(one, (str, int))] if isinstance(value, list) else []


def _check_control(connection: Connection, number: int, run_id: str, findings: Findings) -> None:
    kept = connection.execute("SELECT state, revision FROM control WHERE run = ?", (number,)).fetchone() or UNTOUCHED
    told: tuple[object, object] = UNTOUCHED
    for _, _, _, value in _told(connection, number, CONTROL_CHANGED):
        told = value.get("state"), value.get("revision")
    if kept != told:
        what = f"control is kept as {kept[0]}, revision {kept[1]}; last told was {told[0]}, revision {told[1]}"
        findings.add("count", what, run_id)


def _check_status(connection: Connection, number: int, run_id: str, findings: Findings) -> None:
    kept = connection.execute("SELECT status FROM runs WHERE number = ?", (number,)).fetchone()[0]
    told: object = "pending"
    ended = False
    for _, type_, _, value in _told(connection, number, STATUS_CHANGED, RUN_ENDED, WORK_RETRIED):
        if type_ != WORK_RETRIED:
            told = value.get("status")
        elif ended:  # failed work of a run that had ended is taken up again
            told = "pending"
        ended = type_ == RUN_ENDED
    if kept != told:
        findings.add("count", f"its status is kept as {kept}; last told was {told}", run_id)


def _check_holds(connection: Connection, number: int, run_id: str, findings: Findings) -> None:
    held: dict[tuple[str, str], bool] = {}
    stopped: dict[tuple[str, str], bool] = {}
    unlisted: set[str] = set()  # scopes of which one event did not list all names
    for _, _, _, value in _told(connection, number, HOLD_CHANGED):
        scope, names = str(value.get("scope")), _listed(value.get("names"))
        is_held = bool(value.get("held"))
        held |= {(scope, name): is_held for name in names}
        if value.get("cut") or not is_held:
            stopped |= {(scope, name): is_held for name in names}
        if value.get("count") != len(names):
            unlisted.add(scope)
    for table, verb, told in (("holds", "held", held), ("cuts", "stopped", stopped)):
        kept = {tuple(row) for row in connection.execute(f"SELECT scope, name FROM {table} WHERE run = ?", (number,))}
        # What was not listed may have been let go, or held, since.
        lost = [f"{s} {name}" for (s, name), on in told.items() if on and (s, name) not in kept and s not in unlisted]
        foreign = [f"{s} {name}" for s, name in kept if not told.get((s, name), s in unlisted)]
        for what, found in ((f"{verb}, and no row says so", lost), (f"kept as {verb}, and nobody {verb} it", foreign)):
            if found:
                findings.add("count", f"{what}: {examples(sorted(found))}", run_id)


def _check_settings(connection: Connection, number: int, run_id: str, findings: Findings) -> None:
    newest = {str(value.get("name")): seq for seq, _, _, value in _told(connection, number, SETTING_CHANGED)}
    wrong = [name for name, seq in newest.items() if _key(connection, number, OF_THE_RUN, setting_key(name)) != seq]
    if wrong:
        findings.add("order", f"settings that do not lead to their newest value: {examples(sorted(wrong))}", run_id)


def _check_questions(connection: Connection, number: int, run_id: str, findings: Findings) -> None:
    asked: dict[int, tuple[int, str]] = {}
    answers: dict[int, int] = {}
    closed: set[int] = set()
    for seq, type_, n, value in _told(connection, number, PROMPT_ASKED, PROMPT_ANSWERED, PROMPT_CLOSED):
        if type_ == PROMPT_ASKED:
            asked[seq] = (n or 0, str(value.get("key")))
        elif type_ == PROMPT_ANSWERED:
            answers.update(dict.fromkeys(_listed([value.get("prompt")]), seq))
        else:
            closed.update(_listed(value.get("prompts")))
    rows = connection.execute(SELECT_OPEN, (number, OF_THE_RUN, OPEN_FIRST, OPEN_LAST)).fetchall()
    open_ = {seq for (seq,) in rows}
    keyless = [id for id, (n, key) in asked.items() if _key(connection, number, n, asked_key(key)) != id]
    unanswered = [
        id for id, (n, key) in asked.items() if _key(connection, number, n, answered_key(key)) != answers.get(id)
    ]
    for what, found in (
        ("questions without their key", keyless),
        ("questions that do not lead to their answer", unanswered),
        ("questions kept as open that were answered, or never asked", [*open_ & answers.keys(), *open_ - asked.keys()]),
        (
            "questions that nobody answered and that are not kept as open",
            asked.keys() - open_ - answers.keys() - closed,
        ),
    ):
        if found:
            findings.add("order", f"{what}: {examples(sorted(found))}", run_id)


def _key(connection: Connection, number: int, n: int, key: bytes) -> int | None:
    row = connection.execute(SELECT_KEY, (number, n, key)).fetchone()
    return None if row is None else int(row[0])

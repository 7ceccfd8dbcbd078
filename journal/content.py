"""Whether recorded values are what was recorded: JSON, and the digests that keys keep of their values.

SQLite's own check looks at the structure of pages, never at what a cell holds: a flipped byte in a result is found here
or nowhere.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from .driver import Connection
from .event_types import CHECKPOINT_RECORDED, CHILD_ENQUEUED, WORK_FAILED
from .finding import Findings
from .payload import digest
from .positions import SPAN, base
from .settling import COMPLETED_KEY

#: Rows of one statement: they are digested while its snapshot is held.
PAGE: Final = 500
#: A checkpoint's digest takes in its stage's name, which its event need not tell: that many names are tried.
STAGES_TRIED: Final = 200

SELECT_OPERATIONS: Final = """
SELECT o.work, o.key, o.seq, o.request, e.type, CAST(e.payload AS BLOB), CAST(w.workflow AS BLOB)
FROM operations o LEFT JOIN events e ON e.position = ? + o.seq LEFT JOIN work w ON w.id = ? + o.child
WHERE o.run = ? AND (o.work, o.key) > (?, ?) ORDER BY o.work, o.key LIMIT ?
"""
SELECT_RESULTS: Final = """
SELECT r.id, CAST(r.value AS BLOB), o.request FROM results r
LEFT JOIN operations o ON o.run = ? AND o.work = r.id - ? AND o.key = ?
WHERE r.id > ? AND r.id < ? ORDER BY r.id LIMIT ?
"""
SELECT_STAGES: Final = "SELECT CAST(name AS BLOB) FROM stages WHERE run = ? ORDER BY first_seq LIMIT ?"
SELECT_KEPT: Final = """
SELECT CAST(s.name AS BLOB), s.done + s.failed FROM stages s JOIN runs r ON r.number = s.run
WHERE s.run = ? AND r.changed = ?
"""
#: Events of the run itself have no digest: of them, that they are JSON and UTF-8 is all that can be told.
SELECT_EVENTS: Final = """
SELECT position, json_valid(payload), CASE WHEN work IS NULL THEN CAST(payload AS BLOB) END
FROM events WHERE position > ? AND position < ? ORDER BY position LIMIT ?
"""


def check_content(connection: Connection, number: int, findings: Findings) -> None:
    """Compare a run's inputs, checkpoints, failures and results with their digests, page by page."""
    row = connection.execute(
        "SELECT run_id, changed, json_valid(header), result IS NULL OR json_valid(result) FROM runs WHERE number = ?",
        (number,),
    ).fetchone()
    if row is None:
        return
    run_id, changed, header, result = row
    for what, valid in (("header", header), ("result", result)):
        if not valid:
            findings.add("content", f"its {what} is not JSON", run_id)
    _check_events(connection, number, run_id, findings)
    counted = _check_operations(connection, number, run_id, findings)
    if counted is not None:
        _check_stages(connection, number, run_id, changed, counted, findings)
    _check_results(connection, number, run_id, findings)


def _check_events(connection: Connection, number: int, run_id: str, findings: Findings) -> None:
    after, count = base(number), PAGE
    while count == PAGE and not findings.full:
        count = 0
        for position, valid, payload in connection.execute(SELECT_EVENTS, (after, base(number) + SPAN, PAGE)):
            after, count = position, count + 1
            if not valid or (payload is not None and not _is_text(payload)):
                findings.add("content", f"event {position % SPAN} is not JSON", run_id)


def _check_operations(connection: Connection, number: int, run_id: str, findings: Findings) -> Counter[bytes] | None:
    """Compare events with their keys' digests; return each stage's number of checkpoints, None if it is not known."""
    start = base(number)
    names = _stage_names(connection, number)
    counted: Counter[bytes] = Counter()
    unknown = len(names) > STAGES_TRIED
    after: tuple[int, bytes] = (-2, b"")
    count = PAGE
    while count == PAGE and not findings.full:
        count = 0
        for row in connection.execute(SELECT_OPERATIONS, (start, start, number, *after, PAGE)):
            after, count = (row[0], row[1]), count + 1
            _, _, seq, request, type_, payload, workflow = row
            if request is None or payload is None:
                continue
            if type_ == CHECKPOINT_RECORDED:
                name = _stage_of(payload, request, names)
                if name is None:  # a stage that is new since the names were read
                    names = _stage_names(connection, number)
                    name = _stage_of(payload, request, names)
                wrong = name is None and len(names) <= STAGES_TRIED
                unknown |= name is None
                counted[name or b""] += 1
            else:
                wrong = not _is_as_recorded(type_, payload, request, workflow)
            if wrong:
                findings.add("content", f"{type_} (event {seq}) is not what was recorded", run_id)
    return None if unknown else counted


def _stage_names(connection: Connection, number: int) -> list[bytes]:
    # A checkpoint without a stage only fixes what was asked for: it has the empty name.
    rows = connection.execute(SELECT_STAGES, (number, STAGES_TRIED + 1))
    return [b"", *(bytes(name) for (name,) in rows)]


def _stage_of(payload: bytes, request: bytes, names: list[bytes]) -> bytes | None:
    """Return the stage whose name and this payload have the digest, None if none of them has."""
    for index, name in enumerate(names):
        if digest(name, payload) == request:
            if index:  # neighbours are mostly of one stage: it is tried first next time
                names.insert(0, names.pop(index))
            return name
    return None


def _is_as_recorded(type_: str, payload: bytes, request: bytes, workflow: bytes | None) -> bool:
    """Tell whether an event's payload has the digest that its key keeps; True for events whose keys keep none."""
    if type_ == CHILD_ENQUEUED:
        return workflow is None or digest(workflow, payload) == request
    return type_ != WORK_FAILED or digest(payload) == request


def _check_stages(
    connection: Connection, number: int, run_id: str, changed: int, counted: Counter[bytes], findings: Findings
) -> None:
    """Compare the kept counters of stages with what was counted, unless the run went on meanwhile."""
    rows = connection.execute(SELECT_KEPT, (number, changed)).fetchall()
    for name, kept in rows:
        if counted[bytes(name)] != kept:
            told = bytes(name).decode("utf-8", "replace")
            what = f"stage {told!r} is kept as ended {kept} times, it is recorded {counted[bytes(name)]} times"
            findings.add("count", what, run_id)


def _check_results(connection: Connection, number: int, run_id: str, findings: Findings) -> None:
    start = base(number)
    after, count = start - 1, PAGE
    while count == PAGE and not findings.full:
        count = 0
        values = (number, start, COMPLETED_KEY, after, start + SPAN, PAGE)
        for id_, value, request in connection.execute(SELECT_RESULTS, values):
            after, count = id_, count + 1
            if request is None or digest(value) != request:
                findings.add("content", f"the result of work item {id_ - start} is not what was recorded", run_id)


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True

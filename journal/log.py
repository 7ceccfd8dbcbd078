"""A run's record and its events, as functions of an open transaction."""

from __future__ import annotations

from collections.abc import Sequence

from .deleting import NEXT_NUMBER
from .errors import BadPayload, IdentityConflict
from .model import AppendOutcome, Event, JournalEntry, Lease, NewRun
from .open_run import OpenRun
from .payload import key_digest, not_json, object_bytes
from .positions import OF_THE_RUN
from .transaction import Transaction

INSERT_RUN = f"""
INSERT INTO runs (number, run_id, name, cwd, header, created_at, changed) VALUES (({NEXT_NUMBER}), ?, ?, ?, ?, ?, ?)
"""
SELECT_KEY = """
SELECT o.seq, e.epoch, e.at, e.type, e.payload, e.work FROM operations o JOIN events e ON e.position = ? + o.seq
WHERE o.run = ? AND o.work = ? AND o.key = ?
"""
INSERT_KEY = "INSERT INTO operations (run, work, key, seq) VALUES (?, ?, ?, ?)"


def create_run(tx: Transaction, new: NewRun) -> int:
    """Record a new run and return its number; raises IdentityConflict if its id exists, BadPayload."""
    object_bytes(new.header, "run header")
    if tx.execute("SELECT 1 FROM runs WHERE run_id = ?", (new.run_id,)).fetchone() is not None:
        raise IdentityConflict(f"a run {new.run_id} is recorded already")
    values = (new.run_id, new.name, new.cwd, new.header, tx.now, tx.stamp())
    tx.execute(INSERT_RUN, values)
    return tx.find(new.run_id).number


def append(tx: Transaction, lease: Lease, event: Event, key: str | None = None) -> AppendOutcome:
    """Append one event; a key seen before writes nothing and gives the entry stored first."""
    return _append(tx, tx.authority(lease), event, key)


def append_many(
    tx: Transaction, lease: Lease, appends: Sequence[tuple[Event, str | None]]
) -> list[AppendOutcome | Exception]:
    """Append in order; a bad payload is that append's outcome, a stale lease raises for all."""
    run = tx.authority(lease)
    outcomes: list[AppendOutcome | Exception] = []
    for event, key in appends:
        try:
            outcomes.append(_append(tx, run, event, key))
        except BadPayload as error:  # raised before anything is written, so there is nothing to undo
            outcomes.append(error)
    return outcomes


def _append(tx: Transaction, run: OpenRun, event: Event, key: str | None) -> AppendOutcome:
    object_bytes(event.payload, event.type)
    if not tx.execute("SELECT json_valid(?)", (event.payload,)).fetchone()[0]:
        raise not_json(event.payload, event.type)
    identity = None if key is None else key_digest(key)
    if identity is not None:
        row = tx.execute(SELECT_KEY, (run.base, run.number, OF_THE_RUN, identity)).fetchone()
        if row is not None:
            seq, epoch, at, type_, payload, work = row
            return AppendOutcome("exists", JournalEntry(seq, epoch, at, Event(type_, payload, work)))
    seq = tx.append(run, event.type, event.payload, event.work)
    if identity is not None:
        tx.execute(INSERT_KEY, (run.number, OF_THE_RUN, identity, seq))
    return AppendOutcome("appended", JournalEntry(seq, run.epoch, tx.now, event))

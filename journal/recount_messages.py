"""A run's messages and their receipts against what its events tell of them."""

from __future__ import annotations

from collections.abc import Container
from typing import Final

from .driver import Connection
from .event_types import MESSAGE_ACCEPTED, MESSAGE_DELIVERED, MESSAGE_SETTLED
from .finding import EXAMPLES, Findings, examples
from .message_model import RECEIPT_STATES
from .positions import SPAN, base

#: What must be empty: (what its rows mean, the statement that gives numbers of messages). ?1 is the run's base, ?2 its
#: end, ?3 its number. Payloads that are no JSON are content.py's.
MUST_BE_EMPTY: Final = (
    (
        "messages of which nothing was said, or something else",
        f"""SELECT m.number FROM messages m LEFT JOIN events e ON e.position = ?1 + m.number
        WHERE m.run = ?3 AND (e.position IS NULL OR e.type <> '{MESSAGE_ACCEPTED}' OR e.work IS NOT m.sender
        OR json_valid(e.payload) AND (e.payload ->> '$.target', e.payload ->> '$.stage', e.payload ->> '$.mode',
        e.payload ->> '$.notice') IS NOT (m.target, m.stage, m.mode, m.notice))""",
    ),
    (
        "messages that were accepted and are not there",
        f"""SELECT e.position - ?1 FROM events e WHERE e.position > ?1 AND e.position < ?2
        AND e.type = '{MESSAGE_ACCEPTED}'
        AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.run = ?3 AND m.number = e.position - ?1)""",
    ),
    (
        "messages whose kept counts are not those of their receipts",
        f"""SELECT m.number FROM messages m WHERE m.run = ?3
        AND ({", ".join(f"m.{state}" for state in RECEIPT_STATES)}) IS NOT ({
            ", ".join(
                "(SELECT count(*) FROM receipts r WHERE r.run = m.run AND r.message = m.number "
                f"AND r.state = '{state}')"
                for state in RECEIPT_STATES
            )
        })""",
    ),
    (
        "receipts of messages that are not there",
        """SELECT r.message FROM receipts r WHERE r.run = ?3
        AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.run = r.run AND m.number = r.message)""",
    ),
    (
        "receipts in a state that there is not",
        f"""SELECT r.message FROM receipts r WHERE r.run = ?3
        AND r.state NOT IN ({", ".join(f"'{state}'" for state in RECEIPT_STATES)})""",
    ),
    (
        "messages delivered to work items that are not there",
        """SELECT r.message FROM receipts r WHERE r.run = ?3 AND r.state <> 'undeliverable'
        AND NOT EXISTS (SELECT 1 FROM work w WHERE w.id = ?1 + r.work)""",
    ),
    (
        "messages to one recipient that are open and settled, or neither",
        """SELECT m.number FROM messages m LEFT JOIN receipts r
        ON r.run = m.run AND r.message = m.number AND r.work = m.direct
        WHERE m.run = ?3 AND m.direct IS NOT NULL AND m.open <> (coalesce(r.state, 'delivered') = 'delivered')""",
    ),
)
#: (word in the payload, event, what a receipt may be by now): what was told of a recipient, and has no such receipt.
TOLD: Final = (
    ("delivered", MESSAGE_DELIVERED, RECEIPT_STATES),
    ("taken", MESSAGE_SETTLED, ("taken",)),
    ("undeliverable", MESSAGE_SETTLED, ("undeliverable",)),
)
COUNT_UNDELIVERABLE: Final = f"""
SELECT (SELECT count(*) FROM receipts WHERE run = ?3 AND state = 'undeliverable'),
  (SELECT coalesce(sum(CASE json_type(payload, '$.undeliverable') WHEN 'array'
    THEN json_array_length(payload, '$.undeliverable') ELSE payload ->> '$.undeliverable' END), 0)
    FROM events WHERE position > ?1 AND position < ?2 AND type = '{MESSAGE_SETTLED}' AND json_valid(payload))
"""


def recount_messages(
    connection: Connection, number: int, run_id: str, types: Container[str], findings: Findings
) -> None:
    """Compare the rows with what is told, inside an open transaction; ``types`` are those of the run's events."""
    there = connection.execute(
        "SELECT 1 FROM messages WHERE run = ?1 UNION SELECT 1 FROM receipts WHERE run = ?1", (number,)
    )
    if there.fetchone() is None and MESSAGE_ACCEPTED not in types:
        return
    where = (base(number), base(number) + SPAN, number)
    statements = [
        *MUST_BE_EMPTY,
        *(
            (f"messages told as {word}, and no receipt says so", _untrue(word, event, states))
            for word, event, states in TOLD
        ),
    ]
    for what, statement in statements:
        rows = connection.execute(f"{statement} LIMIT {EXAMPLES + 1}", where).fetchall()
        if rows:
            findings.add("count", f"{what}: {examples([one for (one,) in rows])}", run_id)
    kept, told = connection.execute(COUNT_UNDELIVERABLE, where).fetchone()
    if kept != told:
        findings.add("count", f"{kept} receipts say undeliverable, {told} are told", run_id)


def _untrue(word: str, event: str, states: tuple[str, ...]) -> str:
    """Return the statement for what an event tells of a recipient that its receipt does not say."""
    # Deliveries name message and recipient; what is settled is of the event's own work item.
    message, work, told_of = (
        ("j.value ->> 0", "j.value ->> 1", "NULL") if event == MESSAGE_DELIVERED else ("j.value", "e.work", "NOT NULL")
    )
    return f"""SELECT {message} FROM events e,
    json_each(CASE WHEN e.type = '{event}' AND json_valid(e.payload) THEN e.payload ELSE '{{}}' END, '$.{word}') j
    WHERE e.position > ?1 AND e.position < ?2 AND e.type = '{event}' AND e.work IS {told_of}
    AND NOT EXISTS (SELECT 1 FROM receipts r WHERE r.run = ?3 AND r.message = {message} AND r.work = {work}
      AND r.state IN ({", ".join(f"'{state}'" for state in states)}))"""

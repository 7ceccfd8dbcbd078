"""Reading messages: what waits, what was said, and lists of bounded size with totals over everything."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from .message_model import MessageRow, MessageTotals, OpenMessage, ReceiptRow, ReceiptState
from .messages import OPEN_COLUMNS
from .positions import SPAN, base
from .reading import Reading

#: Messages and states of one statement where everything is read.
PAGE: Final = 2_000
#: Recipients of a message that a list names: what needs somebody first, then the newest.
SHOWN_RECEIPTS: Final = 5
_SHOWN_FIRST: Final[tuple[ReceiptState, ...]] = ("undeliverable", "delivered", "taken")

SELECT_PAGE: Final = """
SELECT m.number, e.at, m.sender, json_extract(e.payload, '$.by'), m.target, m.direct, m.stage, m.mode, m.notice,
  m.open, m.delivered, m.taken, m.undeliverable, e.payload
FROM messages m JOIN events e ON e.position = ? + m.number
WHERE m.run = ? AND m.number < ? ORDER BY m.number DESC LIMIT ?
"""
SELECT_TOTALS: Final = """
SELECT count(*), sum(open), sum(delivered), sum(taken), sum(undeliverable) FROM messages WHERE run = ?
"""
#: By message and state, in the order of the index: 200,000 rows of three numbers each would take three times as long.
SELECT_RECEIPTS: Final = """
SELECT m.number, r.state, group_concat(r.work) FROM messages m
CROSS JOIN receipts r ON r.run = m.run AND r.message = m.number
WHERE m.run = ?1 AND m.open = 1 AND m.number >= ?2 AND (m.number, r.state) > (?2, ?3)
GROUP BY m.number, r.state ORDER BY m.number, r.state LIMIT ?4
"""
SELECT_BACK: Final = """
SELECT m.direct, m.number FROM messages m JOIN work w ON w.id = ? + m.direct
WHERE m.run = ? AND m.open = 1 AND m.direct IS NOT NULL AND w.ended_at IS NOT NULL
"""


class MessageReader:
    """The messages of a journal's runs; ``run`` is a run's number in the file."""

    def __init__(self, reading: Reading) -> None:
        self._rows, self._row = reading.rows, reading.row

    async def waiting(self, run: int) -> list[OpenMessage]:
        """Return every open message, oldest first: a coordinator needs them all, there are 20,000 at most."""
        statement = f"SELECT {OPEN_COLUMNS} FROM messages WHERE run = ? AND open = 1 ORDER BY number"
        return [OpenMessage(*row) for row in await self._rows(statement, (run,))]

    async def receipts(self, run: int) -> list[tuple[int, ReceiptState, list[int]]]:
        """Return (message, state, the recipients' n) of open messages; whole, in pages."""
        found: list[tuple[int, ReceiptState, list[int]]] = []
        after = (0, "")
        while True:
            rows = await self._rows(SELECT_RECEIPTS, (run, *after, PAGE))
            found += [(message, state, list(map(int, works.split(",")))) for message, state, works in rows]
            if len(rows) < PAGE:
                return found
            after = (rows[-1][0], rows[-1][1])

    async def to_give_back(self, run: int) -> dict[int, list[int]]:
        """Return the open messages, by recipient, whose only recipient has ended."""
        found: dict[int, list[int]] = {}
        for n, number in await self._rows(SELECT_BACK, (base(run), run)):
            found.setdefault(n, []).append(number)
        return found

    async def payloads(self, run: int, numbers: Sequence[int]) -> dict[int, tuple[int, str]]:
        """Return when each message was sent, and its event's payload (JSON)."""
        rows = await self._rows(
            "SELECT e.position, e.at, e.payload FROM json_each(?) j JOIN events e ON e.position = ? + j.value",
            (json.dumps(list(numbers)), base(run)),
        )
        return {position % SPAN: (at, payload) for position, at, payload in rows}

    async def totals(self, run: int) -> MessageTotals:
        """Return the counts over all messages of a run."""
        row = await self._row(SELECT_TOTALS, (run,))
        return MessageTotals() if row is None or not row[0] else MessageTotals(*row)

    async def page(self, run: int, before: int, limit: int) -> list[MessageRow]:
        """Return messages with a number below ``before``, newest first."""
        rows = await self._rows(SELECT_PAGE, (base(run), run, before, limit))
        return [
            MessageRow(
                r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8], bool(r[9]), r[10], r[11], r[12], _value(r[13])
            )
            for r in rows
        ]

    async def shown_receipts(self, run: int, number: int) -> list[ReceiptRow]:
        """Return a few recipients of a message: those that could not be reached, those that have not read it, the
        others; the newest of each first."""
        found: list[ReceiptRow] = []
        for state in _SHOWN_FIRST:
            if len(found) < SHOWN_RECEIPTS:
                rows = await self._rows(
                    "SELECT work, state, at FROM receipts WHERE run = ? AND message = ? AND state = ? "
                    "ORDER BY at DESC, work LIMIT ?",
                    (run, number, state, SHOWN_RECEIPTS - len(found)),
                )
                found += [ReceiptRow(*row) for row in rows]
        return found


def _value(payload: str) -> str:
    return json.dumps(json.loads(payload).get("value"), ensure_ascii=False)

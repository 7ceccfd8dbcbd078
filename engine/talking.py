"""Messages as a person has them: sending one, and looking at what became of them."""

from __future__ import annotations

import asyncio
import json
import os
import time
from typing import TYPE_CHECKING

from .errors import CoordinatorGone, RunElsewhere, UserMistake
from .run_reader import coordinator_of
from .summary import run_view
from .views import Acknowledgement, MessagesView, MessageView, RecipientView
from .wishing import Wishing

# Late: every command of the command line has this class, and few have to do with messages.
if TYPE_CHECKING:
    from poolboard.journal.message_model import MessageMode, MessageRow, NewMessage
    from poolboard.journal.message_reader import MessageReader

    from .address import Address

#: Messages of one list, and characters of a value in it.
LISTED, SHOWN_CHARACTERS = 100, 2_000
#: How long a message is tried again while coordinators come and go, and the pause before each try.
PATIENCE_S, PAUSE_S = 10.0, 0.1


class Talking(Wishing):
    """One that asks, also by messages to what runs."""

    async def send(
        self, run_id: str, address: str, value: str, mode: MessageMode = "steer", by: str = "user"
    ) -> Acknowledgement:
        """Send a value (JSON text) to the run, to children or stages of it; once it is acknowledged it is durable.

        ``address`` is in the words of address.py. To a run that nobody works on it is left in the journal: whoever goes
        on delivers it. Raises CoordinatorGone, RunElsewhere, UserMistake.
        """
        from poolboard.journal.message_model import MESSAGE_MODES, NewMessage

        from .address import BadAddress, parse

        try:
            to = parse(address)
            json.loads(value)
        except BadAddress as problem:
            raise UserMistake(str(problem)) from None
        except (ValueError, RecursionError):
            raise UserMistake(f"the message is not JSON: {value[:60]!r}") from None
        if mode not in MESSAGE_MODES:
            raise UserMistake(f"the mode is one of {', '.join(MESSAGE_MODES)}, not {mode!r}")
        key = f'["Message","{os.urandom(16).hex()}"]'
        new = NewMessage(to.target, to.direct, to.stage, mode, value, None, by)
        until = time.monotonic() + PATIENCE_S
        while True:
            try:
                # A coordinator may come or go at any moment. The key is the same, so nothing is recorded twice.
                if coordinator_of(await self.row(run_id)).alive:
                    return await self._post(run_id, address, new, key)
                return await self._leave(run_id, to, new, key)
            except (CoordinatorGone, RunElsewhere):
                if time.monotonic() > until:
                    raise
            await asyncio.sleep(PAUSE_S)

    async def _post(self, run_id: str, address: str, new: NewMessage, key: str) -> Acknowledgement:
        from .wire_messages import PostMessage

        def message(req: int) -> PostMessage:
            return PostMessage(req=req, key=key, address=address, mode=new.mode, value=new.value, by=new.by or "user")

        return await self._wish(run_id, lambda client: client.wish("the message", message))

    async def _leave(self, run_id: str, to: Address, new: NewMessage, key: str) -> Acknowledgement:
        from .leaving import leave  # late: a screen that only looks opens no journal to write

        row = await self.row(run_id)
        if row.ended_at is not None:
            raise UserMistake(f"run {run_id[:8]}: undeliverable: it has ended: it is {row.status}")
        left = await leave(self._path, run_id, new, key)
        run = run_view(row, coordinator_alive=False)
        told = (
            f"message {left.number} to {to.shown}: recorded, and delivered once the run, which is {run.status}, goes on"
        )
        return Acknowledgement(run.control, run.status, told)

    async def messages(self, run_id: str, limit: int = LISTED, before: int | None = None) -> MessagesView:
        """Return a run's newest messages, or those with a number below ``before``. Bounded, whatever there is."""
        row = await self.row(run_id)
        journal = await self._opened()
        assert journal is not None
        reader = journal.messages
        totals = await reader.totals(row.number)
        rows = await reader.page(row.number, before or row.last_seq + 1, min(limit, LISTED)) if totals.messages else []
        return MessagesView(
            rows=tuple([await _view(reader, row.number, message) for message in rows]),
            total=totals.messages,
            open=totals.open,
            delivered=totals.delivered,
            taken=totals.taken,
            undeliverable=totals.undeliverable,
        )


async def _view(reader: MessageReader, run: int, row: MessageRow) -> MessageView:
    reached = row.delivered + row.taken + row.undeliverable
    recipients = await reader.shown_receipts(run, row.number) if reached else []
    value = row.value if len(row.value) <= SHOWN_CHARACTERS else row.value[: SHOWN_CHARACTERS - 1] + "…"
    return MessageView(
        number=row.number,
        sent_at=row.at,
        sender=row.sender,
        by=row.by,
        target=row.target or "root",
        stage=row.stage,
        mode=row.mode,
        open=row.open,
        delivered=row.delivered,
        taken=row.taken,
        undeliverable=row.undeliverable,
        recipients=tuple(RecipientView(one.n, one.state, one.at) for one in recipients),
        value=value,
        undeliverable_of=row.notice,
    )

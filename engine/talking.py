"""Messages as a person has them: sending one, and looking at what became of them."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from .errors import UserMistake
from .views import Acknowledgement, MessagesView, MessageView, RecipientView
from .wishing import Wishing

# Late: every command of the command line has this class, and few have to do with messages.
if TYPE_CHECKING:
    from poolboard.journal.message_model import MessageMode, MessageRow
    from poolboard.journal.message_reader import MessageReader

#: Messages of one list, and characters of a value in it.
LISTED, SHOWN_CHARACTERS = 100, 2_000


class Talking(Wishing):
    """One that asks, also by messages to what runs."""

    async def send(
        self, run_id: str, address: str, value: str, mode: MessageMode = "steer", by: str = "user"
    ) -> Acknowledgement:
        """Send a value (JSON text) to the run, to children or stages of it; once it is acknowledged it is durable.

        ``address`` is in the words of address.py. Raises CoordinatorGone, UserMistake.
        """
        from poolboard.journal.message_model import MESSAGE_MODES

        from .address import BadAddress, parse
        from .wire_messages import PostMessage

        try:
            parse(address)
            json.loads(value)
        except BadAddress as problem:
            raise UserMistake(str(problem)) from None
        except (ValueError, RecursionError):
            raise UserMistake(f"the message is not JSON: {value[:60]!r}") from None
        if mode not in MESSAGE_MODES:
            raise UserMistake(f"the mode is one of {', '.join(MESSAGE_MODES)}, not {mode!r}")
        key = f'["Message","{os.urandom(16).hex()}"]'

        def message(req: int) -> PostMessage:
            return PostMessage(req=req, key=key, address=address, mode=mode, value=value, by=by)

        return await self._wish(run_id, lambda client: client.wish("the message", message))

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

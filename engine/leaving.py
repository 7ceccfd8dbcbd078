"""Leaves a message in the journal for a run that nobody works on: whoever goes on with the run delivers it."""

from __future__ import annotations

from pathlib import Path

from poolboard.journal import control, lease, messages
from poolboard.journal.errors import LeaseHeld, Refused
from poolboard.journal.message_model import NewMessage, OpenMessage
from poolboard.journal.sqlite import SqliteJournal
from poolboard.journal.transaction import Transaction

from .errors import RunElsewhere, UserMistake
from .identity import ProcessIdentity


async def leave(journal: Path, run_id: str, new: NewMessage, key: str) -> OpenMessage:
    """Record the message, once under ``key``. Raises RunElsewhere if somebody works on the run, UserMistake.

    The run is taken and given back within the one transaction that records it, so nobody ever sees it held by this
    process, and of a race with a coordinator that starts one comes first.
    """
    opened = await SqliteJournal.open(journal, create=False)
    try:
        state = await opened.lease_state(run_id)
        holder = ProcessIdentity.parse(state.holder) if state.holder else None
        if holder is not None and holder.is_alive():
            raise RunElsewhere(f"run {run_id} is run by process {holder.pid} (epoch {state.epoch})")
        own = str(ProcessIdentity.own())

        def member(tx: Transaction) -> OpenMessage:
            taken = lease.acquire(tx, run_id, own, state.epoch)
            # What lies between the last sign of life and now is not elapsed time, whatever is recorded from here on.
            control.close_gap(tx, taken, tx.now - (state.age_ms or 0))
            left = messages.leave(tx, taken, new, key)
            lease.release(tx, taken)
            return left

        try:
            return await opened.transact(member)
        except LeaseHeld as held:
            raise RunElsewhere(str(held)) from None
        except Refused as refused:
            what = "undeliverable: " if isinstance(refused, messages.Undeliverable) else ""
            raise UserMistake(f"run {run_id[:8]}: {what}{refused}") from None
    finally:
        await opened.close()

"""Messages from the command line: sending one, telling what became of them."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Final, cast

from poolboard import exit_codes, shapes, words
from poolboard.ages import wall_ms
from poolboard.console import say, say_all
from poolboard.engine.errors import UserMistake
from poolboard.inputs import as_text
from poolboard.session import opened, person
from poolboard.tui.units import clock_time, count, several

if TYPE_CHECKING:
    from poolboard.engine.views import MessagesView, MessageView
    from poolboard.journal.message_model import MessageMode

#: More than this is no message; standard input is read no further.
MOST_TEXT: Final = 64 * 1024


def send(journal: str | None, to: str, text: str, *, mode: str, as_json: bool) -> int:
    """Send a message, which is durable once this returns; return the exit status."""
    prefix, _, address = as_text(to, "the address").partition("/")
    if not prefix:
        raise UserMistake(f"{words.shown(to)!r} names no run: write RUN, or RUN/child-3")
    if text == "-":
        text = sys.stdin.read(MOST_TEXT + 1).rstrip("\n")
        if len(text) > MOST_TEXT:
            raise UserMistake(f"the message is longer than {MOST_TEXT:,} characters: write it to a file, send its path")
    text = as_text(text, "the message")
    chosen = cast("MessageMode", mode.replace("-", "_"))
    return asyncio.run(_send(journal, prefix, address, text if as_json else json.dumps(text), chosen, as_json))


def messages(journal: str | None, prefix: str | None, *, limit: int, before: int | None, as_json: bool) -> int:
    """Tell a run's messages; return the exit status."""
    return asyncio.run(_messages(journal, prefix, limit, before, as_json))


async def _send(journal: str | None, prefix: str, address: str, value: str, mode: MessageMode, as_json: bool) -> int:
    async with opened(journal) as monitor:
        run_id = await monitor.resolve(prefix)
        given = await monitor.send(run_id, address, value, mode, person())
    say(shapes.line(shapes.of_acknowledgement(run_id, given)) if as_json else words.shown(given.message))
    return exit_codes.COMPLETED


async def _messages(journal: str | None, prefix: str | None, limit: int, before: int | None, as_json: bool) -> int:
    async with opened(journal) as monitor:
        run_id = await monitor.resolve(prefix)
        view = await monitor.messages(run_id, limit, before)
    say_all([shapes.line(_shape(run_id, view))] if as_json else _lines(view))
    return exit_codes.COMPLETED


def _shape(run_id: str, view: MessagesView) -> shapes.Shape:
    totals = {
        "messages": view.total,
        "open": view.open,
        "delivered": view.delivered,
        "taken": view.taken,
        "undeliverable": view.undeliverable,
    }
    rows = [_row(row) for row in view.rows]
    return {"shape": shapes.VERSION, "run_id": run_id, "totals": totals, "omitted": view.omitted, "messages": rows}


def _row(row: MessageView) -> shapes.Shape:
    shape: shapes.Shape = asdict(row)
    shape["sent_at"] = shapes.instant(row.sent_at)
    try:
        shape["value"], shape["value_cut"] = json.loads(row.value), False
    except ValueError:  # a list has the beginning of long ones only
        shape["value_cut"] = True
    shape["recipients"] = [{"n": one.n, "state": one.state, "at": shapes.instant(one.at)} for one in row.recipients]
    return shape | {"omitted": row.omitted}


def _lines(view: MessagesView) -> Iterator[str]:
    if not view.total:
        yield "no messages yet; to send one: poolboard send RUN/child-1 TEXT"
        return
    now_ms = wall_ms()
    yield from words.table(
        ["message", "sent", "from", "to", "mode", "delivered", "taken", "lost", "value"],
        [
            [
                row.number,
                clock_time(row.sent_at, now_ms),
                sender(row),
                row.target + (f"/{row.stage}" if row.stage else ""),
                row.mode.replace("_", " "),
                count(row.delivered),
                count(row.taken),
                count(row.undeliverable),
                row.value,
            ]
            for row in view.rows
        ],
    )
    totals = f"{count(view.delivered)} delivered, {count(view.taken)} taken, {count(view.undeliverable)} undeliverable"
    yield f"showing {len(view.rows)} of {several(view.total, 'message')}: {view.open} wait; {totals}"


def sender(row: MessageView) -> str:
    """Return who sent a message: a run, a person, or the pool itself."""
    if row.sender is not None:
        return f"child {row.sender}" if row.sender else "the root"
    return row.by or ("the pool" if row.undeliverable_of is not None else "?")

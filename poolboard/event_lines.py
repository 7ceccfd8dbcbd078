"""``poolboard events``: what the journal recorded of a run, in order, to its end or as it comes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from poolboard import exit_codes, shapes
from poolboard.ages import wall_ms
from poolboard.console import say_all
from poolboard.engine.errors import UserMistake
from poolboard.session import opened
from poolboard.tui.text import clip, visible
from poolboard.tui.units import clock_time

if TYPE_CHECKING:
    from poolboard.engine.views import EventView

PAGE: Final = 500
POLL_S: Final = 1.0
#: What a line of text shows of a payload.
PAYLOAD_CELLS: Final = 160


def events(journal: str | None, run: str, types: Collection[str], *, follow: bool, as_json: bool) -> int:
    """Print a run's events, of some types if any are given; with ``follow`` until it comes to rest."""
    return asyncio.run(_events(journal, run, types, follow, as_json))


async def _events(journal: str | None, prefix: str, types: Collection[str], follow: bool, as_json: bool) -> int:
    async with opened(journal) as monitor:
        run_id = await monitor.resolve(prefix)
        seq, seen = 0, set[str]()
        while True:
            # Asked before the events are read, so that what was recorded last is read too.
            at_rest = not follow or exit_codes.of_status((await monitor.status(run_id)).run.status) is not None
            while page := await monitor.events(run_id, seq, PAGE):
                seq = page[-1].seq
                seen.update(event.type for event in page)
                wanted = [event for event in page if not types or event.type in types]
                say_all(shapes.line(_shape(run_id, event)) if as_json else _line(event) for event in wanted)
            if at_rest and not follow and (strange := sorted({*types} - seen - monitor.EVENT_TYPES)):
                raise UserMistake(f"no event is of type {strange[0]}; run {run_id[:8]} has {', '.join(sorted(seen))}")
            if at_rest:
                return exit_codes.COMPLETED
            await monitor.wait_for_change(POLL_S)


def _line(event: EventView) -> str:
    child = "run" if event.work is None else f"#{event.work}"
    payload = clip(event.payload, PAYLOAD_CELLS)
    return f"{event.seq:>7}  {clock_time(event.at, wall_ms())}  {visible(event.type):<18}  {child:<7}  {payload}"


def _shape(run_id: str, event: EventView) -> shapes.Shape:
    """Return an event; ``payload`` is null and ``cut`` true for one that is too long to be told."""
    try:
        payload, cut = json.loads(event.payload), False
    except ValueError:
        payload, cut = None, True
    return {
        "shape": shapes.VERSION,
        "run_id": run_id,
        "seq": event.seq,
        "at": shapes.instant(event.at),
        "type": event.type,
        "n": event.work,
        "epoch": event.epoch,
        "payload": payload,
        "cut": cut,
    }
